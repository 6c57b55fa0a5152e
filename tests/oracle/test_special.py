"""Special values: the promise of each op for -inf, NaN, +inf, zeros, empty and one-element rows."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.oracle import Accuracy, Special, judge
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.verdict import Reason, Status, Why
from kfuzz.oracle.op.op import Op, read_op

INF, NAN = np.inf, np.nan
Row = list[float]

SOFTMAX: list[tuple[Row, Row, Special, Status]] = [
    ([-INF, -INF], [NAN, NAN], Special(), "kept"),
    ([-INF, -INF], [0.5, 0.5], Special(), "broken"),
    ([-INF, -INF], [0, 0], Special(), "broken"),
    ([-INF, -INF], [0, 0], Special(all_neg_inf="zero"), "kept"),
    ([-INF, -INF], [NAN, NAN], Special(all_neg_inf="zero"), "broken"),
    ([-INF, 0], [0, 1], Special(), "kept"),
    ([-INF, 0], [NAN, NAN], Special(), "broken"),
    ([-INF, 0], [1e-30, 1], Special(), "broken"),
    ([-INF, 0], [-0.0, 1], Special(), "kept"),
    ([NAN, 0], [7, 7], Special(), "not judged"),
    ([NAN, 0], [NAN, NAN], Special(nan="row"), "kept"),
    ([NAN, 0], [0, 1], Special(nan="row"), "broken"),
    ([NAN, 0], [NAN, NAN], Special(nan="ieee"), "kept"),
    ([INF, 0], [1, 0], Special(), "not judged"),
    ([INF, 0], [NAN, NAN], Special(pos_inf="row"), "kept"),
    ([INF, 0], [1, 0], Special(pos_inf="ieee"), "broken"),
    ([5], [1], Special(), "kept"),
    ([5], [0.99], Special(), "broken"),
    ([-0.0, 0.0], [0.5, 0.5], Special(), "kept"),
    ([3e38, -3e38], [1, 0], Special(), "kept"),
    ([3e38, -3e38], [1, NAN], Special(), "broken"),
    ([-3e38, -3e38], [0.5, 0.5], Special(), "kept"),
    ([0, -95], [1, 5.5211e-42], Special(), "kept"),
    ([0, -95], [1, 0], Special(), "broken"),
    ([0, -150], [1, 0], Special(), "kept"),
    ([0, -150], [1, 1e-40], Special(), "broken"),
]

REDUCTIONS: list[tuple[str, Row, Row, Special, Status]] = [
    ("row_sum", [1, -INF], [-INF], Special(), "kept"),
    ("row_sum", [1, -INF], [NAN], Special(), "broken"),
    ("row_sum", [1, INF], [5], Special(), "not judged"),
    ("row_sum", [1, INF], [INF], Special(pos_inf="ieee"), "kept"),
    ("row_sum", [1, INF], [1], Special(pos_inf="ieee"), "broken"),
    ("row_sum", [1, INF], [NAN], Special(pos_inf="row"), "kept"),
    ("row_sum", [-INF, INF], [NAN], Special(pos_inf="ieee"), "kept"),
    ("row_sum", [3e38, 3e38], [INF], Special(), "not judged"),
    ("row_sum", [3.4028235e38, 1.02e31], [INF], Special(), "not judged"),  # half a unit in the last place more
    ("row_sum", [1, NAN], [NAN], Special(nan="row"), "kept"),
    ("row_sum", [1, NAN], [1], Special(nan="row"), "broken"),
    ("row_sum", [1, NAN], [1], Special(), "not judged"),
    ("row_max", [-INF, -INF], [-INF], Special(), "kept"),
    ("row_max", [-INF, -INF], [-3.4028235e38], Special(), "broken"),
    ("row_max", [-0.0, 0.0], [-0.0], Special(), "kept"),
    ("row_max", [-5, -3], [0], Special(), "broken"),
    ("row_max", [INF, 1], [INF], Special(), "kept"),
    ("row_max", [NAN, 1], [1], Special(), "not judged"),
    ("row_max", [NAN, 1], [NAN], Special(nan="ieee"), "kept"),
    ("row_max", [NAN, 1], [1], Special(nan="ieee"), "broken"),
    ("row_max", [NAN, 1], [1], Special(nan="ignore"), "kept"),
    ("row_max", [NAN, NAN], [NAN], Special(nan="ignore"), "kept"),
]


def as_row(values: Row) -> np.ndarray:
    return np.array([values], dtype=np.float32)


@pytest.mark.parametrize(("x", "y", "special", "status"), SOFTMAX)
def test_softmax_row(x: Row, y: Row, special: Special, status: Status) -> None:
    assert judge("softmax", {"x": as_row(x)}, {"y": as_row(y)}, special=special).status == status


@pytest.mark.parametrize(("op", "x", "y", "special", "status"), REDUCTIONS)
def test_reduced_row(op: str, x: Row, y: Row, special: Special, status: Status) -> None:
    got = {"y": np.array(y, dtype=np.float32)}
    assert judge(op, {"x": as_row(x)}, got, special=special).status == status


@pytest.mark.parametrize(
    ("x", "m", "s", "status"),
    [
        ([-INF, -INF], -INF, 0, "kept"),
        ([-INF, -INF], -INF, NAN, "kept"),
        ([-INF, -INF], NAN, NAN, "broken"),
        ([-INF, 2], 2, 1, "kept"),
        ([-INF, 2], 2, NAN, "broken"),
        ([1, 1], 1, 2, "kept"),
        ([1, 1], 1, 1, "broken"),
    ],
)
def test_max_sum_row(x: Row, m: float, s: float, status: Status) -> None:
    got = {"m": np.array([m], dtype=np.float32), "s": np.array([s], dtype=np.float32)}
    assert judge("max_sum", {"x": as_row(x)}, got).status == status


@pytest.mark.parametrize(
    ("first", "second", "merged", "status"),
    [
        ((-INF, NAN), (3, 2), (3, 2), "kept"),
        ((3, 2), (-INF, INF), (3, 2), "kept"),
        ((3, 2), (-INF, INF), (3, NAN), "broken"),
        ((-INF, 1), (-INF, 1), (-INF, 99), "kept"),
        ((-INF, 1), (-INF, 1), (NAN, 99), "broken"),
        ((1, 2), (1, 3), (1, 5), "kept"),
        ((1, 2), (1, 3), (1, 3), "broken"),
        ((0, 1), (-3e38, 1), (0, 1), "kept"),
        ((0, -5), (0, 1), (0, 77), "kept"),
    ],
)
def test_safe_merge_of_two_states(
    first: tuple[float, float], second: tuple[float, float], merged: tuple[float, float], status: Status
) -> None:
    names = ("m1", "s1", "m2", "s2")
    inputs = {name: np.array([v], dtype=np.float32) for name, v in zip(names, (*first, *second), strict=True)}
    got = {name: np.array([v], dtype=np.float32) for name, v in zip(("m", "s"), merged, strict=True)}
    assert judge("safe_merge", inputs, got).status == status


TINY = 2.0**-130


@pytest.mark.parametrize("role", ["x", "m1", "m"])
@pytest.mark.parametrize(
    ("top", "got", "status", "flushed"),
    [(TINY, TINY, "kept", "kept"), (TINY, 0, "broken", "kept"), (-TINY, -0.0, "broken", "kept"),
     (TINY, 2 * TINY, "broken", "broken"), (2.0**-126, 0, "broken", "broken")],
)  # fmt: skip
def test_a_denormal_maximum_may_be_flushed_where_denormals_are(
    role: str, top: float, got: float, status: Status, flushed: Status
) -> None:
    """PTX's max.ftz.f32, which is what fmaxf comes to under -ftz=true, gives a zero of the same sign."""
    one, low = np.array([1], dtype=np.float32), np.array([-INF], dtype=np.float32)
    op, inputs = {
        "x": ("max_sum", {}),
        "m1": ("safe_merge", {"s1": one, "m2": low, "s2": one}),
        "m": ("merge_all", {"s": one}),
    }[role]
    inputs[role] = np.array([top], dtype=np.float32)
    answer = {"m": np.array([got], dtype=np.float32), "s": one}
    assert judge(op, inputs, answer).status == status
    assert judge(op, inputs, answer, Accuracy(ftz=True)).status == flushed


