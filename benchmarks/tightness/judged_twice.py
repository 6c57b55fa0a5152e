"""One case judged twice: by intervals in float64, as kfuzz judges first, and by balls for every element of every row.

kfuzz asks balls only about what float64 finds outside. Here they decide about all elements, so that each row in which
the two differ is counted: `Counts` has one name for each way to differ. The rules of a bound are the same for both;
the arithmetic, the functions and the joint test's ends are not. `definitions.py` has values that share no rule.
Long, since both judges read one case.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from benchmarks.tightness.definitions import Balls
from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.bounds.joint.contraction import contract
from kfuzz.oracle.bounds.joint.scales import find_clashes_of_scales
from kfuzz.oracle.bounds.question import Question
from kfuzz.oracle.judging.slices import split_rows
from kfuzz.oracle.numbers.elements import BY_DTYPE, F64, Element, Reals, store, values
from kfuzz.oracle.numbers.enclosure import PRECISIONS, Doubles, Enclosure, Index, Mask, compare
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.independence import row_axes
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.sets.special import claimed_elements
from kfuzz.oracle.systems.ends import BallEnds
from kfuzz.oracle.systems.value import Quantity

Arrays = Mapping[str, NDArray[Any]]
ANSWERS = ("right", "just inside", "just outside", "beyond")
TO_BALLS = BallEnds().convert
FLOAT64_ALONE, BALLS_ALONE = "for float64 alone", "for balls alone"
MOST_DISTANT = 24
"""An answer beyond a bound lies up to 2^24 places outside of it."""


@dataclass
class Counts:
    """How often the verdicts on rows are the same, and how often and how they differ, with the first few examples."""

    of: Counter[str] = field(default_factory=Counter)
    widest: float = 0.0
    """The most by which an end of float64 lies outside of that of the balls, in places of the answer's type."""
    examples: list[str] = field(default_factory=list)

    def add(self, other: "Counts") -> None:
        """Add the counts of another case."""
        self.of.update(other.of)
        self.widest = max(self.widest, other.widest)
        self.examples = (self.examples + other.examples)[:8]


@dataclass(frozen=True)
class JudgedCase:
    """A case under one claim, and the sieve by which float64 judges it.

    `moved`: by how much each end of float64 is moved outward, relative to itself: 0 as kfuzz has it. Any other number
    is wrong on purpose, and must show.
    """

    op: Op
    given: Arrays
    accuracy: Accuracy
    special: Special
    scalars: Mapping[str, float | str]
    moved: float = 0.0


class Judges(Question):
    """Both judges of one slice of a case; its own intervals are those in float64."""

    def enclosed(self, name: str, moved: float) -> Enclosure:
        """The enclosure in float64."""
        found = self.enclosure(name)
        if not moved:
            return found
        lo, hi = (end + way * moved * np.abs(end) for end, way in ((found.lo, -1), (found.hi, 1)))
        return Enclosure(**{**vars(found), "lo": lo, "hi": hi})

    @cached_property
    def by_balls(self) -> list[tuple[Any, dict[str, Quantity]]]:
        """The formula's run over balls, form by form."""
        with ctx.workprec(PRECISIONS[0]):
            bands = [self.band(form, balls=True) for form in self.forms]
            return [(band, self._run(band, self.inputs)) for band in bands]

    def ends(self, name: str) -> list[tuple[Reals, Reals, Reals]]:
        """lo, hi and whether NaN may be, of every element by balls, form by form."""
        with ctx.workprec(PRECISIONS[0]), np.errstate(all="ignore"):
            return [self._parts(band, made[name], name) for band, made in self.by_balls]

    def must_be_nan(self, name: str, shape: tuple[int, ...]) -> Mask:
        """The elements that the claim wants to be NaN."""
        return claimed_elements(self.op, self.inputs, self.special, name, shape)[2]

    def clashes_by_balls(self, name: str, got: Doubles) -> set[Index]:
        """The rows of which balls are certain that no shared values fit, in any form."""
        rows: set[Index] | None = None
        with ctx.workprec(PRECISIONS[0]), np.errstate(all="ignore"):
            for band, made in self.by_balls:
                found = contract(band, made[name], got.reshape(made[name].shape), self.claim.shared)
                rows = set(found) if rows is None else rows.intersection(found)
        return rows or set()


