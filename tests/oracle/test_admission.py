"""`python -m kfuzz.oracle`: the admission test from the oracle alone, without the search."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

TOO_LITTLE = '''"""off: y = x, but wrong."""

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}


def formula(N, x):
    return 0.0 * x
'''


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "kfuzz.oracle", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_an_op_that_may_judge_passes() -> None:
    done = run("argmax", "affine_dequantize")
    assert done.stdout.splitlines()[0] == "argmax"
    assert "\naffine_dequantize\n  ok     mpmath and float64 agree" in done.stdout
    assert done.stdout.endswith("every check holds\n")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_formula_that_any_zeros_fulfil_fails(tmp_path: Path) -> None:
    (tmp_path / "off.py").write_text(TOO_LITTLE)
    done = run(str(tmp_path / "off.py"))
    assert "  FAILED zeros are broken" in done.stdout
    assert done.stdout.rstrip().endswith("checks fail")
    assert done.returncode == 1, done.stdout + done.stderr


def test_an_unknown_op_is_one_clear_line() -> None:
    done = run("argmx")
    assert "op='argmx': unknown op, did you mean argmax?" in done.stderr
    assert done.returncode == 2