def test_a_sum_that_overflows_on_the_way_is_not_judged_and_a_smaller_one_is() -> None:
    """3e38 + 3e38 is inf, and stays so when it is scaled down to the maximum that comes last."""
    inputs = {"m": np.array([0, 0, 100], dtype=np.float32), "s": np.array([3e38, 3e38, 1], dtype=np.float32)}
    got = {"m": np.array([100], dtype=np.float32), "s": np.array([INF], dtype=np.float32)}
    verdict = judge("merge_all", inputs, got)
    assert verdict.status == "kept"  # of the maximum
    assert verdict.reasons == (Reason(Why.SUM_OVERFLOWS, 1),)
    inputs["s"] /= np.float32(4)
    assert judge("merge_all", inputs, got).status == "broken"


@pytest.mark.parametrize(
    ("a", "b", "c", "status"),
    [
        ([0, 1], [INF, 1], NAN, "kept"),
        ([0, 1], [INF, 1], INF, "broken"),
        ([2, 1], [INF, 1], INF, "kept"),
        ([-2, 1], [INF, 1], -INF, "kept"),
        ([1, -1], [INF, INF], NAN, "kept"),
        ([1, -1], [INF, INF], 0, "broken"),
        ([1, 1], [NAN, 1], NAN, "kept"),
        ([1, 1], [NAN, 1], 1, "broken"),
        ([3e38, 1], [3e38, 1], INF, "not judged"),
        ([3e38, 1], [2, -3e38], 5, "not judged"),
    ],
)
def test_sgemm_special_values(a: Row, b: Row, c: float, status: Status) -> None:
    inputs = {"a": as_row(a), "b": as_row(b).T.copy()}
    assert judge("sgemm", inputs, {"c": as_row([c])}).status == status


