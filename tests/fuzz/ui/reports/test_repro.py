"""repro.py: one file that shows a finding wherever kfuzz is installed, and reports it by its exit code."""

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT

from kfuzz.cases.case import Case, Origin, Record, case_of
from kfuzz.cases.errors import CaseError
from kfuzz.cases.recipe import Band, Base, Edit, Recipe, bits_of
from kfuzz.claims.kernel import KERNELS, load
from kfuzz.common.installation import install_line
from kfuzz.ui.reports import repro
from kfuzz.ui.reports.failure import runs_text

pytestmark = pytest.mark.slow

LEADING = load(KERNELS / "broken" / "leading_neg_inf.cu")
CASE = case_of("softmax", {"x": np.array([[-np.inf, -0.0, 1e-40]], np.float32)})


def record(case: Case = CASE, bucket: str = "broken/leading_neg_inf: special, -inf minus -inf", **more: str) -> Record:
    said = {"kernel": LEADING.name, "bucket": bucket, "kind": "special", "message": "y is NaN", "device": "cpu", **more}
    return Record(case, Origin(**said, tune={"threads": 1}, runs=2))  # type: ignore[arg-type]  # texts


def run(text: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = folder / "repro.py"
    path.write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(path), *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=1800
    )


def test_it_prints_the_finding_and_ends_with_1(tmp_path: Path) -> None:
    done = run(repro.script(LEADING, record(), "repro.py"), tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "BROKEN  broken/leading_neg_inf: special, -inf minus -inf" in done.stdout
    assert "y is" not in done.stdout
    assert "x[0, 0] is nan" in done.stdout or "y[0, 0] is nan" in done.stdout
    assert "always (" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["repro.py"]


def test_it_says_how_kfuzz_was_installed_here(tmp_path: Path) -> None:
    """No index has a package of that name."""
    said = re.search(r"^    (python -m pip install (.+))$", repro.script(LEADING, record(), "repro.py"), re.MULTILINE)
    assert said is not None
    (place,) = shlex.split(said[2])
    assert (Path(place) / "pyproject.toml").is_file() or place.endswith(".whl")
    assert shlex.split(install_line("cluster"))[-1] == f"{place}[cluster]"


@pytest.mark.soak
def test_it_ends_with_0_once_the_kernel_in_it_is_right(tmp_path: Path) -> None:
    line = "const float new_max = fmaxf(max, value);"
    text = repro.script(LEADING, record(), "repro.py")
    assert text.count(line) == 1
    guarded = text.replace(line, f"{line} if (new_max == -INFINITY) continue;")
    done = run(guarded, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("kept: broken/leading_neg_inf")


def test_it_ends_with_2_where_it_cannot_be_run(tmp_path: Path) -> None:
    text = repro.script(LEADING, record(), "repro.py")
    done = run(text.replace("float max = -INFINITY", "float max = ;"), tmp_path)
    assert done.returncode == 2
    assert "error" in done.stderr
    assert "Traceback" not in done.stderr
    assert run(text, tmp_path, "tpu").returncode == 2


def value_of_script(text: str, name: str) -> object:
    """What a name is in a script, without running its last statement."""
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if not isinstance(node, ast.Expr) or "exit" not in ast.unparse(node)]
    names: dict[str, object] = {}
    exec(compile(tree, "repro.py", "exec"), names)  # noqa: S102  our own script
    return names[name]


def test_every_bit_survives() -> None:
    bits = np.array([[0x7F812345, 0xFFC00001, 0x80000000], [1, 0x7F7FFFFF, 0xFF800000]], np.uint32)
    text = repro.script(LEADING, record(case_of("softmax", {"x": bits.view(np.float32)})), "repro.py")
    found = value_of_script(text, "X")
    assert isinstance(found, np.ndarray)
    assert np.array_equal(found.view(np.uint32), bits)


def test_a_long_recipe_stays_a_recipe() -> None:
    recipe = Recipe(90, 90, (Band(Base("normal", 0, bits_of(1.0), 5), (Edit(-1, -1, bits_of(3.0)),)),), (0, 1))
    text = repro.script(LEADING, record(case_of("softmax", {"x": recipe})), "repro.py")
    assert value_of_script(text, "X") == recipe
    assert len(text) < 6000


def test_long_values_without_a_recipe_are_packed() -> None:
    x = np.random.default_rng(1).normal(size=(70, 70)).astype(np.float32)
    text = repro.script(LEADING, record(case_of("softmax", {"x": x})), "repro.py")
    found = value_of_script(text, "X")
    assert isinstance(found, np.ndarray)
    assert np.array_equal(found, x)


def test_what_is_too_long_for_a_file_is_refused() -> None:
    x = np.random.default_rng(1).normal(size=(1400, 1400)).astype(np.float32)
    with pytest.raises(CaseError, match="as a script; at most"):
        repro.script(LEADING, record(case_of("softmax", {"x": x})), "repro.py")


def test_a_case_without_a_past_reproduces_nothing() -> None:
    with pytest.raises(CaseError, match="nothing to reproduce"):
        repro.script(LEADING, Record(CASE), "repro.py")


@given(st.text())
def test_any_kernel_text_survives(source: str) -> None:
    assert ast.literal_eval(repro.literal(source)) == source


@given(st.text(), st.text())
def test_no_text_of_a_case_gets_out_of_the_docstring(bucket: str, message: str) -> None:
    text = repro.script(LEADING, record(bucket=bucket, message=message), "repro.py")
    assert value_of_script(text, "KERNEL") == LEADING.source
    tree = ast.parse(text)
    assert [type(node).__name__ for node in tree.body] == [
        "Expr",
        "Import",
        "Import",
        "ImportFrom",
        "Assign",
        "Assign",
        "Expr",
    ]


def test_how_often_in_words() -> None:
    assert runs_text(3, 3) == "always (3 of 3 runs)"
    assert runs_text(1, 3) == "flaky: 1 of 3 runs"