def judge_twice(case: JudgedCase, right: Arrays, seed: int, exact: Sequence[Balls] = ()) -> Counts:
    """Compare both verdicts on every row of a right answer, and of answers made of it that lie near each bound.

    `exact`: the rows of the one output by its definition, as many as there are; an empty one is not known.
    """
    counts, rng = Counts(), np.random.default_rng(seed)
    for rows, asked, answered in split_rows(case.given, right, row_axes(case.op), case.accuracy.ftz):
        judges = judges_of(case, asked, answered)
        counts.of["input rows"] += max(_rows_of(array) for array in answered.values())
        for name in case.op.outputs:
            enclosure, element = judges.enclosed(name, case.moved), BY_DTYPE[answered[name].dtype]
            _compare_ends(counts, judges, name, enclosure, element)
            _compare_with_definition(counts, enclosure, element, [exact[row] for row in rows] if exact else [])
        for place in ANSWERS:
            answer = make_answer(place, judges, answered, case.moved, rng)
            asked_of = judges_of(case, asked, answer) if case.op.has_grid else judges
            for name in case.op.outputs:
                _compare_verdicts(counts, asked_of, name, place, answer[name], case.moved)
    return counts


def judges_of(case: JudgedCase, given: Arrays, answer: Arrays) -> Judges:
    """Both judges of these inputs; an op whose outputs follow from one another is asked about this answer."""
    op = case.op
    stored = {name: BY_DTYPE[answer[name].dtype] for name, role in op.outputs.items() if role.is_float}
    written = {name: values(answer[name]) for name in op.outputs} if op.has_grid else {}
    return Judges(op, given, case.accuracy, case.special, case.scalars, stored, written)


def make_answer(place: str, judges: Judges, right: Arrays, moved: float, rng: np.random.Generator) -> dict[str, Any]:
    """A right answer, or one with an element of every row at, next to, or beyond an end of what float64 allows."""
    if place == "right":
        return dict(right)
    made = {}
    for name, array in right.items():
        enclosure, element = judges.enclosed(name, moved), BY_DTYPE[array.dtype]
        x = values(array).copy()
        flat, count = x.reshape(_rows_of(x), -1), _rows_of(x)
        at = np.arange(count), rng.integers(0, flat.shape[1], count) if flat.size else 0
        lo, hi = (np.broadcast_to(end, x.shape).reshape(flat.shape)[at] for end in (enclosure.lo, enclosure.hi))
        is_upper = rng.random(count) < 0.5
        with np.errstate(all="ignore"):
            last = last_inside(np.where(is_upper, hi, -lo), element)
            if place == "just outside":
                last = step_up(last, element)
            elif place == "beyond":
                far = np.abs(step_up(last, element) - last) * 2.0 ** rng.integers(1, MOST_DISTANT, count)
                last = element.round(np.asarray(last + far, dtype=np.float64))
                other = rng.choice([np.nan, np.inf, 0.0, -1.0] if element.is_float else [0.0, -1.0], count)
                last = np.where(rng.random(count) < 0.25, other, last)
        known = np.isfinite(lo) & np.isfinite(hi)
        flat[at] = np.where(known, np.where(is_upper, last, -last), flat[at])
        made[name] = store(x, element)
    return made


def last_inside(end: Reals, element: Element) -> Doubles:
    """The greatest number of a type that is not above an end."""
    near = element.round(np.asarray(end, dtype=np.float64))
    return np.where(near > end, -step_up(-near, element), near)


