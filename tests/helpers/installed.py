"""Somebody else's machine: a fresh environment with kfuzz from its wheel, beside a package that is named `kernels`."""

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

from paths import ROOT

FOLDERS = {"fuzz": "kfuzz", "oracle": "kfuzz/oracle", "kernels": "kfuzz/kernels"}
"""Where the checkout's folders lie in the wheel."""
THEIRS = {
    "kernels/__init__.py": "OWNER = 'another project'\n",
    "kernels-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: kernels\nVersion: 1.0\n",
    "kernels-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "kernels-1.0.dist-info/RECORD": "kernels/__init__.py,,\n",
}
"""A package with the top-level name of Hugging Face's `kernels`, whose folder an earlier wheel of ours wrote into."""


@dataclass(frozen=True)
class Machine:
    """An environment with kfuzz installed from a wheel, and a folder to work in."""

    wheel: Path
    environment: Path
    folder: Path

    @property
    def site(self) -> Path:
        """Where the environment's packages lie."""
        return Path(sysconfig.get_path("purelib", "venv", {"base": str(self.environment)}))

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in the folder."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_", "PYTHON"))}
        program, *arguments = command
        return subprocess.run(
            [str(self.environment / "bin" / program), *arguments],
            cwd=self.folder,
            env={**kept, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    def kfuzz(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("kfuzz", *arguments)

    def pytest(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run as `python -m`, which puts the folder itself before everything that is installed."""
        return self.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)

    def at(self, folder: Path) -> "Machine":
        """The same machine in another folder, which is made."""
        folder.mkdir()
        return replace(self, folder=folder)


def machine(base: Path, folder: Path) -> Machine:
    """The machine below a base, with a folder to work in. The first of several processes sets it up for all of them."""
    base.mkdir(exist_ok=True)
    with (base / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (base / "ready").exists():
            set_up(base)
            (base / "ready").touch()
    (wheel,) = base.glob("kfuzz-*.whl")
    return Machine(wheel, base / "environment", folder)


def set_up(base: Path) -> None:
    """Build the wheel, and install it and theirs in a new environment."""
    environment = base / "environment"
    venv.create(environment, symlinks=True, clear=True)
    made = Machine(build(base), environment, base)
    with zipfile.ZipFile(base / "kernels-1.0-py3-none-any.whl", "w") as theirs:
        for name, text in THEIRS.items():
            theirs.writestr(name, text)
    # What kfuzz needs is taken from the environment of these tests: no network, and nothing is installed twice.
    (made.site / "needs.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip("--python", str(environment), "install", "--no-deps", "--no-index", theirs.filename or "", str(made.wheel))


def build(base: Path) -> Path:
    """The wheel of this checkout as it stands, with what running it has left in its folders."""
    source = base / "source"
    shutil.rmtree(source, ignore_errors=True)  # of a process that was interrupted
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name)
        (source / name / "__pycache__").mkdir(exist_ok=True)
        (source / name / "__pycache__" / "left.cpython-311.pyc").touch()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    before = set(source.rglob("*"))
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(base), str(source))
    assert set(source.rglob("*")) == before, "a checkout may be read-only"
    shutil.rmtree(source)
    (wheel,) = base.glob("kfuzz-*.whl")
    return wheel


def pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-cache-dir", *arguments]
    subprocess.run(command, check=True, capture_output=True, text=True)
