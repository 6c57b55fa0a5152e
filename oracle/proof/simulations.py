"""Is every formula's enclosure sound and tight? Test it with simulated kernels of all forms, formats and orders."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from kfuzz.oracle.accuracy.rounding import FLOAT_ACCUMULATORS, Accuracy
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.numbers.elements import F16, F32, F64, Element, Reals, store, values
from kfuzz.oracle.numbers.enclosure import Enclosure
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.independence import independent_dimensions
from kfuzz.oracle.op.names import names_at, names_of
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.role import shape_output
from kfuzz.oracle.op.shapes import Places
from kfuzz.oracle.proof.hard_inputs import MAKERS, inputs_for
from kfuzz.oracle.systems.simulated import KernelManner, Noise, Simulated, SumOrder

ORDERS: tuple[SumOrder, ...] = ("sequential", "tree", "strided", "blocked", "random")
NOISES: tuple[Noise, ...] = ("none", "any", "ends", "high", "low")
CLAIMED = Special(nan="ieee", pos_inf="ieee")


@dataclass
class FormulaTally:
    """The result for one op in one format: rows and elements, those outside, and how much of the bound was used.

    `factors` and `far`: the median and the 99th percentile of bound over error in each batch.
    """

    name: str
    rows: int = 0
    elements: int = 0
    outside: int = 0
    clashes: int = 0
    unjudged: int = 0
    shares: list[float] = field(default_factory=list)
    factors: list[float] = field(default_factory=list)
    far: list[float] = field(default_factory=list)
    first: str = ""

    def add(self, got: Reals, enclosure: Enclosure, what: str) -> None:
        """Tally one answer, given as numbers in the enclosure's shape."""
        with np.errstate(all="ignore"):
            inside = np.where(np.isnan(enclosure.want), np.isnan(got), (got >= enclosure.lo) & (got <= enclosure.hi))
            if enclosure.may_be_nan is not None:
                inside |= enclosure.may_be_nan & np.isnan(got)
            outside = ~inside & enclosure.judged
            bound = np.where(got >= enclosure.want, enclosure.hi - enclosure.want, enclosure.want - enclosure.lo)
            error = np.abs(got - enclosure.want)
            share = np.where(error > 0, error / bound, 0.0)
        self.rows += got.size // max(got.shape[-1], 1) if got.ndim > 1 else got.size
        self.elements += got.size
        self.unjudged += int((~enclosure.judged).sum())
        self.outside += int(outside.sum())
        usable = enclosure.judged & np.isfinite(share) & np.isfinite(enclosure.hi) & np.isfinite(enclosure.lo)
        if usable.any():
            self.shares.append(float(share[usable].max()))
            seen = usable & (error > 0)
            if seen.any():
                self.factors.append(float(np.median(1 / share[seen])))
                self.far.append(float(np.quantile(1 / share[seen], 0.99)))
        if outside.any() and not self.first:
            place = tuple(int(i) for i in np.argwhere(outside)[0])
            self.first = f"{what} {place}: {got[place]!r} outside [{enclosure.lo[place]!r}, {enclosure.hi[place]!r}]"


