"""The greatest element of a row in each float type; what is selected has the type of what it is selected from."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from kfuzz.claims.kernel import load
from kfuzz.devices import ClaimError
from kfuzz.oracle import Special, judge
from kfuzz.oracle.numbers.elements import BF16, F16, F32, F64, FLOATS, Element, values
from kfuzz.oracle.numbers.errors import OracleError

KERNEL = """// Row maxima.
//
// /// kernel
// op     = "row_max"
// axes   = { rows = "1..64", cols = "1..300" }
// arrays = { x = "f16[rows, cols] -> x", y = "f16[rows] <- y" }
// launch = [{ entry = "row_max", grid = "rows", block = 32, args = ["y", "x", "cols"] }]
// values = { nan = "ignore" }
// ///
__global__ void row_max(__half *y, const __half *x, int cols) {}
"""


def bits(element: Element, *rows: list[float]) -> np.ndarray:
    made = np.array(rows, np.float32)
    return (made.view(np.uint32) >> 16).astype(np.uint16) if element is BF16 else made.astype(element.dtype)


@pytest.mark.parametrize("element", [F16, BF16, F32, F64])
def test_a_right_maximum_that_leaves_nan_out_is_kept_and_a_wrong_one_is_not(element: Element) -> None:
    x = bits(element, [-1.0, np.nan, -0.5], [-np.inf, -np.inf, -2.0], [0.0, 7.0, np.inf], [np.nan] * 3)
    right = bits(element, [-0.5, -2.0, np.inf, np.nan])[0]
    ignores = Special(nan="ignore")
    assert judge("row_max", {"x": x}, {"y": right}, special=ignores).is_outside is False
    for place, wrong in enumerate((0.0, -np.inf, 7.0, -np.inf)):
        answers = right.copy()
        answers[place] = bits(element, [wrong])[0, 0]
        assert judge("row_max", {"x": x}, {"y": answers}, special=ignores).is_outside


def test_an_answer_that_would_have_to_be_rounded_is_refused_and_not_called_wrong() -> None:
    """A third in float16 is no third of float32, and was outside the bounds."""
    x = np.array([[1 / 3, 0.1]], np.float32)
    with pytest.raises(OracleError, match="row_max selects"):
        judge("row_max", {"x": x}, {"y": x[:, 0].astype(np.float16)})
    with pytest.raises(OracleError, match="top_k selects"):
        judge("top_k", {"x": x}, {"values": x[:, :1].astype(np.float16), "indices": np.zeros((1, 1), np.int32)})


@pytest.mark.parametrize(("given", "answered"), [(F16, F32), (BF16, F32), (F32, F64), (F16, F64)])
def test_an_answer_in_a_wider_type_is_judged(given: Element, answered: Element) -> None:
    """The greatest of a row of halves in a float, as kernels that scale by it write it."""
    x, places = bits(given, [1 / 3, 0.1], [-0.1, -2.5]), np.zeros((2, 1), np.int32)
    right = values(x)[:, :1].astype(answered.dtype)
    for op, wrap in (("row_max", lambda y: {"y": y[:, 0]}), ("top_k", lambda y: {"values": y, "indices": places})):
        assert judge(op, {"x": x}, wrap(right)).is_outside is False
        assert judge(op, {"x": x}, wrap(np.nextafter(right, answered.dtype.type(9)))).is_outside


def test_a_type_holds_the_numbers_of_another_if_converting_them_is_exact() -> None:
    for one, other in product(FLOATS, FLOATS):
        if one.is_narrow and other.is_narrow and "power" not in (one.kind, other.kind):
            holds = not set(other.numbers[~np.isnan(other.numbers)]) - set(one.numbers)
            assert one.holds(other) == (holds and (one.nan is not None or other.nan is None))
    assert [one.name for one in (F16, BF16, F32, F64) if one.holds(F16)] == ["f16", "f32", "f64"]
    assert [one.name for one in (F16, BF16, F32, F64) if one.holds(BF16)] == ["bf16", "f32", "f64"]


def test_a_claim_of_halves_that_leaves_nan_out_is_read(tmp_path: Path) -> None:
    """It was refused: 'x' of row_max is f32."""
    path = tmp_path / "mine.cu"
    path.write_text(KERNEL)
    assert load(path).front.path == path
    path.write_text(KERNEL.replace('y = "f16', 'y = "f32').replace("__half *y", "float *y"))
    assert load(path).front.path == path
    path.write_text(KERNEL.replace('x = "f16', 'x = "f32').replace("__half *x", "float *x"))
    with pytest.raises(ClaimError, match="row_max selects: what it answers is of its input's type, f32, or one that"):
        load(path)
