"""Rows judged a slice at a time: the same verdict as for all at once, in the memory of one slice."""

import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.oracle import Accuracy, AnswerError, Special, Verdict, judge, want
from kfuzz.oracle.accuracy.rounding import EXP2_SCALED, FAST_EXPF
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find, op_names
from kfuzz.oracle.judging.slices import MOST_ELEMENTS, join_verdicts, split_rows
from kfuzz.oracle.numbers.elements import F32
from kfuzz.oracle.numbers.enclosure import ROUND_64
from kfuzz.oracle.numbers.verdict import Reason, Why
from kfuzz.oracle.op.independence import row_axes
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.systems.simulated import KernelManner, Simulated

Floats = NDArray[np.float32]
ROWS, COLS, A_SLICE = 40, 30, 7
ROWS_FIRST = {"x": 0, "y": 0}


def right(x: Floats) -> Floats:
    with np.errstate(all="ignore"):
        e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True).astype(np.float64))
        return np.float32(e / e.sum(axis=1, keepdims=True))


def in_slices(x: Floats, y: Floats, rows: int = A_SLICE) -> Verdict:
    every = split_rows({"x": x}, {"y": y}, ROWS_FIRST, ftz=False, most=rows * x.shape[1])
    return join_verdicts([(part, judge("softmax", asked, answered)) for part, asked, answered in every], y)


def inputs() -> Floats:
    x = np.random.default_rng(5).standard_normal((ROWS, COLS)).astype(np.float32)
    x[[3, 20, 39], [4, 5, 6]] = np.nan
    x[[8, 21], [4, 5]] = np.inf
    x[30] = -np.inf
    return x


def test_a_right_answer_is_kept_as_it_is_whole() -> None:
    x = inputs()
    whole, cut = judge("softmax", {"x": x}, {"y": right(x)}), in_slices(x, right(x))
    assert cut == whole
    assert judge("softmax", {"x": x}, {"y": right(x)}).reasons[0] == Reason(Why.NAN, 3)


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
    assert firsts(x, {}, 1) == [0]
    assert firsts(x, ROWS_FIRST, 20 * COLS) == [0, 20]


def firsts(x: Floats, cut: dict[str, int], most: int) -> list[int]:
    return [int(rows[0]) for rows, _, _ in split_rows({"x": x}, {"y": x}, cut, ftz=False, most=most)]


def rows_of_every_kind() -> Floats:
    """Of each kind that a rule speaks of apart, one; 12 numbers, for the sizes of every op by rows."""
    x = np.random.default_rng(8).standard_normal((1, 12)).astype(np.float32)
    nan, inf, low = x.copy(), x.copy(), x.copy()
    nan[0, 0], inf[0, 1], low[0, 2] = np.nan, np.inf, 1e-40
    kinds = [x, nan, inf, -inf, low, -np.abs(x), 0 * x, 1e-40 * x, 3e38 * np.sign(x), 40 * x - 20, 1000 + x, nan]
    return np.concatenate(kinds).astype(np.float32)


BY_ROW = [name for name in op_names() if find(name).takes_vector and row_axes(find(name))]
CLAIMS = {
    "silent": Accuracy(),
    "flushed": Accuracy(adds=12, rescales=0, exp=FAST_EXPF, divide="fast reciprocal", ftz=True),
    "base 2": Accuracy(exp=EXP2_SCALED),
}


def test_what_is_wrong_of_several_heads_is_named_by_its_place_in_the_whole() -> None:
    """Rows of the second head on were looked for among the heads, and no verdict was given."""
    generator = np.random.default_rng(1)
    shapes = {"q": (3, 4, 2), "k": (3, 5, 2), "v": (3, 5, 3)}
    inputs = {role: generator.standard_normal(shape).astype(np.float32) for role, shape in shapes.items()}
    o = want("attention", inputs, digits=20)["o"].astype(np.float32)
    o[0, 3] += 0.125
    o[1:, 1:, 1:] += np.float32([0.5, 0.25])
    every = list(split_rows(inputs, {"o": o}, row_axes(find("attention")), ftz=False, most=1))
    assert len(every) == 3
    whole = judge("attention", inputs, {"o": o})
    cut = join_verdicts([(heads, judge("attention", asked, answered)) for heads, asked, answered in every], o)
    assert whole.extent is not None
    assert whole.extent.rows == (3, 5, 6, 7, 9, 10, 11)
    assert (cut.worst, cut.extent) == (whole.worst, whole.extent)


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        pytest.param(name, claim, marks=() if (of_op - of_claim) % len(CLAIMS) == 0 else pytest.mark.soak)
        for of_op, name in enumerate(BY_ROW)
        for of_claim, claim in enumerate(CLAIMS)
    ],
)  # each op with one claim, the next op with the next, and `make soak` has all
def test_no_row_makes_a_rule_looser_for_another(name: str, claim: str) -> None:
    op, accuracy = find(name), CLAIMS[claim]
    x, draw = rows_of_every_kind(), np.random.default_rng(9)
    sizes = op.small_sizes(12)
    whole = [role for role in op.inputs if role not in row_axes(op)]
    inputs = {
        name: x[:, : sizes[role.dimensions[1]]] if role.dimensions[1:] else draw.integers(0, 12, len(x))
        for name, role in op.inputs.items()
    }
    inputs |= {role: draw.standard_normal(sizes[op.inputs[role].dimensions[0]]).astype(np.float32) for role in whole}
    for form in op.forms or (None,):
        for role in op.outputs:
            claim_of_form = replace(accuracy, form=form)
            together, alone = (bounds(op, inputs, role, claim_of_form, most) for most in (1 << 20, 1))
            np.testing.assert_allclose(together, alone, rtol=ROUND_64)  # numpy's exp of one number is not that of eight


