"""Verdicts: certified, with the worst element, the extent, and a diagnosis that names the right mistake only."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz import oracle
from kfuzz.oracle import Accuracy, Order, Special, judge
from kfuzz.oracle.diagnosis.pattern import pattern
from kfuzz.oracle.judging.judge import is_kept
from tests.oracle.selfcheck import planted

Floats = NDArray[np.float32]
LONG_KNOWN = ("max_sum", "merge_all", "row_max", "row_sum", "safe_merge", "sgemm", "softmax")
CLAIM = Accuracy(rescales=0, divide="ieee", order=Order("strided", 256))


def softmax_row(n: int = 600, seed: int = 1, scale: float = 3.0) -> Floats:
    return (np.random.default_rng(seed).standard_normal((1, n)) * scale).astype(np.float32)


def spiked(place: int, n: int = 600) -> Floats:
    x = softmax_row(n, scale=1.0)
    x[0, place] = x.max() + 4
    return x


def diagnosis(x: Floats, y: Floats) -> str:
    verdict = judge("softmax", {"x": x}, {"y": y.astype(np.float32)}, CLAIM)
    assert verdict.status == "broken"
    assert verdict.tier == "arb"
    return verdict.diagnosis


def exact(x: Floats) -> NDArray[np.float64]:
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True).astype(np.float64))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def with_sum(x: Floats, change: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Floats:
    """The exact numerators over a sum that was computed of changed ones."""
    p = exact(x)
    return np.asarray(p / change(p).sum(), dtype=np.float32)


def zeroed(x: Floats, places: slice) -> Floats:
    y = exact(x).astype(np.float32)
    y[:, places] = 0
    return y


def swapped(x: Floats) -> Floats:
    y = exact(x).astype(np.float32)
    y[:, [10, 11]] = y[:, [11, 10]]
    return y


def flushed(x: Floats) -> Floats:
    y = exact(x).astype(np.float32)
    return np.where(y < 2.0**-126, np.float32(0), y)


def clamped(x: Floats) -> Floats:
    e = np.exp(np.maximum(x.astype(np.float64) - x.max(), -20))
    return np.asarray(e / e.sum(), dtype=np.float32)


def to_base(x: Floats, log2_e: float) -> Floats:
    e = np.exp2((x.astype(np.float64) - x.max()) * log2_e)
    return np.asarray(e / e.sum(), dtype=np.float32)


def jittered(x: Floats, u: float) -> Floats:
    """Every element off by up to so many units of 2^-24, some up and some down."""
    signs = np.where(np.arange(x.shape[1]) * 7919 % 13 < 6, 1, -1)
    return np.asarray(exact(x) * (1 + signs * u * 2.0**-24), dtype=np.float32)


def row(*values: float) -> Floats:
    return np.array([values], dtype=np.float32)


WIDE = np.linspace(-60, 0, 600, dtype=np.float32)[None, :]
FAR = row(0, *range(-40, -6))
DENORMAL = np.concatenate([np.zeros((1, 1)), np.linspace(-100, -90, 40)[None, :]], axis=1).astype(np.float32)

PLANTED: list[tuple[str, Floats, Callable[[Floats], Floats]]] = [
    ("denominator x2", softmax_row(), lambda x: with_sum(x, lambda p: 2 * p)),
    ("denominator x32", softmax_row(), lambda x: with_sum(x, lambda p: 32 * p)),
    ("denominator /2", softmax_row(), lambda x: with_sum(x, lambda p: p / 2)),
    ("dropped element", spiked(599), lambda x: with_sum(x, lambda p: p[:, :-1])),
    ("dropped element", spiked(7), lambda x: with_sum(x, lambda p: np.delete(p, 7, axis=1))),
    ("counted twice", spiked(300), lambda x: with_sum(x, lambda p: np.append(p, p[:, 300:301], axis=1))),
    ("denominator", softmax_row(), lambda x: with_sum(x, lambda p: p * 1.00237)),
    ("padding counted", softmax_row(scale=1.0), lambda x: with_sum(x, lambda p: np.append(p, 3 * _zero(x, p)))),
    ("missing rescale", WIDE, planted.BUGS["missing rescale of one partial"]),
    ("all zero", softmax_row(), lambda x: zeroed(x, slice(None))),
    ("zero elements", softmax_row(), lambda x: zeroed(x, slice(590, None))),
    ("copied input", np.abs(softmax_row()) + 1, lambda x: x.copy()),
    ("permuted", softmax_row(), swapped),
    ("permuted", softmax_row(), lambda x: np.roll(exact(x), 1, axis=1).astype(np.float32)),
    ("fast exp", WIDE, planted.BUGS["__expf instead of expf"]),
    ("exp of another base", WIDE, lambda x: to_base(x, 1.4427)),
    ("exp of another base", softmax_row(), lambda x: to_base(x, 1.0)),
    ("less accurate than claimed", softmax_row(), lambda x: jittered(x, 40)),
    ("less accurate than claimed", FAR, lambda x: exact(x) * np.where(x < 0, 1, 1 + 14 * 2.0**-24)),
    ("denominator", softmax_row(), lambda x: with_sum(x, lambda p: p * (1 + 20 * 2.0**-24))),
    ("fp16 intermediate", softmax_row(), planted.BUGS["fp16 intermediate"]),
    ("bf16 intermediate", softmax_row(), planted.BUGS["bf16 intermediate"]),
    ("fp16 intermediate", softmax_row(), lambda x: exact(x).astype(np.float16).astype(np.float32)),
    ("flush to zero", DENORMAL, flushed),
    ("exponent clamped", WIDE, clamped),
    ("wrong elements", softmax_row(), lambda x: exact(x).astype(np.float32) * np.where(np.arange(600) % 7, 1, 1.5)),
]


def _zero(x: Floats, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """What one zero of padding adds to a sum of shares."""
    return np.array([[np.exp(-float(x[0, 0])) * p[0, 0]]])


@pytest.mark.parametrize(("label", "x", "bug"), PLANTED)
def test_a_planted_bug_is_named(label: str, x: Floats, bug: Callable[[Floats], Floats]) -> None:
    assert diagnosis(x, bug(x)) == label


@pytest.mark.parametrize(
    ("not_named", "x", "bug"),
    [
        ("denominator x2", softmax_row(), lambda x: with_sum(x, lambda p: 2.01 * p)),
        ("dropped element", softmax_row(), lambda x: with_sum(x, lambda p: p * 0.7317)),
        ("counted twice", spiked(5), lambda x: with_sum(x, lambda p: p[:, :-1] * 3.3)),
        ("permuted", softmax_row(), lambda x: exact(x) * np.where(np.arange(600) % 5, 1, 1.01)),
        ("fast exp", WIDE, clamped),
        ("fast exp", WIDE, lambda x: with_sum(x, lambda p: p * (1 + 20 * 2.0**-24))),
        ("fast exp", WIDE, lambda x: to_base(x, 1.4427)),
        ("exp of another base", WIDE, planted.BUGS["__expf instead of expf"]),
        ("less accurate than claimed", softmax_row(), lambda x: jittered(x, 200)),
        ("bf16 intermediate", row(88, 89, 90, 91, 92), lambda x: np.full((1, 5), 0.25)),
        ("fp16 intermediate", softmax_row(), planted.BUGS["bf16 intermediate"]),
        ("bf16 intermediate", softmax_row(), planted.BUGS["fp16 intermediate"]),
        ("flush to zero", softmax_row(), lambda x: zeroed(x, slice(0, 5))),
        ("all zero", softmax_row(), lambda x: zeroed(x, slice(1, None))),
        ("missing rescale", softmax_row(), lambda x: with_sum(x, lambda p: p * 1.0777)),
    ],
)
def test_a_neighbouring_bug_is_not_named(not_named: str, x: Floats, bug: Callable[[Floats], Floats]) -> None:
    assert diagnosis(x, bug(x)) != not_named


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("label", "x", "y"),
    [
        ("-inf minus -inf", row(-INF, 1, 2), row(NAN, NAN, NAN)),
        ("0/0", row(-200, -201), row(NAN, NAN)),
        ("overflow", row(200, 201), row(NAN, NAN)),
        ("overflow", row(-INF, 5, 201), row(0, 0, NAN)),
        ("not finite", row(-5, 201), row(NAN, NAN)),  # unshifted, -5 would give 0
        ("sum of 0", row(-300, 0), row(NAN, INF)),
        ("not finite", row(1, 2), row(NAN, 0.73)),
        ("finite sentinel", row(-INF, -INF), row(0.5, 0.5)),
        ("number where NaN belongs", row(-INF, -INF), row(0, 0)),
    ],
)
def test_a_special_value_gone_wrong_is_named(label: str, x: Floats, y: Floats) -> None:
    verdict = judge("softmax", {"x": x}, {"y": y})
    assert (verdict.kind, verdict.diagnosis) == ("special", label)


@pytest.mark.parametrize(
    ("label", "op", "inputs", "got"),
    [
        ("sum x2", "row_sum", {"x": row(1, 2, 3)}, {"y": row(12)[0]}),
        ("dropped element", "row_sum", {"x": row(1, 2, 30)}, {"y": row(3)[0]}),
        ("counted twice", "row_sum", {"x": row(1, 2, 30)}, {"y": row(63)[0]}),
        ("all zero", "row_sum", {"x": row(1, 2, 30)}, {"y": row(0)[0]}),
        ("wrong sum", "row_sum", {"x": row(1, 2, 30)}, {"y": row(77)[0]}),
        ("wrong sum", "row_sum", {"x": row(0, 0)}, {"y": row(5)[0]}),
        ("finite sentinel", "row_max", {"x": row(-INF, -INF)}, {"y": row(-3.4028235e38)[0]}),
        ("max starts too high", "row_max", {"x": row(-5, -4)}, {"y": row(0)[0]}),
        ("max of a part", "row_max", {"x": row(1, 2, 9)}, {"y": row(2)[0]}),
        ("dropped element", "max_sum", {"x": row(0, 0, 0)}, {"m": row(0)[0], "s": row(2)[0]}),
        ("sum x2", "merge_all", {"m": row(0, 0)[0], "s": row(2, 3)[0]}, {"m": row(0)[0], "s": row(10)[0]}),
        (
            "permuted",
            "transpose",
            {"x": row(1, 2, 3, 4, 5, 6).reshape(2, 3)},
            {"y": row(1, 2, 3, 4, 5, 6).reshape(3, 2)},
        ),
        ("same value, other bits", "transpose", {"x": row(-0.0, 2)}, {"y": row(0, 2).T}),
        ("same value, other bits", "transpose", {"x": row(1, -NAN)}, {"y": row(1, NAN).T}),
        ("flush to zero", "transpose", {"x": row(1e-40, 2)}, {"y": row(0, 2).T}),
        ("zero elements", "transpose", {"x": row(1e-30, 2)}, {"y": row(0, 2).T}),
        ("all zero", "transpose", {"x": row(1, 2).reshape(1, 2)}, {"y": row(0, 0).reshape(2, 1)}),
    ],
)
def test_a_wrong_reduction_is_named(label: str, op: str, inputs: dict[str, Floats], got: dict[str, Floats]) -> None:
    verdict = judge(op, inputs, got)
    assert (verdict.status, verdict.diagnosis) == ("broken", label)


@pytest.mark.parametrize(("to", "words"), [(np.round, "rounded"), (np.trunc, "cut off")])
@pytest.mark.parametrize(("label", "bits"), [("tf32 or fp16 inputs", 11), ("bf16 inputs", 8)])
def test_narrowed_matrix_inputs_are_named(
    label: str, bits: int, to: Callable[[NDArray[np.float64]], NDArray[np.float64]], words: str
) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((6, 4)).astype("f4"), rng.standard_normal((4, 5)).astype("f4")

    def narrow(x: Floats) -> NDArray[np.float64]:
        mantissa, power = np.frexp(x.astype(np.float64))
        return np.asarray(np.ldexp(to(np.ldexp(mantissa, bits)), power - bits))

    verdict = judge("sgemm", {"a": a, "b": b}, {"c": (narrow(a) @ narrow(b)).astype("f4")})
    assert verdict.diagnosis == label
    assert verdict.detail == f"the inputs were {words} to {bits} bits"


def test_a_row_stride_that_belongs_to_the_other_matrix_is_named() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((3, 8)).astype("f4"), rng.standard_normal((8, 3)).astype("f4")
    assert judge("sgemm", {"a": a, "b": b}, {"c": (a @ b).T.copy()}).diagnosis == "permuted"


def test_a_broken_verdict_carries_the_worst_element_with_bits_and_bounds() -> None:
    x = softmax_row(64)
    y = exact(x).astype(np.float32)
    y[0, 60:] *= 1.25
    y[0, 62] *= 2
    verdict = judge("softmax", {"x": x}, {"y": y}, CLAIM)
    worst, extent = verdict.worst, verdict.extent
    assert worst is not None
    assert extent is not None
    assert worst.index == (0, 62)
    assert worst.lo <= worst.want <= worst.hi < worst.got
    assert worst.got_bits == f"{int(y.view(np.uint32)[0, 62]):08x}"
    assert worst.want_bits == f"{int(exact(x)[0, 62].astype(np.float32).view(np.uint32)):08x}"
    assert (extent.wrong, extent.elements, extent.rows, str(extent.pattern)) == (4, 64, (0,), "tail, 60..63")
    assert verdict.ratio > 1


@pytest.mark.parametrize(
    ("wrong", "word", "words"),
    [
        ([1, 1, 1, 1], "row", "the whole row"),
        ([0, 0, 0, 1], "tail", "tail, 3"),
        ([1, 1, 0, 0], "head", "head, 0..1"),
        ([0, 1, 1, 0], "interior", "interior, 1..2"),
        ([0, 1, 0, 0, 1, 0, 0, 1], "strided", "every 3th from 1"),
        ([0, 0, 0, 0, 1, 0, 1, 1], "tail", "tail, 4..7"),
    ],
)
def test_a_verdict_says_where_the_wrong_elements_lie(wrong: list[int], word: str, words: str) -> None:
    mask = np.array(wrong, dtype=np.bool_)
    assert (pattern(mask).region, str(pattern(mask))) == (word, words)


@pytest.mark.parametrize("op", [*LONG_KNOWN, "transpose"])
@pytest.mark.parametrize("bad", ["zeros", "NaN"])
def test_zeros_and_nans_are_broken_for_every_op(op: str, bad: str) -> None:
    states = row(0, 1, 2)[0], row(1, 2, 1)[0]
    inputs: dict[str, Floats] = {
        "merge_all": dict(zip(("m", "s"), states, strict=True)),
        "safe_merge": dict(zip(("m1", "s1", "m2", "s2"), states + states, strict=True)),
        "sgemm": {"a": row(1, 2), "b": row(3, 4).T.copy()},
    }.get(op, {"x": row(1, 2, 5)})
    value = np.float32(0 if bad == "zeros" else NAN)
    wants = oracle.want(op, inputs)
    got = {role: np.full(want.shape, value, dtype=np.float32) for role, want in wants.items()}
    assert judge(op, inputs, got).status == "broken"


def test_whether_an_answer_is_kept_needs_no_diagnosis() -> None:
    x = np.linspace(-3, 3, 12, dtype=np.float32).reshape(2, 6)
    e = np.exp(x.astype(np.float64))
    right = np.asarray(e / e.sum(axis=1, keepdims=True), np.float32)
    nothing = np.full_like(x, np.nan)
    for got, inputs in ((right, x), (right * np.float32(1.001), x), (nothing, x), (nothing, nothing), (right, -x)):
        for special in (Special(), Special(nan="row")):
            verdict = judge("softmax", {"x": inputs}, {"y": got}, Accuracy(), special)
            kept = is_kept("softmax", {"x": inputs}, {"y": got}, Accuracy(), special)
            assert kept == (verdict.status == "kept"), verdict


def test_one_row_may_be_given_as_a_vector() -> None:
    assert judge("softmax", {"x": row(0, 0)[0]}, {"y": row(0.5, 0.5)[0]}).status == "kept"


def test_a_single_denominator_is_asked_of_a_row_unless_the_claim_says_otherwise() -> None:
    x = softmax_row(4000, scale=1.0)
    y = exact(x).astype(np.float32)
    y[0, ::2] *= np.float32(1 + 2e-5)  # two sums, each inside the loose enclosure
    assert judge("softmax", {"x": x}, {"y": y}).status == "suspect"
    assert judge("softmax", {"x": x}, {"y": y}, Accuracy(form="e / s")).status == "broken"
    assert judge("softmax", {"x": x}, {"y": y}, Accuracy(denominator="element")).status == "kept"


def shifted(x: Floats, shift: float) -> Floats:
    """Softmax in float32 with this subtracted in the place of the maximum."""
    with np.errstate(all="ignore"):
        e = np.exp((x - np.float32(shift)).astype(np.float64)).astype(np.float32)
        return np.asarray(e / e.sum(axis=1, keepdims=True, dtype=np.float64).astype(np.float32))


LOW = softmax_row(40, scale=1.0) - np.float32(95)
SPREAD = np.sort(softmax_row(40, scale=15.0))
ROWS = np.concatenate([softmax_row(300, seed, 0.1) for seed in range(6)])


@pytest.mark.parametrize(
    ("label", "x", "bug", "words"),
    [
        (
            "shift is not the maximum",
            LOW,
            lambda x: shifted(x, 0),
            "0 was subtracted, nothing, or a maximum that starts",
        ),
        ("shift is not the maximum", SPREAD, lambda x: shifted(x, x[0, 0]), "the first element"),
        ("shift is not the maximum", WIDE, lambda x: shifted(x, x[0, 31]), "the maximum of the first 32"),
        ("another row's sum", ROWS, lambda x: exact(x) * _sums(x) / np.roll(_sums(x), 1), "the sum of row"),
        ("another row's sum", ROWS, lambda x: exact(x) * _sums(x) / _sums(x)[0], "the sum of row 0"),
        ("sum per block", softmax_row(), lambda x: _per_block(x, 128), "each part, of 128 elements"),
        ("sum per block", softmax_row(64), lambda x: _per_block(x, 32), "each part, of 32 elements"),
        ("0/0", LOW - np.float32(20), lambda x: shifted(x, 0), "0 was subtracted, nothing, or a maximum that starts"),
        ("overflow", 2 * WIDE, lambda x: shifted(x, x[0, 31]), "the maximum of the first 32"),
    ],
)
def test_a_defect_is_named_where_the_answer_rebuilt_with_it_fits(
    label: str, x: Floats, bug: Callable[[Floats], Floats], words: str
) -> None:
    with np.errstate(all="ignore"):
        verdict = judge("softmax", {"x": x}, {"y": bug(x).astype(np.float32)}, CLAIM)
    assert (verdict.status, verdict.diagnosis) == ("broken", label)
    assert words in verdict.detail


def _sums(x: Floats) -> NDArray[np.float64]:
    return np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)


def _per_block(x: Floats, width: int) -> NDArray[np.float64]:
    parts = [exact(x[:, start : start + width]) for start in range(0, x.shape[1], width)]
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize(
    ("not_named", "x", "y"),
    [
        ("0/0", row(-200, -201), row(NAN, 1)),  # a shift of 0 would leave no number at all
        ("0/0", row(-85, -86), row(NAN, NAN)),  # no exp of these underflows
        ("overflow", row(87, 80), row(NAN, NAN)),
        ("sum of 0", row(-1, 0), row(NAN, INF)),  # 0.37 / 0 is infinite, too
    ],
)
def test_a_special_value_is_not_explained_by_what_gives_another(not_named: str, x: Floats, y: Floats) -> None:
    assert judge("softmax", {"x": x}, {"y": y}).diagnosis != not_named


def test_a_sum_that_is_off_by_what_any_element_might_be_is_not_a_dropped_one() -> None:
    """Of 5000 elements within a factor of 2 one is always as large as an excess of a 4000th, to rounding."""
    x = softmax_row(5000, scale=0.2)
    assert diagnosis(x, with_sum(x, lambda p: p * (1 - 1 / 4000))) == "denominator"
    spike = softmax_row(5000, scale=0.2)
    spike[0, 1234] += 3
    dropped = with_sum(spike, lambda p: np.delete(p, 1234, axis=1))
    assert diagnosis(spike, dropped) == "dropped element"


@pytest.mark.parametrize(
    ("label", "y"), [("another row's sum", [15.5, 15.5]), ("sum per block", [6.25, 15.5]), ("wrong sum", [6.5, 15.5])]
)
def test_a_sum_of_another_row_or_of_a_block_is_named(label: str, y: list[float]) -> None:
    x = np.zeros((2, 64), "f4")
    x[0, :3], x[0, 40:43], x[1, 0] = (1, 2, 3.25), (5, 7, 11), 15.5
    verdict = judge("row_sum", {"x": x}, {"y": np.array(y, "f4")})
    assert verdict.diagnosis == label
