"""The elements of an axis in their order, by the words of any number system."""

from pathlib import Path

import numpy as np
import pytest

from kfuzz.oracle import judge

SORT = """
from kfuzz.oracle.words.ordering import in_order

INPUTS = {"x": "float[rows, n]"}
OUTPUTS = {"y": "float[rows, n]"}


def formula(N, x):
    return in_order(N, x)
"""


@pytest.mark.parametrize("n", [1, 2, 7, 16])
def test_sorted_elements_are_exact_and_two_exchanged_ones_are_seen(n: int, tmp_path: Path) -> None:
    (tmp_path / "sorted.py").write_text(SORT)
    x = np.random.default_rng(n).standard_normal((3, n)).astype("f4")
    y = np.sort(x, axis=-1)
    assert judge(str(tmp_path / "sorted.py"), {"x": x}, {"y": y}).status == "kept"
    if n > 1:
        y[1, :2] = y[1, 1::-1]
        assert judge(str(tmp_path / "sorted.py"), {"x": x}, {"y": y}).status == "broken"
