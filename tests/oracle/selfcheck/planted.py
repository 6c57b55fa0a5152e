"""Does the verdict detect planted bugs? Thirteen in a three-pass softmax, compared with the tolerances in use.

A bug is active on a row when its output differs in bits from the correct kernel's; only active rows count.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.accuracy.rounding import Accuracy, Order
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.judging.judge import worst_element
from kfuzz.oracle.numbers.enclosure import FLT_MAX, compare
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.proof.hard_rows import NEARLY_CONSTANT, TILE, Row, family_rows
from tests.oracle.selfcheck.algorithms import total
from tests.oracle.selfcheck.number import Float32

STRIDED = Order("strided", TILE)
N = Float32()
FAST = Float32("ex2")
Output = NDArray[np.float32]


def correct(x: Row) -> Output:
    """Three passes, with the sum by 256 threads and a tree."""
    return _softmax(x, x.max(axis=1, keepdims=True))


def _softmax(x: Row, shift: Row, numbers: Float32 = N, narrow: Callable[[Output], Output] | None = None) -> Output:
    e = numbers.exp(numbers.sub(x, shift))
    e = narrow(e) if narrow else e
    return _divide(e, total(N, e, STRIDED))


def _divide(e: Output, s: Output) -> Output:
    return np.asarray(N.div(e, s[:, None]))


def _exps(x: Row) -> Output:
    return np.asarray(N.exp(N.sub(x, x.max(axis=1, keepdims=True))))


def _drop_last(x: Row) -> Output:
    e = _exps(x)
    return _divide(e, total(N, e[:, :-1], STRIDED))


def _double_sum(x: Row) -> Output:
    e = _exps(x)
    return _divide(e, N.mul(total(N, e, STRIDED), np.full(len(x), 2, np.float32)))


def _skip_rescale(x: Row) -> Output:
    """The first thread's partial sum stays relative to its own maximum."""
    e, mine = _exps(x), np.zeros(x.shape[1], dtype=np.bool_)
    mine[::TILE] = True
    own = x[:, mine].max(axis=1, keepdims=True)
    own = np.where(np.isfinite(own), own, np.float32(0))
    terms = e.copy()
    terms[:, mine] = N.exp(N.sub(x[:, mine], own))
    return _divide(e, total(N, terms, STRIDED))


def _sum_padding(x: Row) -> Output:
    """The row is padded to a multiple of the tile with -FLT_MAX, and the padding is summed."""
    short = -x.shape[1] % TILE
    padded = np.concatenate([x, np.full((len(x), short), -FLT_MAX, np.float32)], axis=1)
    e = np.asarray(N.exp(N.sub(padded, padded.max(axis=1, keepdims=True))))
    return _divide(e, total(N, e, STRIDED))[:, : x.shape[1]]


def _count_twice(x: Row) -> Output:
    e, middle = _exps(x), x.shape[1] // 2
    return _divide(e, total(N, np.concatenate([e, e[:, middle : middle + 1]], axis=1), STRIDED))


def _to_half(e: Output) -> Output:
    return e.astype(np.float16).astype(np.float32)


def _to_bfloat(e: Output) -> Output:
    bits = np.ascontiguousarray(e).view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (rounded & np.uint32(0xFFFF0000)).view(np.float32)


def _leave_last(x: Row) -> Output:
    y = correct(x)
    y[:, -1] = 0
    return y


def _swap_neighbours(x: Row) -> Output:
    y, middle = correct(x), x.shape[1] // 2
    y[:, [middle, middle + 1]] = y[:, [middle + 1, middle]]
    return y


