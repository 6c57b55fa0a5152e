"""Answers that only E[x^2] - mean^2 explains are inaccurate; those of a stable algorithm never are."""

from collections.abc import Callable

import numpy as np
import pytest

from kfuzz.oracle import Accuracy, judge
from kfuzz.oracle.judging.inaccurate import FARTHER
from kfuzz.oracle.judging.slices import MOST_ELEMENTS
from kfuzz.oracle.numbers.verdict import InaccurateWarning

ONE = np.float32(1)
SPREAD = np.array([-1.5, 0.25, 1.25, -0.75, 0.5, 1.0, -1.0, 0.25], np.float32)


def two_pass(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = x.mean(-1, keepdims=True, dtype=np.float32)
    return mean, ((x - mean) ** 2).mean(-1, keepdims=True, dtype=np.float32)


def moments(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = x.mean(-1, keepdims=True, dtype=np.float32)
    return mean, (x * x).mean(-1, keepdims=True, dtype=np.float32) - mean * mean


def running_means(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = squares = np.zeros((len(x), 1), np.float32)
    for count in range(1, x.shape[1] + 1):
        off = x[:, count - 1 : count] - mean
        mean = mean + off / np.float32(count)
        squares = squares + off * (x[:, count - 1 : count] - mean)
    return mean, squares / np.float32(x.shape[1])


Spread = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def normed(x: np.ndarray, by: Spread) -> np.ndarray:
    mean, var = by(x)
    with np.errstate(invalid="ignore"):
        return ((x - mean) / np.sqrt(var + np.float32(1e-5))).astype(np.float32)


def given(x: np.ndarray) -> dict[str, np.ndarray]:
    return {"x": x, "w": np.ones(x.shape[1:], np.float32), "b": np.zeros(x.shape[1:], np.float32)}


def around(mean: float, rows: int = 1) -> np.ndarray:
    return np.tile(SPREAD + np.float32(mean), (rows, 1))


def test_a_variance_that_cancels_is_inaccurate() -> None:
    x = around(3000.0)
    found = judge("layer_norm", given(x), {"y": normed(x, moments)})
    assert not found.is_outside, "another form allows it"
    far = found.inaccurate
    assert far is not None
    assert far.worst is not None
    assert far.ratio > FARTHER
    assert far.worst.lo < far.worst.want < far.worst.hi, "what two passes give"
    assert 'the form "two pass" errs by at most' in far.text
    assert "digits are lost" in far.text
    with pytest.warns(InaccurateWarning, match="digits are lost"):
        judge(
            "layer_norm", given(np.concatenate([x, around(0)])), {"y": normed(np.concatenate([x, around(0)]), moments)}
        ).check()


@pytest.mark.parametrize("by", [two_pass, running_means])
@pytest.mark.parametrize("mean", [0, 300, 1e4, 3e4, 1e6, 1e12, 1e19])
def test_no_stable_algorithm_is_inaccurate(by: Spread, mean: float) -> None:
    x = around(mean)[:, : 2 if mean == 1e6 else None]
    assert judge("layer_norm", given(x), {"y": normed(x, by)}).inaccurate is None
    assert judge("variance", {"x": x}, {"y": by(x)[1][:, 0]}).inaccurate is None


@pytest.mark.parametrize("form", ["moments", "two pass"])
def test_a_claim_that_names_its_form_is_judged_by_it_alone(form: str) -> None:
    x = around(3000.0)
    found = judge("layer_norm", given(x), {"y": normed(x, moments)}, Accuracy(form=form))
    assert found.inaccurate is None
    assert found.is_outside == (form == "two pass")


def test_digits_are_those_of_numbers() -> None:
    inputs = given(around(3000.0))
    inputs["b"][3] = -np.inf
    y = normed(inputs["x"], moments) + inputs["b"]
    far = judge("layer_norm", inputs, {"y": y}).inaccurate
    assert far is not None
    assert "digits are lost" in far.detail
    assert "inf" not in far.detail


def test_an_error_that_is_not_far_beyond_a_stable_form_is_none() -> None:
    x = around(100.0)
    found = judge("layer_norm", given(x), {"y": normed(x, moments)})
    assert (found.status, found.inaccurate) == ("kept", None)


def test_the_place_is_that_in_the_whole_answer() -> None:
    x = around(0.0, 3 * MOST_ELEMENTS // 8)
    x[-5] += 3000
    far = judge("layer_norm", given(x), {"y": normed(x, moments)}).inaccurate
    assert far is not None
    assert far.worst is not None
    assert far.extent is not None
    assert (far.worst.index[0], far.extent.rows, far.extent.elements) == (len(x) - 5, (len(x) - 5,), x.size)


def test_the_place_is_that_in_the_kernels_own_arrays() -> None:
    x = np.concatenate([around(0.0, 2), around(3000.0)])
    op = "layer_norm(x[rows, height, width], w[height, width], b[height, width])"
    y = normed(x, moments).reshape(3, 2, 4)
    far = judge(op, given(x.reshape(3, 2, 4)), {"y": y}).inaccurate
    assert far is not None
    assert far.worst is not None
    assert (len(far.worst.index), far.worst.index[0]) == (3, 2)
