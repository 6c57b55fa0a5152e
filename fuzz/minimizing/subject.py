"""A failing trial in a form that passes can make smaller: its arrays, its launch, and a measure of its simplicity.

Knows cases, recipes and claims; never whether a smaller one still fails.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from kfuzz.cases.case import Case, Values, case_of
from kfuzz.cases.case_reader import MAX_LITERAL
from kfuzz.cases.recipe import MAX_BANDS, Band, Recipe, bits_of, value_of
from kfuzz.claims.kernel import Kernel

Content = Recipe | Values
Weight = tuple[tuple[int, ...], tuple[int, ...], int, tuple[int, ...]]

ONE, NEG_INF = bits_of(1.0), bits_of(float("-inf"))
LONGEST_NUMBER = 16
PATIENCE = 24
"""After this many refusals in a row a pass goes on to something else."""


@dataclass(frozen=True)
class Subject:
    """One trial that fails and that every pass makes smaller.

    `sources` maps roles to recipes while they are long, and to plain values once they are short. `worst` is the place
    of the worst element, dimension by dimension: a place to begin.
    """

    kernel: Kernel
    sources: Mapping[str, Content]
    tune: Mapping[str, int]
    check: bool
    seed: int
    worst: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def axes(self) -> dict[str, int]:
        """The sizes of the op's dimensions, without fixed ones, the most worthwhile to reduce first."""
        sizes: dict[str, int] = {}
        for role, names in self.kernel.roles.inputs.items():
            source = self.sources[role]
            shape = source.shape if isinstance(source, np.ndarray) else (source.rows, source.cols)
            if len(names) < len(shape):
                shape = (shape[0] * shape[1],)
            sizes |= dict(zip(names, shape, strict=True))
        return {name: size for name, size in sizes.items() if not name.isdigit()}

    @cached_property
    def case(self) -> Case:
        return case_of(self.kernel.op, self.sources)

    @cached_property
    def weight(self) -> Weight:
        """A smaller weight is simpler; it orders by sizes, launch, stretches of equal values, the values themselves."""
        launch = [self.kernel.tune[name].index(value) for name, value in self.tune.items()]
        stretches, length = map(sum, zip(*map(statements_in, self.sources.values()), strict=True))
        return tuple(self.axes.values()), (*launch, self.check), stretches, (length, self.seed)

    def literals(self) -> dict[str, Values]:
        """The arrays that are plain values and short enough to simplify value by value."""
        short = {role: each for role, each in self.sources.items() if isinstance(each, np.ndarray)}
        return {role: each for role, each in short.items() if 0 < each.size <= MAX_LITERAL}

    def recipes(self) -> dict[str, Recipe]:
        return {role: source for role, source in self.sources.items() if isinstance(source, Recipe)}

    def put(self, role: str, source: Content) -> "Subject":
        """The same trial with another array of the same shape."""
        return replace(self, sources={**self.sources, role: source})

    def keep(self, axis: str, indices: Sequence[int]) -> "Subject":
        """The same trial with only these places of a dimension, in every array that has it.

        A shortened recipe keeps its edits of the first and last columns; other values may move.
        """
        sources = dict(self.sources)
        for role, names in self.kernel.roles.inputs.items():
            if axis in names:
                sources[role] = _select(sources[role], names.index(axis), len(names), indices)
        return replace(self, sources=sources)

    def fit_launch(self) -> "Subject":
        """The same trial, with another launch if the claim's conditions exclude this one for its sizes."""
        kernel, axes = self.kernel, self.kernel.axes_of(self.case.arrays)
        if not kernel.where.broken({**axes, **self.tune}):
            return self
        launch = kernel.where.near({**axes, **self.tune}, tuple(kernel.tune)) or next(kernel.tunes(axes))
        return replace(self, tune={name: launch[name] for name in kernel.tune})

    def work_out(self) -> "Subject":
        """The same trial with plain values instead of recipes for short arrays."""
        sources = {role: self.case.arrays[role] if is_short(each) else each for role, each in self.sources.items()}
        return replace(self, sources=sources)