def bounds(op: Op, inputs: dict[str, Floats], role: str, accuracy: Accuracy, most: int) -> NDArray[np.float64]:
    """Both ends of every element, by slices of at most so many elements."""
    found: dict[int, NDArray[np.float64]] = {}
    with np.errstate(all="ignore"):
        answers = {role: array for role, array in inputs.items() if role in row_axes(op)}
        for rows, asked, _ in split_rows(inputs, answers, row_axes(op), accuracy.ftz, most):
            one = enclose(op, asked, accuracy, Special())[role]
            found |= dict(zip(rows.tolist(), np.stack([one.lo, one.hi, one.judged], axis=1), strict=True))
    return np.stack([found[row] for row in range(len(found))])


def test_a_row_of_nan_beside_it_accuses_no_running_mean() -> None:
    x = np.full((2, 257), 4e3, np.float32) + np.random.default_rng(10).standard_normal((2, 257)).astype(np.float32)
    x[1, 5] = np.nan
    claim = Accuracy(adds=10, form="welford", divide="ieee")
    S = Simulated(claim, KernelManner("tree"), {}, F32, "welford")
    y = S.mean_var(S.input(x.astype(np.float64)))[1].x[:, 0].astype(np.float32)
    judge("variance", {"x": x}, {"y": y}, claim).check()
    with pytest.raises(AnswerError):  # what a mean that is made by a sum would allow, and what it was judged by
        judge("variance", {"x": x}, {"y": y}, replace(claim, form="two pass")).check()


def test_a_wrong_row_of_denormals_is_shown_in_the_whole_answer() -> None:
    x = rows_of_every_kind()
    y = right(x)
    y[[0, 7], 3] = 7
    verdict = judge("softmax", {"x": x}, {"y": y}, CLAIMS["flushed"])
    assert verdict.picture is not None
    assert verdict.extent is not None
    assert [one.index for one in verdict.picture.wrong] == [(0, 3), (7, 3)]
    assert (verdict.picture.shape, verdict.extent.rows) == (x.shape, (0, 7))


def peak(op: str, rows: int, cols: int = 1 << 10) -> int:
    """Bytes that judging so many rows takes, beside the arrays themselves."""
    x = np.random.default_rng(7).standard_normal((rows, cols), dtype=np.float32)
    y = {"row_max": lambda: x.max(axis=1), "softmax": lambda: right(x), "transpose": x.T.copy}[op]()
    tracemalloc.start()
    assert judge(op, {"x": x}, {"y": y}).status == "kept"
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


@pytest.mark.parametrize("op", ["row_max", "transpose", pytest.param("softmax", marks=pytest.mark.slow)])
def test_more_rows_take_no_more_memory(op: str) -> None:
    one = peak(op, MOST_ELEMENTS >> 10)
    assert one > 8 * MOST_ELEMENTS  # a slice in float64, at the least
    assert peak(op, MOST_ELEMENTS >> 8) < 1.1 * one


BY_NUMBER = """INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}


def formula(N, x):
    return x * N.number(1.0) + N.where(N.index("rows", axis=-2) % 2 == 0, N.number(0.0), N.number(1.0))
"""


def test_a_formula_that_asks_which_row_it_is_in_is_never_cut(tmp_path: Path) -> None:
    file = tmp_path / "by_number.py"
    file.write_text(BY_NUMBER)
    assert row_axes(find(str(file))) == {}
    x = np.random.default_rng(11).standard_normal((3, MOST_ELEMENTS // 2)).astype(np.float32)
    x[1, 7] = 1e-40  # which would be apart from the others where denormals are flushed
    y = x + np.float32([[0], [1], [0]])
    for rows, claim in ((3, Accuracy()), (3, Accuracy(ftz=True))):
        assert judge(str(file), {"x": x[:rows]}, {"y": y[:rows]}, claim).status == "kept"
    assert judge(str(file), {"x": x}, {"y": x}).status == "broken"
    file = tmp_path / "by_none.py"
    file.write_text(BY_NUMBER.replace('N.index("rows", axis=-2) % 2 == 0', "x.x > 0"))
    assert row_axes(find(str(file))) == ROWS_FIRST


def test_matrices_are_cut_along_what_falls_apart() -> None:
    assert row_axes(find("transpose")) == {"x": 1, "y": 0}
    assert row_axes(find("sgemm")) == {"a": 0, "c": 0}
    assert row_axes(find("grouped_attention")) == {}  # which head it is says which keys it has
    draw = np.random.default_rng(12)
    x = draw.integers(0, 1 << 32, (1100, MOST_ELEMENTS // 512), dtype=np.uint32).view(np.float32)
    y = np.ascontiguousarray(x.T)
    assert judge("transpose", {"x": x}, {"y": y}).judged == x.size
    y[-1, 1000] = 7
    verdict = judge("transpose", {"x": x}, {"y": y})
    assert verdict.worst is not None
    assert (verdict.worst.index, verdict.extent and verdict.extent.wrong) == ((y.shape[0] - 1, 1000), 1)
    a, b = (draw.standard_normal(shape).astype(np.float32) for shape in ((900, 8), (8, 600)))
    c = (a.astype(np.float64) @ b).astype(np.float32)
    assert judge("sgemm", {"a": a, "b": b}, {"c": c}).judged == c.size
    c[899, 599] += 1
    verdict = judge("sgemm", {"a": a, "b": b}, {"c": c})
    assert verdict.worst is not None
    assert (verdict.status, verdict.worst.index) == ("broken", (899, 599))
