"""The set of right answers, for every element of every output, for one case under one claim.

An op that has `answers` gives the sets itself. Any other op runs over bands, once for each form that the claim may
mean, and one row at a time over balls where float64 cannot decide. Knows the number systems, but no op.
Long, since one question is asked in float64, in long doubles and in balls.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from flint import arb, ctx

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.bounds.by_slopes import DeepEnds, bound_by_slopes
from kfuzz.oracle.bounds.joint.boxes import Contradiction
from kfuzz.oracle.bounds.joint.clashes import find_clashes
from kfuzz.oracle.bounds.joint.contraction import contract
from kfuzz.oracle.bounds.joint.scales import UnseenScale, find_clashes_of_scales
from kfuzz.oracle.bounds.rearranged import loosest_ends, names_a_way
from kfuzz.oracle.numbers.elements import F32, F64, FORMATS, OF_DTYPE, Element, Reals, values
from kfuzz.oracle.numbers.enclosure import Bounds, Clash, Doubles, Enclosure, Index, Mask
from kfuzz.oracle.numbers.grid import grid_of
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.numbers.verdict import Reason, Special, Why
from kfuzz.oracle.op.answer_sets import AnswerSet, Asked
from kfuzz.oracle.op.independence import independent_dimensions
from kfuzz.oracle.op.names import check_names, forms_that_keep, names_of
from kfuzz.oracle.op.op import NamedReals, Op
from kfuzz.oracle.op.role import shape_output
from kfuzz.oracle.op.shapes import Lengths, Places, slice_places
from kfuzz.oracle.sets.special import check_special, claimed_elements
from kfuzz.oracle.sets.two_values import draw_neighbours
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.ends import BallEnds, Endpoints, FloatEnds, as_ball
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.exponents import COMMON
from kfuzz.oracle.systems.rules.quantized import Shares, roundings
from kfuzz.oracle.systems.value import Quantity

MOST_IN_BALLS = 1 << 20
"""Numbers of which one answer is made: balls of four million take more than 6 GB and many minutes."""
MOST_DEEP = 1 << 15
"""Elements of the inputs of a formula that is a loop written out: hundreds of probes for each take gigabytes."""


def enclose(
    op: Op, inputs: NamedReals, accuracy: Accuracy, special: Special, scalars: Mapping[str, float | str] | None = None,
    stored: Mapping[str, Element] | None = None, sizes: Lengths | None = None, written: NamedReals | None = None,
) -> dict[str, Enclosure]:  # fmt: skip
    """Enclose every output: by the claimed form, or by the union of all (R8).

    `stored`: the format of each output. `sizes`: the dimensions that only answers have. `written`: the numbers of each
    output, for a formula in which one output follows from another as it was written.
    """
    check_special(op, special)
    if op.answers is not None:
        check_names(op, accuracy)
        return op.answers(inputs, accuracy, special, op.sizes_of(inputs, scalars) | dict(sizes or {}))
    if op.sets is not None:
        every = enclose_sets(op, inputs, accuracy, special, scalars, stored, written)
        return {name: one.enclosure for name, one in every.items()}
    question = Question(op, inputs, accuracy, special, scalars or {}, stored or {}, written or {})
    return {name: question.enclosure(name) for name in op.outputs}


def enclose_sets(
    op: Op, inputs: NamedReals, accuracy: Accuracy, special: Special, scalars: Mapping[str, float | str] | None = None,
    stored: Mapping[str, Element] | None = None, written: NamedReals | None = None,
) -> dict[str, AnswerSet]:  # fmt: skip
    """The sets that an op's file gives for every output."""
    assert op.sets is not None, "asked of an op whose file gives sets"
    check_names(op, accuracy)
    sizes, given = op.sizes_of(inputs, scalars), scalars or {}
    numbers = {name: values(array) if op.inputs[name].is_float else array for name, array in inputs.items()}
    types = {name: OF_DTYPE.get(array.dtype, F32) for name, array in inputs.items() if op.inputs[name].is_float}
    return op.sets(
        Asked(numbers, op.scalars_of(sizes, given), sizes, accuracy, special, stored or {}, written or {}, types)
    )