FLUSHED, EXACT = Accuracy(ftz=True), Accuracy(accumulate="f64", adds=0)


@pytest.mark.parametrize(
    ("a", "b", "got", "claim", "status"),
    [
        ([1e-30], [1e-16], 0, Accuracy(), "kept"),  # the product is rounded to 0 before it is added
        ([1e-30], [1e-14], 0, Accuracy(), "broken"),
        ([1e-39], [1], 0, FLUSHED, "kept"),
        ([1e-39], [1], 0, Accuracy(), "broken"),
        ([1e-39], [1e30], 0, FLUSHED, "kept"),  # a factor is flushed before it is multiplied
        ([1e-39], [1e30], 0, Accuracy(), "broken"),
        ([1e-37], [1e30], 0, FLUSHED, "broken"),
        ([1e-39], [INF], NAN, FLUSHED, "not judged"),
        ([1e-39], [INF], NAN, Accuracy(), "broken"),
    ],
)
def test_what_underflow_takes_from_a_product(a: Row, b: Row, got: float, claim: Accuracy, status: Status) -> None:
    assert judge("sgemm", {"a": as_row(a), "b": as_row(b).T.copy()}, {"c": as_row([got])}, claim).status == status


LEAST, N = 2.0**-149, 200
LOST_IN_TERMS = {
    "a scale of scores": (lambda N, x, w, c: N.matmul(x, w.T) * c[:, :1], LEAST, 3e38, 0.07),
    "a division of scores": (lambda N, x, w, c: N.matmul(x, w.T) / c[:, :1], LEAST, 3e38, 14.0),
    "a scale of values": (lambda N, x, w, c: N.matmul(x, (w * c).T), 1e-10, 448.0, 1e-36),
    "a scale of values, moved": (lambda N, x, w, c: N.matmul(x, (w * c)[:, ::-1].T), 1e-10, 448.0, 1e-36),
    "a factor of a dot product": (lambda N, x, w, c: N.dot(x, w * c), 1e-10, 448.0, 1e-36),
    "a scale of a dot product": (lambda N, x, w, c: N.dot(x, w) * c[:, :1], LEAST, 3e38, 0.07),
    "a scale of a sum": (lambda N, x, w, c: N.sum(x) * c[:, :1] + 0.0 * w[:, :1], LEAST, 0.0, 0.07),
    "a mean": (lambda N, x, w, c: N.mean(x) + 0.0 * (w * c)[:, :1], 50 * LEAST, 0.0, 0.0),
}


