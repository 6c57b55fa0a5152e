"""The sizes of an op that follow from a claim's axes."""

from pathlib import Path

import pytest

from kfuzz.claims.kernel import load

OP = """
INPUTS = {{"x": "float[rows, {size}]"}}
OUTPUTS = {{"y": "float[rows, {size}]"}}


def formula(N, x):
    return x * x
"""
KERNEL = """# /// kernel
# op     = "mine.py"
# axes   = { rows = "1..64", cols = [8] }
# arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
#
# [call]
# library = "numpy"
# ///
def forward(x):
    return x * x
"""


@pytest.mark.parametrize(("size", "dimensions"), [("8", {"rows": 3}), ("cols", {"rows": 3, "cols": 8})])
def test_an_axis_of_one_size_may_be_a_number_in_the_op(size: str, dimensions: dict[str, int], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OP.format(size=size))
    (tmp_path / "kernel.py").write_text(KERNEL)
    assert load(tmp_path / "kernel.py").derived_sizes(dimensions) == {}
