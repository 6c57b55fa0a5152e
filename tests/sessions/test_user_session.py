"""A newcomer with the installed wheel and an empty folder: a bug is found, minimized, fixed, and kept out."""

from pathlib import Path

import pytest
from installed import Machine

SHIFTED = "BROKEN  mine: special, 0/0"
pytestmark = pytest.mark.slow(3)


def replaced(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


@pytest.fixture
def here(machine: Machine, tmp_path: Path) -> Machine:
    return machine.at(tmp_path / "project")


@pytest.mark.soak
def test_from_the_template_to_a_committed_case(here: Machine) -> None:
    """Each run of the tests has the session of README.md (test_docs.py), and the installed `kfuzz fuzz` and the plugin
    (test_wheel.py); a script is run in test_repro.py, and test_cli_fuzz.py has `minimize` and `replay`.
    """
    mine = here.folder / "mine.cu"
    mine.write_text(here.kfuzz("show", "--template").stdout)

    right = here.kfuzz("fuzz", "mine.cu", "--device", "cpu", "--max-cases", "10")
    assert right.returncode == 0, right.stderr
    assert "nothing found: 10 trials" in right.stdout

    replaced(mine, "float max = -INFINITY;", "float max = 0.0f;")
    found = here.kfuzz("fuzz", "mine.cu", "--device", "cpu", "--max-cases", "40", "--seed", "1")
    assert found.returncode == 1, found.stderr
    assert SHIFTED in found.stdout
    assert "also      numeric, shift is not the maximum" in found.stdout

    kept = next(line.split()[1] for line in found.stdout.splitlines() if line.startswith("  file "))
    small = here.kfuzz("minimize", kept, "--device", "cpu")
    assert small.returncode == 0, small.stderr
    assert "softmax rows=1 cols=1; x: " in small.stdout
    case = next(line.split()[1] for line in small.stdout.splitlines() if line.startswith("  file "))
    script = next(line.split()[1] for line in small.stdout.splitlines() if line.startswith("  script "))

    shown = here.run("python", script)
    assert (shown.returncode, SHIFTED in shown.stdout) == (1, True), shown.stderr
    assert here.kfuzz("replay", case, "--device", "cpu").stdout.startswith("broken ")
    failed = here.pytest("--kfuzz-device", "cpu", case)
    assert (failed.returncode, SHIFTED in failed.stdout) == (1, True), failed.stdout

    replaced(mine, "float max = 0.0f;", "float max = -INFINITY;")
    fixed = here.kfuzz("replay", "--device", "cpu")
    assert fixed.returncode == 0, fixed.stdout
    assert {line.split()[0] for line in fixed.stdout.splitlines()[:-1]} == {"fixed"}
    passed = here.pytest("--kfuzz-device", "cpu")
    assert (passed.returncode, "passed" in passed.stdout) == (0, True), passed.stdout
    assert (here.folder / case).read_text().startswith('{\n "schema": "kfuzz-case/1",')


@pytest.mark.soak
def test_a_users_own_few_lines(here: Machine) -> None:
    (here.folder / "own.cu").write_text(here.kfuzz("show", "--template").stdout)
    (here.folder / "test_own.py").write_text(
        "from hypothesis import given, settings\n"
        "from kfuzz import load\n"
        "from kfuzz.testing import attempts, check\n\n"
        "OWN = load('own.cu')\n\n\n"
        "@settings(deadline=None, max_examples=10)\n"
        "@given(attempts(OWN, 64))\n"
        "def test_own(attempt):\n"
        "    check(OWN, attempt, 'cpu')\n"
    )
    done = here.pytest("test_own.py")
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout
