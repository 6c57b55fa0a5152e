"""The wheel: one top-level name, every file of ours and no other, and no conflict with other packages."""

import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from installed import FOLDERS, ROOT, THEIRS, Machine

pytestmark = pytest.mark.slow


def packed(wheel: Path) -> set[str]:
    """The files of a wheel, but for what it says of itself."""
    with zipfile.ZipFile(wheel) as file:
        return {name for name in file.namelist() if ".dist-info/" not in name}


def ours(root: Path) -> set[str]:
    """Every file of the folders that travel, by the place that it has in the wheel."""
    return {
        f"{place}/{path.relative_to(root / name).as_posix()}"
        for name, place in FOLDERS.items()
        for path in (root / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def top_level(files: Iterable[str]) -> set[str]:
    return {name.partition("/")[0] for name in files}


def test_the_wheel_has_one_top_level_name(machine: Machine) -> None:
    assert top_level(packed(machine.wheel)) == {"kfuzz"}


def test_the_wheel_holds_every_file_and_nothing_else(machine: Machine) -> None:
    assert packed(machine.wheel) == ours(ROOT)


def test_a_file_that_stays_behind_and_a_second_name_are_seen(tmp_path: Path) -> None:
    for name in ("fuzz/a.py", "fuzz/notes.txt", "kernels/b.cu", "oracle/__pycache__/c.pyc"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert ours(tmp_path) == {"kfuzz/a.py", "kfuzz/notes.txt", "kfuzz/kernels/b.cu"}
    assert top_level(["kfuzz/a.py", "fuzz/a.py", "alone.py"]) == {"kfuzz", "fuzz", "alone.py"}


def test_a_package_that_is_named_kernels_keeps_its_folder(machine: Machine) -> None:
    lying = {path.name for path in (machine.site / "kernels").iterdir()} - {"__pycache__"}
    assert lying == {"__init__.py"}
    assert (machine.site / "kernels" / "__init__.py").read_text() == THEIRS["kernels/__init__.py"]
    where = machine.run("python", "-c", "import kernels, kfuzz; print(kernels.OWNER, kfuzz.__file__)").stdout
    assert where == f"another project {machine.site / 'kfuzz' / '__init__.py'}\n"


def test_the_installed_project_is_the_one_that_runs(machine: Machine) -> None:
    code = "import kfuzz.oracle, kfuzz.claims.kernel as k; print(kfuzz.oracle.__file__, k.__file__, k.KERNELS)"
    assert all(Path(path).is_relative_to(machine.site) for path in machine.run("python", "-c", code).stdout.split())
    assert machine.kfuzz("--version").stdout.startswith("kfuzz")


def test_a_project_may_use_the_names_of_our_folders(machine: Machine, tmp_path: Path) -> None:
    """Its own `fuzz`, `oracle` and `kernels` are what it imports, and never what we do."""
    there = machine.at(tmp_path / "project")
    for name in ("fuzz/__init__.py", "oracle.py", "kernels/__init__.py"):
        (there.folder / name).parent.mkdir(exist_ok=True)
        (there.folder / name).write_text("OWNER = 'this project'\n")
    (there.folder / "kernels" / "mine.cu").write_text(there.kfuzz("show", "--template").stdout)
    (there.folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\nkfuzz_kernels = ["kernels/*.cu"]\n')
    (there.folder / "test_names.py").write_text(
        "import fuzz, kernels, oracle\n\n\n"
        "def test_names():\n"
        "    assert {fuzz.OWNER, kernels.OWNER, oracle.OWNER} == {'this project'}\n"
    )
    fuzzed = there.kfuzz("fuzz", "kernels/mine.cu", "--device", "cpu", "--max-cases", "4")
    assert (fuzzed.returncode, "nothing found: 4 trials" in fuzzed.stdout) == (0, True), fuzzed.stderr
    done = there.pytest("--kfuzz", "--kfuzz-cases", "2", "--kfuzz-device", "cpu")
    assert (done.returncode, "3 passed" in done.stdout) == (0, True), done.stdout + done.stderr
