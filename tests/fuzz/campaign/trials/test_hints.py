"""Hints beside a verdict are made only where a part of the rows can be judged alone."""

from pathlib import Path

import numpy as np

from kfuzz.campaign.trials.hints import add_hints, has_rows
from kfuzz.claims.kernel import load
from kfuzz.oracle.judging.judge import judge

CLAIM = """\
// /// kernel
// op     = "op.py"
// axes   = { n = "1..64" }
// arrays = { x = "f32[n, n] -> x", y = "f32[n, n] <- y" }
// launch = [{ entry = "apply", grid = "n", block = 32, args = ["y", "x", "n"] }]
// ///

__global__ void apply(float *y, const float *x, int n) {}
"""
OP = """\
"An op of a matrix."
INPUTS = {"x": "float[n, n]"}
OUTPUTS = {"y": "float[n, n]"}


def formula(N, x):
    return N.matmul(x, x)
"""


def test_the_rows_of_a_square_matrix_are_not_cut_where_its_columns_have_the_same_size(tmp_path: Path) -> None:
    (tmp_path / "op.py").write_text(OP, encoding="utf-8")
    (tmp_path / "mine.cu").write_text(CLAIM, encoding="utf-8")
    kernel = load(tmp_path / "mine.cu")
    assert not has_rows(kernel)
    x = np.eye(4, dtype=np.float32)
    x[1, 0] = -np.inf
    given, got, bound = {"x": x}, {"y": np.ones((4, 4), np.float32)}, kernel.bind({"x": x}, {})
    verdict = judge(kernel.op, given, got, bound.accuracy)
    assert verdict.status == "broken"
    assert add_hints(kernel, given, got, bound, verdict).status == "broken"
