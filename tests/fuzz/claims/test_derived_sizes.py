"""The sizes of an op that follow from a claim's axes."""

from pathlib import Path

import pytest

from kfuzz.claims.kernel import load
from kfuzz.devices import ClaimError

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


def test_a_size_of_the_op_that_an_output_has_otherwise_is_one_line(tmp_path: Path) -> None:
    """Such a claim was bound, and the oracle failed at its first answer."""
    text = (Path(__file__).parents[2] / "data" / "properties" / "histogram_of_blocks.cu").read_text()
    (path := tmp_path / "mine.cu").write_text(text.replace("bins = 50, ", ""))
    with pytest.raises(ClaimError, match=r"histogram: 50 for bins, which is 64 unless scalars = \{ bins = "):
        load(path)