def enclose_rounded(
    op: Op, inputs: NamedReals, accuracy: Accuracy, special: Special, scalars: Mapping[str, float | str],
    stored: Mapping[str, Element], written: NamedReals,
) -> dict[str, AnswerSet]:  # fmt: skip
    """The outputs of a quantizer that rounds at random, with the probability of each upper number."""
    question = Question(op, inputs, accuracy, special, scalars, stored, written)
    found = {}
    for name in op.outputs:
        made = question.results[0][name]
        made = made.how[1] if made.how[:1] == ("stored",) else made
        if len(question.forms) == 1 and made.how[:1] == ("quantized",) and isinstance(made.how[3], Shares):
            enclosure = question.enclosure(name)
            found[name] = draw_neighbours(enclosure, made.how[3], enclosure.want.shape)
    return found


class Question:
    """One case under one claim: the bands of all forms over the case, and balls over single rows of it."""

    def __init__(
        self, op: Op, inputs: NamedReals, accuracy: Accuracy, special: Special,
        scalars: Mapping[str, float | str], stored: Mapping[str, Element], written: NamedReals | None = None,
    ) -> None:  # fmt: skip
        self.op, self.claim, self.special, self.stored = op, accuracy, special, stored
        self.written = written or {}
        self.given, self.given_scalars = inputs, scalars
        self.inputs = {n: values(a) if op.inputs[n].is_float else a for n, a in inputs.items()}
        self.sizes = op.sizes_of(inputs, scalars)
        given = [OF_DTYPE.get(a.dtype, F32) for n, a in inputs.items() if op.inputs[n].is_float]
        self.work = F64 if F64 in given else F32
        claimed = [FORMATS[name] for name in (accuracy.operand, *accuracy.keep.values()) if name]
        self.least = max(form.min_normal for form in (*given, *claimed, self.work))
        self.scalars, self.derived = op.scalars_of(self.sizes, scalars), op.derived_scalars(scalars)
        check_names(op, accuracy)
        self.forms = forms_that_keep(op, accuracy.rounds, op.forms_of(accuracy.form))
        self.deep = self._bound_by_slopes() if names_of(op).is_deep and accuracy.denominator == "row" else None
        sets = not (self.deep and self.work is F64)  # of 80 bits, and useless for a deep formula
        self.bands = [self.band(form) for form in self.forms] if sets else []
        self.results = [self._run(band, self.inputs) for band in self.bands]
        self._rows: dict[tuple[Index, int, str], Any] = {}

    def band(
        self, form: str, only: Lengths | None = None, balls: bool = False, ends: Endpoints | None = None
    ) -> Bands:  # fmt: skip
        return Bands(
            self.claim, self.sizes, self.work, form, BallEnds() if balls else ends,
            Places(self.sizes, only), self.special, self.least, self.stored,
            self._cut_answers(only or {}), is_silent=self.op.is_whole and self.special.all_neg_inf is None,
        )  # fmt: skip

    def _bound_by_slopes(self) -> dict[str, DeepEnds] | None:
        """The ends of each output by the slopes of its steps; None unless every form has such a bound."""
        if self.op.is_whole and sum(one.size for one in self.inputs.values()) > MOST_DEEP:
            return None
        if self.claim.shared == () or not all(role.is_float for role in self.op.outputs.values()):
            return None
        every: dict[str, DeepEnds] = {}
        for form in self.forms:
            made = bound_by_slopes(
                self.op, form, self.claim, self.inputs, self.sizes, self.scalars, self.derived, self.work, self.least
            )
            if made is None:
                return None
            every = {name: one.united(every[name]) if name in every else one for name, one in made.items()}
        return every

    def _within(self, name: str) -> tuple[Doubles, Doubles]:
        """The same ends as stored numbers, in the output's shape."""
        assert self.deep is not None
        form, role = self.stored.get(name, self.work), self.op.outputs[name]
        with np.errstate(all="ignore"):
            lo, hi = (form.round(end) for end in (self.deep[name].lo, self.deep[name].hi))
        return shape_output(lo, role, self.sizes), shape_output(hi, role, self.sizes)

    def _cut_answers(self, only: Lengths) -> dict[str, Reals]:
        """What the kernel wrote, cut to the places of some dimensions."""
        cut = {}
        for role, array in self.written.items():
            cut[role] = array[slice_places(self.op.outputs[role].dimensions, only, self.sizes)]
        return cut

    def _run(self, band: Bands, inputs: NamedReals) -> dict[str, Quantity]:
        with np.errstate(all="ignore"):
            results = self.op.run(band, inputs, self.sizes, self.scalars, self.derived)
            return {name: band.store(value, self.stored.get(name, band.f)) for name, value in results.items()}

    def _parts(
        self, band: Bands, value: Quantity, name: str, only: Lengths | None = None
    ) -> tuple[Reals, Reals, Reals]:
        """lo, hi and whether NaN is possible, in the output's shape; masked rows as claim or op define them."""
        role = self.op.outputs[name]
        full = np.broadcast_shapes(*(part.shape for part in value.parts))
        lo, hi, nan = (part if part.shape == full else np.broadcast_to(part, full) for part in value.parts)
        word = self.special.all_neg_inf or self.op.special.get("all_neg_inf", "nan")
        for mark in band.masked if word != "nan" else ():
            mask = np.broadcast_to(mark, full) if _fits(mark.shape, full) else np.zeros(full, dtype=np.bool_)
            end, nan = -np.inf if word == "-inf or nan" else 0.0, nan & ~mask if word == "zero" else nan | mask
            lo, hi = np.where(mask, end, lo), np.where(mask, end, hi)
        return tuple(shape_output(part, role, self.sizes, only) for part in (lo, hi, nan))  # type: ignore[return-value]

    def enclosure(self, name: str) -> Enclosure:
        """Enclose one output by the union of the forms; elements of which the claim says nothing are not judged."""
        enclosed = self._enclose_numbers(name)
        made = [results[name] for results in self.results]
        if not made or any(one.how[:1] != ("places",) for one in made):
            return enclosed
        is_known = all(band.is_point(one.how[2]) for band, one in zip(self.bands, made, strict=True))

        def holds(got: Doubles) -> Mask:
            right: Mask = np.any([one.how[1].holds(got).reshape(got.shape) for one in made], axis=0)
            return right

        return replace(
            enclosed, holds=holds, joint=None, is_wrong=None if is_known else partial(self._is_no_place, name)
        )

    def _is_no_place(self, name: str, got: float, index: Index) -> bool:
        """Whether balls exclude this place in every form."""
        for form in self.forms:
            cut, only = self.slice_inputs(name, index)
            with ctx.workprec(128), np.errstate(all="ignore"):
                made = self._run(self.band(form, only, balls=True), cut)[name]
            at = tuple(0 if d in only else i for d, i in zip(self.op.outputs[name].dimensions, index, strict=True))
            shape = [1 if d in only else self.sizes[d] for d in self.op.outputs[name].dimensions]
            if made.how[1].holds(np.full(shape, got)).reshape(shape)[at]:
                return False
        return True

    def _enclose_numbers(self, name: str) -> Enclosure:
        """Enclose one output by intervals."""
        parts = [self._parts(band, made[name], name) for band, made in zip(self.bands, self.results, strict=True)]
        within = self._within(name) if self.deep else None
        lo, hi, nan = unite(parts) if parts else (*within, np.zeros(within[0].shape, dtype=np.bool_))  # type: ignore[misc,index]
        lost = np.isnan(lo) | np.isnan(hi)  # float64 overflowed on the way, so nothing is known
        if self.op.is_gradient:
            lost |= nan
        if any_of(lost):
            lo, hi, nan = np.where(lost, -np.inf, lo), np.where(lost, np.inf, hi), nan | lost
        if within is not None:  # in the tubes of a deep formula every value is a number
            lo, hi, nan = np.maximum(lo, within[0]), np.minimum(hi, within[1]), np.zeros(lo.shape, dtype=np.bool_)
        want = self._want(name)
        claimed, reasons, must = claimed_elements(self.op, self.inputs, self.special, name, lo.shape)
        if any_of(must):
            lo, hi, nan = np.where(must, np.inf, lo), np.where(must, -np.inf, hi), nan | must
        open_ = (lo == -np.inf) & (hi == np.inf) & nan
        judged = claimed & ~open_
        notes = {reason: count for band in self.bands if within is None for reason, count in band.notes.items()}
        reasons += tuple(replace(reason, count=count) for reason, count in notes.items())
        if any_of(open_) and not notes:
            reasons += self._reasons_of_open(open_, parts)
        only_nan = lo > hi
        with np.errstate(invalid="ignore"):
            if any_of(is_nan := np.isnan(want)):
                want = np.where(is_nan, lo, want)
            want = np.clip(want, lo, hi)
            if any_of(only_nan):
                want, lo, hi = (np.where(only_nan, np.nan, end) for end in (want, lo, hi))
        none = np.broadcast_to(0.0, lo.shape)
        is_shared = self.claim.denominator == "row" and self.claim.shared != ()
        may_join = within is None and not self.op.has_grid and is_shared
        joint = self._joint(name) if may_join else None
        enclosed = Enclosure(
            want, lo, hi, judged, none, none, lambda index, bits: self.exact(name, index, bits), joint, reasons,
            may_be_nan=nan & ~only_nan, within=within,
        )  # fmt: skip
        return self._by_shares(name, enclosed, claimed)

    def _by_shares(self, name: str, enclosed: Enclosure, claimed: Mask) -> Enclosure:
        """Enclose means by the loosest bound, too, where the forms' sets are as wide as what is averaged."""
        made = [one[name] for one in self.results]
        made = [one.how[1] if one.how[:1] == ("stored",) else one for one in made]
        if not made or any(one.how[:1] != ("average",) for one in made):
            return enclosed
        averaged = np.asarray(made[0].how[2].lo, dtype=np.float64)
        numbers = averaged[np.isfinite(averaged)]
        apart = np.ptp(numbers) if numbers.size else 0.0
        wide = claimed & np.isfinite(enclosed.want) & (enclosed.hi - enclosed.lo > COMMON * apart)
        if not any_of(wide) or names_a_way(self.op, replace(self.claim, form=None, rescales=None)):
            return enclosed
        loosest = loosest_ends(self.op, self.given, self.claim, self.given_scalars, self.stored)
        return enclosed if loosest is None else loosest[name].narrow(enclosed, wide)

    def _reasons_of_open(self, open_: Mask, parts: list[tuple[Reals, Reals, Reals]]) -> tuple[Reason, ...]:
        """Why any value may be right of these elements: a variance of some form cancels, or another rule."""
        cancelled, others = np.zeros_like(open_), np.zeros_like(open_)
        for form, (lo, hi, nan) in zip(self.forms, parts, strict=False):
            is_open = (np.isnan(lo) | np.isnan(hi) | ((lo == -np.inf) & (hi == np.inf) & nan)).astype(np.bool_)
            if form in self.op.fragile_forms:
                cancelled |= is_open
            else:
                others |= is_open
        cancelled &= open_ & ~others
        counts = {Why.CANCELS: int(cancelled.sum()), Why.ANYTHING: int((open_ & ~cancelled).sum())}
        return tuple(Reason(why, count) for why, count in counts.items() if count)

    def _want(self, name: str) -> Doubles:
        N = Exact(self.sizes, self.forms[0], index=Places(self.sizes), formats=self.stored, answers=self.written)
        with np.errstate(all="ignore"):
            made = self.op.run(N, self.inputs, self.sizes, self.scalars)[name]
        return np.asarray(shape_output(made.x, self.op.outputs[name], self.sizes), dtype=np.float64)

    # -- rows by themselves, by balls

    def slice_inputs(self, name: str, index: Index, keep_last: bool = False) -> tuple[dict[str, Reals], dict[str, int]]:
        """The inputs that one element's answer needs: its own index along every independent dimension."""
        dimensions, apart = self.op.outputs[name].dimensions, independent_dimensions(self.op)[name]
        only = {d: i for d, i in zip(dimensions, index, strict=False) if d in apart and not self.op.is_whole}
        if keep_last:
            only.pop(dimensions[-1], None)
        cut = {}
        for role, array in self.inputs.items():
            place = slice_places(self.op.inputs[role].dimensions, only, self.sizes)
            cut[role] = array[place]
        return cut, only

    def exact(self, name: str, index: Index, bits: int) -> Bounds:
        """Enclose one element by balls, at the precision that the caller has set, or of a long row by long doubles.

        Both err outward only; a ball's error is the smaller one.
        """
        if not self.bands:
            lo, hi = (arb(float(end[index])) for end in self._within(name))
            return Bounds(lo, (lo + hi) / 2, hi)
        parts = []
        for form in self.forms:
            rows, only = self._row_by_balls(name, index, bits, form)
            lo, hi, _ = (
                part[tuple(0 if d in only else i for d, i in zip(self.op.outputs[name].dimensions, index, strict=True))]
                for part in rows
            )
            parts.append((lo, hi))
        some = [(lo, hi) for lo, hi in parts if not lo > hi]
        if not some:
            return Bounds(arb("nan"), arb("nan"), arb("nan"))
        lo = min((as_ball(lo) for lo, _ in some), key=float)
        hi = max((as_ball(hi) for _, hi in some), key=float)
        return Bounds(lo, (lo + hi) / 2, hi)

    def _row_by_balls(
        self, name: str, index: Index, bits: int, form: str
    ) -> tuple[tuple[Reals, Reals, Reals], dict[str, int]]:
        cut, only = self.slice_inputs(name, index)
        key = (tuple(only.values()), bits, f"{form} {name}")
        if key not in self._rows:
            if len(self._rows) > 8:
                self._rows.clear()
            with ctx.workprec(bits), np.errstate(all="ignore"):
                is_long = max(one.size for one in cut.values()) > MOST_IN_BALLS
                ends = FloatEnds(np.longdouble) if is_long else BallEnds()
                band = self.band(form, only, ends=ends)
                self._rows[key] = self._parts(band, self._run(band, cut)[name], name, only)
        return self._rows[key], only

    # -- the joint test

    def _joint(self, name: str) -> Callable[[Doubles], Iterator[Clash]] | None:
        """The joint test of a row's elements, for an output whose last dimension is not independent."""
        unseen = [
            self._unseen_scale(band, made[name], name) for band, made in zip(self.bands, self.results, strict=True)
        ]
        if any(one is not None for one in unseen):
            return partial(find_clashes_of_scales, unseen[0]) if len(unseen) == 1 and unseen[0] else None
        dimensions, apart = self.op.outputs[name].dimensions, independent_dimensions(self.op)[name]
        if len(dimensions) < 2 or dimensions[-1] in apart:
            return None
        return partial(find_clashes, partial(self._contradictions, name), self.forms)

    def _unseen_scale(self, band: Bands, made: Quantity, name: str) -> UnseenScale | None:
        """The scale by which an output was quantized and dequantized, where no output shows it."""
        product = made.how[1] if made.how[:1] == ("stored",) else made
        code = product.how[1] if product.how[:1] == ("mul",) else None
        if code is None or code.how[:1] != ("quantized",) or self.claim.quantize.round != "even":
            return None
        g, s = code.how[1], code.how[2]
        low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), s.shape) for end in (s.lo, s.hi))
        x = np.asarray(g.lo if band.is_point(g) else np.full(g.shape, np.nan), dtype=np.float64)
        grid = grid_of(band.element_of(band.form))
        stored = self.stored.get(name, band.f)
        return UnseenScale(x, low, high, code.blocks, grid, roundings(band, s), band.f, stored)

    def _contradictions(
        self, name: str, got: Doubles, form: str, row: Index | None = None
    ) -> dict[Index, Contradiction]:
        if row is None:
            band, value = self.bands[self.forms.index(form)], got
            made = self.results[self.forms.index(form)][name]
        else:
            inputs, only = self.slice_inputs(name, row, keep_last=True)
            dimensions = self.op.outputs[name].dimensions
            place = tuple(slice(only[d], only[d] + 1) if d in only else slice(None) for d in dimensions)
            band, value = self.band(form, only, balls=True), got[place]  # as a group's channels, rows may share a value
            made = self._run(band, inputs)[name]
        return contract(band, made, value.reshape(made.shape), self.claim.shared)


def _fits(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(small, large) == large
    except ValueError:
        return False


def unite(parts: list[tuple[Reals, Reals, Reals]]) -> tuple[Reals, Reals, Reals]:
    """Return the union of sets; an empty interval adds only NaN."""
    lo, hi, nan = parts[0]
    for other_lo, other_hi, other_nan in parts[1:]:
        lo, hi, nan = np.minimum(lo, other_lo), np.maximum(hi, other_hi), nan | other_nan
    nan = np.asarray(nan)
    return np.asarray(lo), np.asarray(hi), nan if nan.shape == lo.shape else np.broadcast_to(nan, lo.shape)