@pytest.mark.parametrize("name", LOST_IN_TERMS)
def test_a_factor_of_a_sum_may_underflow_with_a_factor_of_each_term(name: str) -> None:
    """A factor that comes last in the formula is multiplied into each term first: every x c is 0."""
    formula, x, w, c = LOST_IN_TERMS[name]
    roles = {"INPUTS": dict.fromkeys("xwc", "float[rows, cols]"), "OUTPUTS": {"y": "float[rows, rows]"}}
    op = read_op("lost_in_terms", SimpleNamespace(**roles, formula=formula))
    given = {name: np.full((1, N), one, np.float32) for name, one in (("x", x), ("w", w), ("c", c))}
    assert holds_zero(op, given)
    assert not holds_zero(op, given | {"x": np.full((1, N), x * 2.0**26, np.float32)})


def holds_zero(op: Op, inputs: dict[str, NDArray[np.float32]]) -> bool:
    made = enclose(op, inputs, Accuracy(divide="ieee"), Special())["y"]
    return bool(np.all(made.judged & (made.lo <= 0) & (made.hi >= 0)))


@pytest.mark.parametrize(
    ("x", "got", "claim", "status"),
    [
        ([1e-39, 1e-39], 0, FLUSHED, "kept"),
        ([1e-39, 1e-39], 0, Accuracy(), "broken"),
        ([1, 1.5 * 2.0**-24], 1 + 2.0**-23, EXACT, "kept"),  # a sum in double is rounded once, to float32
        ([1, 1.5 * 2.0**-24], 1, EXACT, "broken"),
        ([1, 1.5 * 2.0**-24], 1, Accuracy(accumulate="compensated", adds=1), "kept"),
        ([1, 4 * 2.0**-24], 1, Accuracy(accumulate="compensated", adds=1), "broken"),
    ],
)
def test_what_rounding_takes_from_a_sum(x: Row, got: float, claim: Accuracy, status: Status) -> None:
    assert judge("row_sum", {"x": as_row(x)}, {"y": np.array([got], dtype=np.float32)}, claim).status == status


def test_transpose_compares_every_bit() -> None:
    x = np.array([[0x7FC00001, 0x80000000], [0x7F800001, 0x00000001]], dtype=np.uint32).view(np.float32)
    y = np.ascontiguousarray(x.T)
    assert judge("transpose", {"x": x}, {"y": y}).status == "kept"
    quiet = y.copy()
    quiet.view(np.uint32)[0, 1] = 0x7FC00001  # a signalling NaN made quiet, and another's payload
    assert judge("transpose", {"x": x}, {"y": quiet}).status == "broken"
    unsigned = y.copy()
    unsigned.view(np.uint32)[1, 0] = 0  # -0 turned into 0
    assert judge("transpose", {"x": x}, {"y": unsigned}).status == "broken"


@pytest.mark.parametrize("ftz", [False, True])
def test_a_row_whose_sum_may_underflow_to_zero_is_not_judged_and_its_neighbours_are(ftz: bool) -> None:
    """exp(-103.5) is half of the least denormal, and exp(-88) is denormal: a right exp may make either 0, and 0 / 0."""
    claim = Accuracy(shift="zero", rescales=0, divide="ieee", ftz=ftz)
    x = np.array([[-88, -88] if ftz else [-103.5, -103.5], [1, 1]], dtype=np.float32)
    y = np.array([[NAN, NAN], [0.5, 0.5]], dtype=np.float32)
    verdict = judge("softmax", {"x": x}, {"y": y}, claim)
    assert (verdict.status, verdict.judged) == ("kept", 2)
    assert verdict.reasons == (Reason(Why.SUM_UNDERFLOWS, 1),)
    assert judge("softmax", {"x": x + np.float32(8)}, {"y": y}, claim).status == "broken"


def test_rows_beside_a_poisoned_row_are_judged_as_ever() -> None:
    x = np.array([[0, 1], [NAN, 1], [0, 1]], dtype=np.float32)
    y = np.array([[0.26894143, 0.7310586], [5, 5], [0.26894143, 0.7310586]], dtype=np.float32)
    verdict = judge("softmax", {"x": x}, {"y": y})
    assert (verdict.status, verdict.judged) == ("kept", 4)
    assert verdict.reasons[0].why is Why.NAN
    y[2, 0] = NAN
    broken = judge("softmax", {"x": x}, {"y": y})
    assert broken.status == "broken"
    assert broken.worst is not None
    assert broken.worst.row == 2


