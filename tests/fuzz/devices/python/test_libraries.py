"""Python libraries: the description of each is complete, and a library that does not work here accuses no kernel."""

import os
import subprocess
import tomllib
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from forked import run_forked
from paths import ROOT

from kfuzz.claims.language.accuracy import usual_exp
from kfuzz.devices.python.libraries import array_libraries, array_library_of, language_of, libraries
from kfuzz.devices.python.library import Arithmetic, PythonLibrary
from kfuzz.oracle.accuracy.rounding import Denominator, Divide

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
PAGE = (ROOT / "docs" / "callables.md").read_text()
GONE = "AttributeError(\"module 'numpy' has no attribute 'row_stack'\")"
ROW_SUM = "def forward(x):\n    return x.astype(np.float64).sum(axis=1).astype(np.float32)\n"


def faults(library: PythonLibrary) -> list[str]:
    """What a library's description leaves open."""
    name, arithmetic = library.name, library.arithmetic
    found = [f"{name}: no extra {library.extra}"] if library.extra and library.extra not in EXTRAS else []
    found += [f"{name}: neither arrays nor a lender"] if bool(library.arrays) == bool(library.lender) else []
    found += [f"{name}: not on the page"] if f"\n| {name} |" not in PAGE else []
    words = (arithmetic.divide in get_args(Divide), arithmetic.denominator in get_args(Denominator))
    return found if all(words) and usual_exp(arithmetic).a0 >= 1 else [*found, f"{name}: unknown arithmetic"]


def test_every_library_describes_itself() -> None:
    assert [fault for library in libraries().values() for fault in faults(library)] == []
    for name in array_libraries():
        assert f'`"{name}"`' in PAGE, "the page names what [call] takes as `library`"


def test_a_description_that_leaves_something_open_is_seen() -> None:
    wrong = PythonLibrary("tiles", ("tiles",), 0, extra="tiles", arithmetic=Arithmetic(divide="roughly"))
    assert faults(wrong) == [
        "tiles: no extra tiles",
        "tiles: neither arrays nor a lender",
        "tiles: not on the page",
        "tiles: unknown arithmetic",
    ]


@pytest.mark.parametrize(
    ("packages", "arrays", "language"),
    [
        ((), "numpy", "numpy"),
        (("numpy", "torch", "triton"), "torch", "triton"),
        (("jax", "torch"), "torch", "torch"),
        (("cupyx", "numpy"), "cupy", "cupy"),
        (("numba.cuda", "numba", "numpy"), "numba", "numba"),
        (("numba", "numpy"), "numpy", "numba.njit"),
        (("numba", "torch"), "torch", "torch"),
    ],
)
def test_the_imports_of_a_file_say_whose_arrays_it_takes(packages: tuple[str, ...], arrays: str, language: str) -> None:
    assert (array_library_of(packages), language_of(packages)) == (arrays, language)


def fuzz_beside(package: Path, text: str, kernel: str) -> subprocess.CompletedProcess[str]:
    """Fuzz a kernel where a package of this text can be imported."""
    (package / package.name).mkdir(parents=True)
    (package / package.name / "__init__.py").write_text(text)
    reported = package / f"{package.name}-0.1.2.dist-info"
    reported.mkdir()
    (reported / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package.name}\nVersion: 0.1.2\n")
    file = package.parent / "mine.py"
    file.write_text(f'# /// kernel\n# op = "row_sum"\n# ///\nimport numpy as np\n{kernel}')
    words = ("fuzz", str(file), "--device", "cpu", "--max-cases", "8", "--jobs", "1")
    environment = {**os.environ, "PYTHONPATH": str(package)}
    return run_forked("kfuzz", *words, cwd=package.parent, environment=environment)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "kernel"),
    [
        ("numba", f"raise {GONE}\n", f"import numba\n{ROW_SUM}"),
        ("numba", f"def njit(f):\n    raise {GONE}\n", f"from numba import njit\n{ROW_SUM}"),
        ("jax", f"raise {GONE}\n", f"import jax\n{ROW_SUM}"),
    ],
)
def test_a_library_that_fails_in_this_environment_cannot_be_run(
    name: str, text: str, kernel: str, tmp_path: Path
) -> None:
    done = fuzz_beside(tmp_path / name, text, kernel)
    wanted = f"0.1.2 does not work with numpy {np.__version__}: AttributeError: module 'numpy' has no attribute"
    assert (done.returncode, wanted in done.stderr, "cannot run" in done.stdout) == (2, True, True), done
    assert "BROKEN" not in done.stdout


@pytest.mark.slow
def test_a_library_that_works_is_run_and_its_callable_is_judged(tmp_path: Path) -> None:
    numba = "def njit(f):\n    return f\n"
    assert fuzz_beside(tmp_path / "right" / "numba", numba, f"import numba\n{ROW_SUM}").returncode == 0
    wrong = ROW_SUM.replace("sum(axis=1)", "max(axis=1)")
    done = fuzz_beside(tmp_path / "wrong" / "numba", numba, f"import numba\n{wrong}")
    assert (done.returncode, "BROKEN" in done.stdout) == (1, True), done