def depth(order: SumOrder, n: int, width: int = 32) -> int:
    """The additions on any term's way in a simulated order."""
    if order == "tree":
        return max(n - 1, 0).bit_length()
    if order == "strided":
        return -(-n // width) - 1 + (min(width, n) - 1).bit_length()
    if order == "blocked":
        return min(n, width) + -(-n // width) - 2
    return n - 1


def depths(order: SumOrder, sums: Mapping[str, int]) -> dict[str, int]:
    """The same for every sum of an op, by its name and its own number of terms."""
    return {name: depth(order, terms) for name, terms in sums.items()}


@dataclass(frozen=True)
class Setting:
    """One way to simulate and to claim."""

    form: str
    manner: KernelManner
    accumulate: str = F32.name
    ftz: bool = False
    declared: bool = True

    def claim(self, sums: Mapping[str, int]) -> Accuracy:
        """The claim that is true of this kernel for sums of this many terms."""
        loose = Accuracy(
            divide="ieee" if self.manner.divide == "ieee" else "reciprocal", rescales=0, ftz=self.ftz,
            accumulate=self.accumulate, form=self.form or None,
        )  # fmt: skip
        if not self.declared:
            return replace(loose, form="any")
        first = int(self.accumulate == "mma")  # its first products are added to a sum of 0 and truncated there, too
        return replace(loose, adds={name: adds + first for name, adds in depths(self.manner.order, sums).items()})


def settings(op: Op, quick: bool) -> Iterator[Setting]:
    """Every form in every order under every noise, declared and undeclared; then other accumulators and flushing."""
    for form in op.every_form:
        for order in ("sequential", "tree") if quick else ORDERS:
            noises = ("ends",) if quick else NOISES
            for noise in noises:
                divide: Any = "reciprocal" if noise == "any" else "ieee"
                yield Setting(form, KernelManner(order, noise, divide=divide))
            yield Setting(form, KernelManner(order, "ends", divide="reciprocal"), declared=False)
        yield Setting(form, KernelManner("sequential", "ends", fused=True))
        for accumulate in FLOAT_ACCUMULATORS[1:]:
            yield Setting(form, KernelManner("sequential", "none"), accumulate=accumulate)
        yield Setting(form, KernelManner("tree", "ends"), ftz=True)


def sizes(op: Op, quick: bool) -> tuple[int, ...]:
    if set(independent_dimensions(op)[next(iter(op.outputs))]) >= {"rows", "cols"}:
        return (5,)
    if (op.has_many_dimensions and op.name not in MAKERS) or names_of(op).is_deep:
        return (1, 2, 3)
    has_three = max(len(role.dimensions) for _, role in op.roles) > 2  # of 257 in each of three there are 17 million
    return (1, 2, 33) if quick else (1, 2, 3, 33) if has_three else (1, 2, 3, 33, 257)


def simulate(
    op: Op, setting: Setting, claim: Accuracy, inputs: dict[str, Reals], work: Element,
    formats: Mapping[str, Element] | None = None,
) -> dict[str, Reals]:  # fmt: skip
    """The outputs of one simulated kernel, as numbers; `formats`: the types of its outputs."""
    sizes_ = op.sizes_of(inputs)
    N = Simulated(claim, setting.manner, sizes_, work, setting.form, Places(sizes_), formats)
    with np.errstate(all="ignore"):
        made = op.run(N, inputs, sizes_, op.scalars_of(sizes_, {}))
    return {name: shape_output(value.x, op.outputs[name], sizes_) for name, value in made.items()}


def check(op: Op, form: Element, quick: bool, seeds: int = 1) -> FormulaTally:
    """One op in one storage format, over all settings."""
    found = FormulaTally(f"{op.name} {form.name}")
    work = F64 if form is F64 else F32
    for n, seed in product(sizes(op, quick), range(seeds)):
        made = inputs_for(op, n, seed, form is F16)
        arrays = {k: op.store_input(k, a, form) for k, a in made.items()}
        formats = {name: role.stored_as(form) for name, role in op.outputs.items()}
        numbers = {k: values(a) if op.inputs[k].is_float else a for k, a in arrays.items()}
        sums = names_at(op, numbers).sums
        known: dict[Any, Any] = {}
        for setting in settings(op, quick):
            if work is F64 and setting.accumulate != F32.name:
                continue
            claim = setting.claim(sums)
            key = repr(claim)
            manner = replace(setting.manner, seed=seed + n)
            got = simulate(op, replace(setting, manner=manner), claim, numbers, work, formats)
            if key not in known or op.has_grid:  # one output of such an op follows from another
                written = {name: _stored(x, formats[name], work) for name, x in got.items()}
                with np.errstate(all="ignore"):
                    known[key] = enclose(op, arrays, claim, CLAIMED, {}, formats, None, written)
            for name, enclosure in known[key].items():
                answer = _stored(got[name], formats[name], work)
                found.add(answer, enclosure, f"n={n} {setting}")
                if (
                    enclosure.joint is not None
                    and setting.manner.noise == "ends"
                    and not known.get((key, name, setting.manner.order))
                ):
                    known[key, name, setting.manner.order] = True
                    found.clashes += sum(clash.is_certain() for clash in enclosure.joint(answer))
    return found


def _stored(x: Reals, form: Element, work: Element) -> Reals:
    return values(store(np.asarray(x, dtype=np.float64), form)) if form is not work else x