@pytest.mark.parametrize("op", ["row_sum", "max_sum"])
def test_rows_of_no_elements_are_kept(op: str) -> None:
    outputs = {"row_sum": {"y": (2,)}, "max_sum": {"m": (2,), "s": (2,)}}[op]
    got = {role: np.zeros(shape, dtype=np.float32) for role, shape in outputs.items()}
    if op == "max_sum":
        got["m"][:] = -INF
    assert judge(op, {"x": np.zeros((2, 0), dtype=np.float32)}, got).status == "kept"


@pytest.mark.parametrize("op", ["row_max", "max_sum"])
@pytest.mark.parametrize(
    ("got", "ftz", "status"),
    [
        (-1.0e-41, False, "kept"),
        (-2.0e-40, False, "broken"),
        (-0.0, False, "broken"),
        (-1.0e-41, True, "kept"),
        (-2.0e-40, True, "kept"),  # a comparison that flushes takes it for the -1e-41 beside it, and for zero
        (-0.0, True, "kept"),
        (0.0, True, "kept"),
        (-3.0e-40, True, "broken"),
        (1.0e-41, True, "broken"),
        (-1.5e-38, True, "broken"),
    ],
)
def test_where_denormals_are_flushed_any_of_them_may_be_taken_for_the_maximum(
    op: str, got: float, ftz: bool, status: str
) -> None:
    x = np.array([[-2.0e-40, -1.0e-41, -1.5e-38, -np.inf]], "f4")
    outputs = (
        {"y": np.array([got], "f4")} if op == "row_max" else {"m": np.array([got], "f4"), "s": np.array([3], "f4")}
    )
    assert judge(op, {"x": x}, outputs, accuracy=Accuracy(ftz=ftz)).status == status


@pytest.mark.parametrize("op", ["softmax", "row_sum", "gelu"])
def test_a_formula_has_no_answer_without_its_nans(op: str) -> None:
    x = np.array([[NAN, 0]], np.float32)
    y = np.zeros(1, np.float32) if op == "row_sum" else x
    said = f"{op}: nan='ignore': expected row or ieee or propagate: a NaN cannot be left out"
    with pytest.raises(OracleError, match=said):
        judge(op, {"x": x}, {"y": y}, special=Special(nan="ignore"))
    with pytest.raises(ValueError, match="pos_inf='ignore': expected one of None, row, ieee"):
        Special(pos_inf="ignore")  # type: ignore[arg-type]


def test_what_is_chosen_at_0_is_not_chosen_at_a_denormal_that_may_be_flushed() -> None:
    """t log t of 1e-39 is -9e-38: to read t as 0 is right, and so is to read it as it is."""
    given = {"x": np.array([3.0, 2.0], np.float32), "t": np.array([1e-39, 0.0], np.float32)}
    each = {"each": 1, "summed": 0}
    made = enclose(find("kl_div_loss"), given, FLUSHED, Special(), each)["loss"]
    assert made.lo[0] < -9.3e-38 < 0 <= made.hi[0]
    assert made.lo[1] == made.hi[1] == 0
    exact = enclose(find("kl_div_loss"), given, Accuracy(), Special(), each)["loss"]
    assert exact.hi[0] < -9.2e-38


def test_the_inverse_root_of_a_denormal_that_may_be_read_as_negative_0_may_be_negative_infinity() -> None:
    roles = {"INPUTS": {"x": "float[n]"}, "OUTPUTS": {"y": "float[n]"}}
    op = read_op("rsqrt", SimpleNamespace(**roles, formula=lambda N, x: N.rsqrt(x)))
    x = np.array([-6e-41, 6e-41, 4.0], np.float32)
    made = enclose(op, {"x": x}, FLUSHED, Special())["y"]
    assert (made.lo[0], made.hi[0]) == (-INF, INF)
    assert made.hi[1] == INF
    assert made.lo[1] > 1e20
    assert abs(made.lo[2] - 0.5) < 1e-6