def step_up(x: Doubles, element: Element) -> Doubles:
    """The next number of a type above each of its numbers."""
    if element is F64:
        return np.nextafter(x, np.inf)
    if not element.is_float:
        return element.round(np.floor(x) + 1)
    if element.bits <= 8:
        numbers = np.unique(element.numbers[np.isfinite(element.numbers)])
        place = np.searchsorted(numbers, x, side="right")
        return np.where(place < len(numbers), numbers[np.minimum(place, len(numbers) - 1)], np.inf)
    step = element.last_place(x)
    return element.round(np.where(x < 0, x + 0.51 * step, x + step))  # below 0 the next place may be half as large


def _rows_of(array: NDArray[Any]) -> int:
    return array.size // max(array.shape[-1], 1) if array.ndim > 1 else array.size


def _by_row(mask: Mask) -> Mask:
    """Whether any element of each row is marked."""
    return mask.reshape(_rows_of(mask), -1).any(axis=1)


def _compare_ends(counts: Counts, judges: Judges, name: str, enclosure: Enclosure, element: Element) -> None:
    """Count the ends of float64 that lie inside of those of the balls, which they must not; and how far outside."""
    parts = judges.ends(name)
    known = enclosure.judged & np.isfinite(enclosure.lo) & np.isfinite(enclosure.hi)
    for way, end, which in ((-1, enclosure.lo, 0), (1, enclosure.hi, 1)):
        mine = np.asarray(end)[known]
        theirs = [np.broadcast_to(part[which], known.shape)[known] for part in parts]
        counts.of["ends"] += mine.size
        if not mine.size:
            continue
        of_float = TO_BALLS(mine)
        with ctx.workprec(PRECISIONS[0]):
            gaps = [np.asarray((of_float - one) * way) for one in theirs]  # of each form; the nearest end counts
            nearest = np.min([gap.astype(np.float64) for gap in gaps], axis=0)
            is_inside = np.any([np.asarray(gap < 0, dtype=np.bool_) for gap in gaps], axis=0)
        counts.of["ends of float64 inside"] += int(is_inside.sum())
        with np.errstate(all="ignore"):
            places = nearest / _place(np.asarray(mine, dtype=np.float64), element)
        if np.isfinite(places).any():
            counts.widest = max(counts.widest, float(places[np.isfinite(places)].max()))


def _place(x: Doubles, element: Element) -> Doubles:
    """The distance of the numbers of a type at a number of it."""
    if not element.is_float:
        return np.ones_like(x)
    return np.spacing(np.abs(x)) if element is F64 else element.last_place(x)


def _compare_verdicts(
    counts: Counts, judges: Judges, name: str, kind: str, answer: NDArray[Any], moved: float
) -> None:  # fmt: skip
    """Judge one answer twice, and count the rows by what both say."""
    got, enclosure = values(answer), judges.enclosed(name, moved)
    judged = _by_row(enclosure.judged)
    broken = _by_row(compare(got, enclosure).broken)
    inside, outside = _by_balls(judges, name, got)
    certain = _by_row(outside & enclosure.judged)
    open_ = enclosure.judged & ~inside & ~outside
    for place in map(tuple, np.argwhere(open_).tolist()):
        verdict = _decide(judges, name, float(got[place]), place)
        certain.reshape(-1)[_row_number(place, got.shape)] |= verdict is True
        inside[place] |= verdict is False
    undecided = _by_row(enclosure.judged & ~inside & ~outside) & ~certain
    clashes = [np.zeros(len(judged), dtype=np.bool_) for _ in range(2)]
    if enclosure.joint is not None:
        found = {clash.index[:-1]: clash for clash in enclosure.joint(got) if enclosure.judged[clash.index]}
        if getattr(enclosure.joint, "func", None) is find_clashes_of_scales:  # it asks no ends
            certain_ones = {row for row, clash in found.items() if clash.is_certain()}
        else:
            certain_ones = judges.clashes_by_balls(name, got)
        for rows, marks in ((set(found), clashes[0]), (certain_ones, clashes[1])):
            for row in rows:
                marks[_row_number((*row, 0), got.shape)] = True
    both_kept = judged & ~broken & ~certain & ~undecided
    for what, mask in (
        ("rows judged", judged), ("rows not judged", ~judged), ("undecided", judged & undecided),
        ("broken for both", judged & broken & certain), ("kept by both", both_kept & (clashes[0] == clashes[1])),
        (f"broken {FLOAT64_ALONE}", judged & broken & ~certain & ~undecided),
        (f"broken {BALLS_ALONE}", judged & ~broken & certain),
        ("joint clash for both", both_kept & clashes[0] & clashes[1]),
        (f"joint clash {FLOAT64_ALONE}", both_kept & clashes[0] & ~clashes[1]),
        (f"joint clash {BALLS_ALONE}", both_kept & ~clashes[0] & clashes[1]),
    ):  # fmt: skip
        counts.of[what] += int(mask.sum())
        if what.endswith(("alone", "undecided")):
            counts.of[f"{kind}: {what}"] += int(mask.sum())
        if mask.any() and what.endswith("alone"):
            counts.examples.append(f"{judges.op.name} {name} {kind}: {what}: row {int(np.flatnonzero(mask)[0])}")
    length = got.shape[-1] if got.ndim > 1 else max((one.shape[-1] for one in judges.inputs.values()), default=1)
    counts.of[f"rows of 2^{int(max(length, 1)).bit_length() - 1}"] += int(judged.sum())
    counts.of[f"{kind}: judged"] += int(judged.sum())
    counts.of[f"{kind}: broken"] += int((judged & broken).sum())