Candidates = Generator[Subject, bool, None]
"""The proposals of a pass, one after the other; it receives whether the last one still fails."""


def subject_of(kernel: Kernel, case: Case, tune: Mapping[str, int], check: bool, seed: int) -> Subject:
    """A case as a subject: with its recipes, and with plain values for arrays that are short or have no recipe."""
    sources: dict[str, Content] = {**case.arrays, **case.recipes}
    return Subject(kernel, sources, {name: tune[name] for name in kernel.tune}, check, seed).work_out()


def is_short(source: Content) -> bool:
    return (source.size if isinstance(source, np.ndarray) else source.elements) <= MAX_LITERAL


def _select(source: Content, place: int, rank: int, indices: Sequence[int]) -> Content:
    if isinstance(source, np.ndarray):
        return np.ascontiguousarray(np.take(source, indices, axis=place))
    is_row = place == 0 if rank == 2 else source.cols == 1
    if not is_row:
        return replace(source, cols=len(indices))
    if len(indices) <= MAX_BANDS:
        return source.pick(list(indices))
    return replace(source, rows=len(indices))


def statements_in(source: Content) -> tuple[int, int]:
    """How many statements describe an array, and how long they are."""
    if isinstance(source, Recipe):
        return 0, sum(map(_band_length, source.bands)) + (source.limits is not None)
    if source.size > MAX_LITERAL:
        return source.size, 0
    values = source.view(np.uint32)[stretch_starts(source)]
    return values.size, sum(map(length_of, values.tolist()))


def stretch_starts(array: Values) -> NDArray[np.bool_]:
    """Where stretches of equal bits begin; each row begins one."""
    bits = array.view(np.uint32)
    begins = np.ones(array.shape, np.bool_)
    begins[..., 1:] = bits[..., 1:] != bits[..., :-1]
    return begins


def _band_length(band: Band) -> int:
    base = length_of(band.base.offset) + (0 if band.base.kind == "constant" else 2 * LONGEST_NUMBER)
    return 1 + base + sum(2 + length_of(edit.bits) for edit in band.edits)


@cache
def length_of(bits: int) -> int:
    """The complexity of a value: 0, 1 and -inf are the simplest, then short decimals, NaN last."""
    simplest = (0, ONE, NEG_INF)
    if bits in simplest:
        return simplest.index(bits)
    value = np.float32(value_of(bits))
    return 2 + (LONGEST_NUMBER if np.isnan(value) else len(str(value).removesuffix(".0")))


def simpler_values(bits: int) -> list[int]:
    """Values that are simpler than this one, the simplest first, among them values near it."""
    value = value_of(bits)
    near: list[float] = [-1.0, 2.0, -2.0, 100.0, -100.0, 1000.0, -1000.0]
    if np.isfinite(value):
        near += [float(round(value)), *(float(f"{value:.{digits}g}") for digits in (1, 2, 3, 4))]
    lengths = {each: length_of(each) for each in (0, ONE, NEG_INF, *map(bits_of, near))}
    return sorted((each for each in lengths if lengths[each] < length_of(bits)), key=lambda each: lengths[each])


def places_without(count: int, first: int, last: int) -> list[int]:
    """The places below `count` without first .. last - 1."""
    return [*range(first), *range(last, count)]


def widths_below(size: int) -> Iterable[int]:
    """Half of a size, a quarter, and so on to 1."""
    width = size // 2
    while width:
        yield width
        width //= 2


def fill_range(values: Values, first: int, last: int, bits: int) -> Values:
    """A copy of the array with these bits in its elements first .. last - 1, in memory order."""
    changed = values.copy()
    changed.view(np.uint32).reshape(-1)[first:last] = bits
    return changed