BUGS: dict[str, Callable[[Row], Output]] = {
    "dropped last element of the sum": _drop_last,
    "sum doubled": _double_sum,
    "missing rescale of one partial": _skip_rescale,
    "-FLT_MAX padding": _sum_padding,
    "max initialised to 0": lambda x: _softmax(x, np.maximum(x.max(axis=1, keepdims=True), np.float32(0))),
    "one element counted twice": _count_twice,
    "__expf instead of expf": lambda x: _softmax(x, x.max(axis=1, keepdims=True), FAST),
    "fp16 intermediate": lambda x: _softmax(x, x.max(axis=1, keepdims=True), narrow=_to_half),
    "bf16 intermediate": lambda x: _softmax(x, x.max(axis=1, keepdims=True), narrow=_to_bfloat),
    "output scaled by 1 + 1e-5": lambda x: (correct(x) * np.float32(1 + 1e-5)).astype(np.float32),
    "last element not written": _leave_last,
    "two neighbours swapped": _swap_neighbours,
    "max ignores the last tile": lambda x: _softmax(
        x, x[:, : (x.shape[1] - 1) // TILE * TILE].max(axis=1, keepdims=True)
    ),
}

DECLARED = Accuracy(rescales=0, divide="ieee", order=STRIDED)
CRITERIA: dict[str, Accuracy | tuple[float, float]] = {
    "1e-2/1e-2": (1e-2, 1e-2),
    "1e-4/1e-5": (1e-4, 1e-5),
    "assert_close": (1.3e-6, 1e-5),
    "any order": Accuracy(rescales=0, divide="ieee", denominator="element"),
    "declared": replace(DECLARED, denominator="element"),
    "default": DECLARED,
    "exact shift": replace(DECLARED, exact_shift=True),
}
"""A pair is (rtol, atol) of allclose against the exact answer; "default" is "declared" and the row-factor test."""


@dataclass
class Line:
    """One bug: the number of rows on which it is active, and how many of those each criterion catches."""

    name: str
    active: int
    caught: dict[str, int]


@np.errstate(all="ignore")
def count_bugs(n: int, seed: int) -> list[Line]:
    """For rows of one size: false alarms on the correct kernel, the first line, then every bug."""
    x = family_rows(n, seed, NEARLY_CONSTANT)
    right, want = correct(x), _want(x)
    answers = {"correct kernel": right, **{name: bug(x) for name, bug in BUGS.items()}}
    found = {}
    for name, got in answers.items():
        differs = (right.view(np.uint32) != np.ascontiguousarray(got).view(np.uint32)).any(axis=1)
        found[name] = np.flatnonzero(differs | (got is right))
    lines = {name: Line(name, len(places), {}) for name, places in found.items()}
    for criterion, rule in CRITERIA.items():
        rejected = dict.fromkeys(answers, 0)
        for row in range(len(x)):
            some = [name for name, places in found.items() if row in places]
            here = slice(row, row + 1)
            is_wrong = OneRow(x[here], rule) if isinstance(rule, Accuracy) else Near(want[here], *rule)
            for name in some:
                rejected[name] += is_wrong(answers[name][here])
        for name, line in lines.items():
            line.caught[criterion] = rejected[name]
    return list(lines.values())


def join_lines(parts: Iterable[Sequence[Line]]) -> list[Line]:
    """The lines of several sizes, summed."""
    every: dict[str, Line] = {}
    for line in (line for part in parts for line in part):
        whole = every.setdefault(line.name, Line(line.name, 0, dict.fromkeys(line.caught, 0)))
        whole.active += line.active
        for criterion, count in line.caught.items():
            whole.caught[criterion] += count
    return list(every.values())


class OneRow:
    """Whether the verdict on one row is *broken*: as `judge` decides it, without the diagnosis.

    The certain facts about a row are computed once for all answers to it.
    """

    def __init__(self, x: Row, claim: Accuracy) -> None:
        op = find("softmax")
        self.enclosure = enclose(op, {"x": x}, claim, Special())["y"]

    def __call__(self, got: Output) -> bool:
        """Whether an element is certified to be outside, or no sum fits all elements."""
        numbers = got.astype(np.float64)
        compared = compare(numbers, self.enclosure)
        if worst_element(numbers, self.enclosure, compared) is not None:
            return True
        joint = self.enclosure.joint
        return joint is not None and any(clash.is_certain() for clash in joint(numbers))


@dataclass(frozen=True)
class Near:
    """Whether a row fails `allclose` against the exact answer, by the rule and tolerance of the tools compared."""

    want: NDArray[np.float64]
    rtol: float
    atol: float

    def __call__(self, got: Output) -> bool:
        return not np.allclose(got.astype(np.float64), self.want, rtol=self.rtol, atol=self.atol, equal_nan=True)


def _want(x: Row) -> NDArray[np.float64]:
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True).astype(np.float64))
    return np.asarray(e / e.sum(axis=1, keepdims=True))