def _row_number(place: Index, shape: tuple[int, ...]) -> int:
    return int(np.ravel_multi_index(place[:-1], shape[:-1])) if len(shape) > 1 else place[0]


def _by_balls(judges: Judges, name: str, got: Doubles) -> tuple[Mask, Mask]:
    """The elements that are certainly right, and those that are certainly wrong, by the hull of all forms' balls."""
    is_nan, parts, value = np.isnan(got), judges.ends(name), TO_BALLS(got)
    reaches = [np.zeros(got.shape, dtype=np.bool_) for _ in range(2)]
    beyond = [np.ones(got.shape, dtype=np.bool_) for _ in range(2)]
    may_be_nan = judges.must_be_nan(name, got.shape)
    must, nothing = may_be_nan, np.ones(got.shape, dtype=np.bool_)
    with np.errstate(all="ignore"):
        for lo, hi, nan in parts:
            is_empty = np.asarray(lo > hi, dtype=np.bool_) | must
            nothing &= is_empty
            may_be_nan = may_be_nan | nan
            for number, (is_within, is_out) in enumerate(((value >= lo, value < lo), (value <= hi, value > hi))):
                reaches[number] |= np.asarray(is_within, dtype=np.bool_) & ~is_empty
                beyond[number] &= np.asarray(is_out, dtype=np.bool_) | is_empty
    may_be_nan = may_be_nan | nothing
    inside = np.where(is_nan, may_be_nan, reaches[0] & reaches[1])
    return inside, np.where(is_nan, ~may_be_nan, beyond[0] | beyond[1])


def _decide(judges: Judges, name: str, got: float, place: Index) -> bool | None:
    """Whether an element is outside, by balls of more bits; None if none decides."""
    for bits in PRECISIONS[1:]:
        with ctx.workprec(bits):
            bounds, value = judges.exact(name, place, bits), arb(got)
            if value > bounds.hi or value < bounds.lo:
                return True
            if bounds.lo <= value <= bounds.hi:
                return False
    return None


def _compare_with_definition(counts: Counts, enclosure: Enclosure, element: Element, exact: Sequence[Balls]) -> None:
    """Count the exact values, by an op's definition, whose nearest numbers float64 finds outside."""
    rows = _rows_of(enclosure.want)
    lo, hi, judged = (np.asarray(end).reshape(rows, -1) for end in (enclosure.lo, enclosure.hi, enclosure.judged))
    for row, elements in enumerate(exact):
        if elements:
            stored = element.round(np.array([float(one.mid()) for one in elements]))
            known = judged[row] & (lo[row] <= hi[row])
            counts.of["exact values"] += int(known.sum())
            counts.of["exact values outside"] += int((known & ~((stored >= lo[row]) & (stored <= hi[row]))).sum())
