"""A newcomer with the installed wheel and an empty folder: a bug is found, made small, fixed, and kept out."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LEAST_SETUPTOOLS = 77


@dataclass(frozen=True)
class Machine:
    """An environment with kfuzz installed from its wheel, and an empty folder to work in."""

    site: Path
    folder: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the environment in the folder."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
        environment = {**kept, "PYTHONPATH": str(self.site), "NO_COLOR": "1"}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=300
        )

    def kfuzz(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, str(self.site / "bin" / "kfuzz"), *arguments)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    if int(metadata.version("setuptools").split(".")[0]) < LEAST_SETUPTOOLS:
        pytest.skip(f"building a wheel offline needs setuptools {LEAST_SETUPTOOLS} or newer in this environment")
    base = tmp_path_factory.mktemp("machine")
    source, site, folder = base / "source", base / "site", base / "empty"
    folder.mkdir()
    for name in ("oracle", "fuzz", "kernels"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    for arguments in (
        ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(base), str(source)],
        ["install", "--no-deps", "--no-index", "--target", str(site), "--find-links", str(base), "kfuzz"],
    ):
        subprocess.run([*pip, *arguments], check=True, capture_output=True, text=True)
    shutil.rmtree(source)
    return Machine(site, folder)


def replaced(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_from_the_template_to_a_committed_case(machine: Machine) -> None:
    mine = machine.folder / "mine.cu"
    mine.write_text(machine.kfuzz("show", "--template").stdout)

    right = machine.kfuzz("fuzz", "mine.cu", "--device", "cpu", "--max-cases", "40")
    assert right.returncode == 0, right.stderr
    assert "nothing is broken: 40 trials" in right.stdout

    replaced(mine, "float max = -INFINITY;", "float max = 0.0f;")
    found = machine.kfuzz("fuzz", "mine.cu", "--device", "cpu", "--max-cases", "40", "--seed", "1")
    assert found.returncode == 1, found.stderr
    assert "BROKEN  mine: special, 0/0" in found.stdout

    minimize = next(line.split() for line in found.stdout.splitlines() if line.startswith("  minimize  "))
    assert minimize[1:3] == ["kfuzz", "minimize"]
    small = machine.kfuzz(*minimize[2:], "--device", "cpu")
    assert small.returncode == 0, small.stderr
    assert "softmax rows=1 cols=1; x: " in small.stdout
    case = next(line.split()[1] for line in small.stdout.splitlines() if line.startswith("  file "))
    script = next(line.split()[1] for line in small.stdout.splitlines() if line.startswith("  script "))

    shown = machine.run(sys.executable, script)
    assert (shown.returncode, "BROKEN  mine: special, 0/0" in shown.stdout) == (1, True), shown.stderr
    assert machine.kfuzz("replay", case, "--device", "cpu").stdout.startswith("broken ")
    failed = machine.run(sys.executable, "-m", "pytest", "-q", "--kfuzz-device", "cpu", case)
    assert (failed.returncode, "BROKEN  mine: special, 0/0" in failed.stdout) == (1, True), failed.stdout

    replaced(mine, "float max = 0.0f;", "float max = -INFINITY;")
    fixed = machine.kfuzz("replay", "--device", "cpu")
    assert fixed.returncode == 0, fixed.stdout
    assert {line.split()[0] for line in fixed.stdout.splitlines()[:-1]} == {"fixed"}
    passed = machine.run(sys.executable, "-m", "pytest", "-q", "--kfuzz-device", "cpu")
    assert (passed.returncode, "passed" in passed.stdout) == (0, True), passed.stdout
    assert (machine.folder / case).read_text().startswith('{\n "schema": "kfuzz-case/1",')


def test_the_installed_project_is_the_one_that_ran(machine: Machine) -> None:
    where = machine.run(
        sys.executable, "-c", "import kfuzz, kfuzz.oracle as o; print(kfuzz.__file__, o.__file__)"
    ).stdout.split()
    assert all(Path(path).is_relative_to(machine.site) for path in where)
    assert machine.kfuzz("--version").stdout.startswith("kfuzz")


def test_a_users_own_three_lines(machine: Machine) -> None:
    (machine.folder / "own.cu").write_text(machine.kfuzz("show", "--template").stdout)
    (machine.folder / "test_own.py").write_text(
        "from hypothesis import given\n"
        "from kfuzz import load\n"
        "from kfuzz.strategies import attempts\n\n"
        "OWN = load('own.cu')\n\n\n"
        "@given(attempts(OWN, 64))\n"
        "def test_own(attempt):\n"
        "    assert OWN.admits(OWN.axes_of(attempt.case.arrays))\n"
    )
    done = machine.run(sys.executable, "-m", "pytest", "-q", "test_own.py")
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout
