"""Rows judged a slice at a time: the same verdict as all at once, in the memory of one slice."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from kfuzz.oracle import Verdict, judge
from kfuzz.oracle.slices import MOST_ELEMENTS, joined, slices
from numpy.typing import NDArray

Floats = NDArray[np.float32]
ROWS, COLS, A_SLICE = 40, 30, 7


def right(x: Floats) -> Floats:
    with np.errstate(all="ignore"):
        e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True).astype(np.float64))
        return np.float32(e / e.sum(axis=1, keepdims=True))


def in_slices(x: Floats, y: Floats, rows: int = A_SLICE) -> Verdict:
    every = slices({"x": x}, {"y": y}, True, rows * x.shape[1])
    return joined([(first, judge("softmax", asked, answered)) for first, asked, answered in every], y.size)


def inputs() -> Floats:
    x = np.random.default_rng(5).standard_normal((ROWS, COLS)).astype(np.float32)
    x[[3, 20, 39], [4, 5, 6]] = np.nan
    x[[8, 21], [4, 5]] = np.inf
    x[30] = -np.inf
    return x


def test_a_right_answer_is_kept_as_it_is_whole() -> None:
    x = inputs()
    whole, cut = judge("softmax", {"x": x}, {"y": right(x)}), in_slices(x, right(x))
    assert replace(cut, ratio=whole.ratio) == whole
    assert cut.ratio >= whole.ratio  # beside a row of NaN a rule that needs numbers is left out, for the slice alone
    assert judge("softmax", {"x": x}, {"y": right(x)}).reasons[0].startswith("3 rows with NaN")


@pytest.mark.parametrize(
    "places", [[(0, 0)], [(39, 29)], [(9, 3), (22, 3), (38, 3)], [(row, 0) for row in range(1, 31)]]
)
def test_a_wrong_answer_has_the_same_worst_element_and_all_that_is_wrong(places: list[tuple[int, int]]) -> None:
    x = np.random.default_rng(6).standard_normal((ROWS, COLS)).astype(np.float32)
    y = right(x)
    for number, place in enumerate(places):
        y[place] += np.float32(0.01 * (number + 1))
    whole, cut = judge("softmax", {"x": x}, {"y": y}), in_slices(x, y)
    assert whole.extent is not None
    assert (cut.status, cut.kind, cut.worst, cut.extent) == (whole.status, whole.kind, whole.worst, whole.extent)
    assert (cut.ratio, cut.judged, cut.reasons, cut.tier) == (whole.ratio, whole.judged, whole.reasons, whole.tier)
    assert cut.extent is not None
    assert cut.extent.wrong == len(places)


def test_an_op_that_is_not_by_row_is_never_cut() -> None:
    x = inputs()
    assert [first for first, _, _ in slices({"x": x}, {"y": x}, False, 1)] == [0]
    assert [first for first, _, _ in slices({"x": x}, {"y": x}, True, 20 * COLS)] == [0, 20]


def peak(rows: int, cols: int = 1 << 10) -> int:
    """Bytes that judging so many rows takes, beside the arrays themselves."""
    x = np.random.default_rng(7).standard_normal((rows, cols), dtype=np.float32)
    y = x.max(axis=1)
    tracemalloc.start()
    assert judge("row_max", {"x": x}, {"y": y}).status == "kept"
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_more_rows_take_no_more_memory() -> None:
    one = peak(MOST_ELEMENTS >> 10)
    assert one > 8 * MOST_ELEMENTS  # a slice in float64, at the least
    assert peak(MOST_ELEMENTS >> 8) < 1.1 * one
