"""The figures beside a verdict: rows that were not judged, and errors in units in the last place."""

import numpy as np
import pytest

from kfuzz.oracle import Accuracy, judge
from kfuzz.oracle.judging.slices import MOST_ELEMENTS
from kfuzz.oracle.numbers.verdict import Why

ONES, ZEROS = np.ones(64, np.float32), np.zeros(64, np.float32)


def normed(x: np.ndarray, by_moments: bool) -> np.ndarray:
    """A layer norm in float32, with the variance by two passes or as E[x^2] - mean^2."""
    mean = x.mean(1, keepdims=True, dtype=np.float32)
    spread = (x * x).mean(1, keepdims=True) - mean * mean if by_moments else ((x - mean) ** 2).mean(1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return ((x - mean) / np.sqrt(spread + np.float32(1e-5))).astype(np.float32)


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    draw = np.random.default_rng(0)
    return np.stack([draw.normal(0, 1, 64), draw.normal(1e4, 1, 64), draw.normal(0, 1, 64)]).astype(np.float32)


def test_a_row_that_cancels_is_counted_and_the_reason_names_the_mean(rows: np.ndarray) -> None:
    verdict = judge("layer_norm", {"x": rows, "w": ONES, "b": ZEROS}, {"y": normed(rows, by_moments=True)})
    assert (verdict.status, verdict.rows, verdict.unjudged_rows) == ("kept", 3, 1)
    assert [(reason.why, reason.count) for reason in verdict.reasons] == [(Why.CANCELS, 64)]


def test_every_row_of_a_two_pass_kernel_is_judged(rows: np.ndarray) -> None:
    verdict = judge("layer_norm", {"x": rows, "w": ONES, "b": ZEROS}, {"y": normed(rows, by_moments=False)})
    assert (verdict.status, verdict.unjudged_rows, verdict.reasons) == ("kept", 0, ())


def test_rows_are_counted_over_all_slices_of_a_large_answer() -> None:
    x = np.zeros((3 * MOST_ELEMENTS // 256, 256), np.float32)
    x[::7, 3] = np.nan
    y = np.full_like(x, 1 / 256)
    y[::7] = np.nan
    verdict = judge("softmax", {"x": x}, {"y": y}, Accuracy())
    assert (verdict.rows, verdict.unjudged_rows) == (len(x), len(x[::7]))


def test_the_next_number_is_one_unit_away() -> None:
    x = np.array([[3.0, 4.0], [0.375, 0.0]], np.float32)
    exact = judge("row_sum", {"x": x}, {"y": np.array([7.0, 0.375], np.float32)})
    above = judge(
        "row_sum", {"x": x}, {"y": np.array([7.0, np.nextafter(np.float32(0.375), np.float32(1))], np.float32)}
    )
    assert (exact.ulps, above.ulps) == (0.0, 1.0)


def test_the_exact_answer_of_doubles_is_not_known_to_a_unit() -> None:
    x = np.array([[3.0, 4.0]])
    assert judge("row_sum", {"x": x}, {"y": np.array([7.0])}).ulps is None


def test_an_element_near_zero_among_large_ones_counts_in_units_of_the_largest() -> None:
    x = np.array([[10.0, 0.0]], np.float32)
    y = np.exp(x - 10) / np.exp(x.astype(np.float64) - 10).sum()
    y = y.astype(np.float32)
    y[0, 1] = np.nextafter(y[0, 1], np.float32(1))
    found = judge("softmax", {"x": x}, {"y": y}).ulps
    assert found is not None
    assert found < 1
