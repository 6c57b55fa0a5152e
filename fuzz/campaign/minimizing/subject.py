"""A failing trial in a form that passes can make smaller: its arrays, its launch, and a measure of its simplicity.

Knows cases, recipes and claims; never whether a smaller one still fails.
Long, since each cut of a dimension goes through arrays, integers and launch together.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from kfuzz.cases.case import Case, Values, bits_in, case_for, element_in
from kfuzz.cases.case_reader import MAX_LITERAL
from kfuzz.cases.recipe import MAX_BANDS, Band, Recipe, bits_of, value_of
from kfuzz.claims.grid_numbers import encode_numbers
from kfuzz.claims.kernel import Kernel
from kfuzz.oracle.numbers.elements import F32, Element
from kfuzz.oracle.op.shapes import lengths_of
from kfuzz.oracle.op.structure import Structure

Content = Recipe | Values
Weight = tuple[tuple[int, ...], tuple[int, ...], int, tuple[int, ...]]

ONE, NEG_INF = bits_of(1.0), bits_of(float("-inf"))
LONGEST_NUMBER = 16
LONG = 1 << 30
"""A length whose groups are so many that it does not matter whether the last is a whole one."""
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
        """The sizes that may be reduced, the most worthwhile first; those that follow from others are left out."""
        derived = self.kernel.derived_sizes(self.dimensions)
        return {name: size for name, size in self.dimensions.items() if name not in derived}

    @cached_property
    def dimensions(self) -> dict[str, int]:
        """The sizes of the op's dimensions, without those that are numbers."""
        placed: list[tuple[str, int]] = []
        for role, names in self.kernel.roles.inputs.items():
            source = self.sources[role]
            shape = source.shape if isinstance(source, np.ndarray) else (source.rows, source.cols)
            if len(names) < len(shape):
                shape = (shape[0] * shape[1],)
            placed += zip(names, shape, strict=True)
        sizes = dict(placed) | lengths_of(placed)
        return {name: size for name, size in sizes.items() if not name.isdigit()}

    @cached_property
    def own_names(self) -> dict[str, str]:
        """The kernel's own name for each dimension of the op."""
        kernel, names = self.kernel, dict[str, str]()
        for array in kernel.arrays.values():
            if array.reads:
                dimensions = kernel.roles.inputs[array.reads][-len(array.shape) :]
                names |= dict(zip(dimensions, (size.text for size in array.shape), strict=True))
        return names

    def step(self, axis: str) -> int:
        """The number that each size of a dimension is a multiple of, by the claim."""
        own = self.kernel.axes.get(self.own_names.get(axis, ""))
        return own.multiple if own else 1

    def listed(self, axis: str) -> tuple[int, ...]:
        """The sizes that the claim lists for a dimension."""
        own = self.kernel.axes.get(self.own_names.get(axis, ""))
        return own.listed if own else ()

    @cached_property
    def case(self) -> Case:
        return case_for(self.kernel, self.sources)

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

        Segments are kept with their elements, and an element that goes makes its segment shorter. A group of a row
        keeps the scale of its first element. An integer that names a place of the dimension goes with that place. A
        shortened recipe keeps its edits of the first and last columns; other values may move.
        """
        roles = self.kernel.roles.inputs
        smaller = self._places_of_segments(axis, indices)
        lengths = {name: len(places) for name, places in smaller.items()}
        for name, size in self.kernel.derived_sizes({**self.dimensions, **lengths}).items():
            if name in smaller:
                continue
            if size < self.dimensions[name]:  # such as the groups of a row
                is_of_groups = name.startswith(f"{axis} / ")
                smaller[name] = self._groups_of(axis, name, indices, size) if is_of_groups else range(size)
        sources = dict(self.sources)
        for role, names in roles.items():
            for place, name in enumerate(names):
                if name in smaller:
                    sources[role] = _select(sources[role], place, len(names), smaller[name])
        for role, structure in self.kernel.roles.structures.items():
            if structure.is_segments and {structure.segments, structure.high} & smaller.keys():
                sources[role] = self._kept_segments(role, structure, smaller)
        for role, below in self.kernel.roles.integers.items():
            source = sources.get(role)  # an output has none
            if below in smaller and role not in self.kernel.roles.structures and isinstance(source, np.ndarray):
                sources[role] = move_places(source, self.dimensions[below], smaller[below])
        return replace(self, sources=sources)

    def _groups_of(self, axis: str, name: str, indices: Sequence[int], count: int) -> list[int]:
        """The group that the first element of each of so many new groups belonged to."""
        width = round(LONG / self.kernel.derived_sizes({**self.dimensions, axis: LONG})[name])
        return [min(indices[group * width] // width, self.dimensions[name] - 1) for group in range(count)]

    def _places_of_segments(self, axis: str, indices: Sequence[int]) -> dict[str, Sequence[int]]:
        """The places to keep along this dimension, and, if it counts segments, along those that they cut."""
        smaller: dict[str, Sequence[int]] = {axis: indices}
        for role, structure in self.kernel.roles.structures.items():
            if structure.is_segments and structure.segments == axis and structure.high in self.axes:
                ends = structure.ends(values_in(self.sources[role]), self.sizes)
                begins = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
                smaller[structure.high] = [one for segment in indices for one in range(begins[segment], ends[segment])]
        return smaller

    def _kept_segments(self, role: str, structure: Structure, kept: Mapping[str, Sequence[int]]) -> Values:
        """Where the segments that are kept end now, or how long they are."""
        ends = structure.ends(values_in(self.sources[role]), self.sizes)
        begins = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
        left = np.asarray(kept.get(structure.high, range(int(ends[-1]))), np.int64)
        segments = list(kept.get(structure.segments, range(len(ends))))
        lengths = [int(((left >= begins[one]) & (left < ends[one])).sum()) for one in segments]
        return structure.of_lengths(np.array(lengths, np.int64)).astype(np.float32)

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes that bound integers."""
        return {**self.dimensions, **self.kernel.limits(self.kernel.axes_of(self.case.arrays))}

    def arrange_integers(self) -> "Subject":
        """The same trial, with the integers that the kernel gets in the place of numbers that stand for them."""
        structures = self.kernel.roles.structures
        if not structures:
            return self
        sizes = self.sizes
        sources = {
            role: structures[role].arrange(values_in(each), sizes).astype(np.float32) if role in structures else each
            for role, each in self.sources.items()
        }
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
    subject = Subject(kernel, sources, {name: tune[name] for name in kernel.tune}, check, seed)
    return subject.arrange_integers().work_out()


def values_in(source: Content) -> Values:
    return source.values if isinstance(source, Recipe) else source


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


def move_places(integers: Values, size: int, kept: Sequence[int]) -> Values:
    """Places of a dimension of this size as places among those kept: of one that is not, the next, or the last."""
    if not len(kept):
        return integers
    moved = np.minimum(np.searchsorted(kept, integers), len(kept) - 1)
    return np.where((integers >= 0) & (integers < size), moved, integers).astype(integers.dtype)


def statements_in(source: Content) -> tuple[int, int]:
    """How many statements describe an array, and how long they are."""
    if isinstance(source, Recipe):
        return 0, sum(map(_band_length, source.bands)) + (source.limits is not None)
    if source.size > MAX_LITERAL:
        return source.size, 0
    bits, element = bits_in(source)[stretch_starts(source)], element_in(source)
    return bits.size, sum(length_of(one, element) for one in bits.tolist())


def stretch_starts(array: Values) -> NDArray[np.bool_]:
    """Where stretches of equal bits begin; each row begins one."""
    bits = bits_in(array)
    begins = np.ones(array.shape, np.bool_)
    begins[..., 1:] = bits[..., 1:] != bits[..., :-1]
    return begins


def _band_length(band: Band) -> int:
    base = length_of(band.base.offset) + (0 if band.base.kind == "constant" else 2 * LONGEST_NUMBER)
    return 1 + base + sum(2 + length_of(edit.bits) for edit in band.edits)


@cache
def simplest_values(element: Element) -> tuple[int, ...]:
    """The bits of 0, 1 and -inf; of a narrow type those of 0, if it has one, 1 and its largest number."""
    if element is F32:
        return 0, ONE, NEG_INF
    numbers = element.numbers
    return tuple(int(np.flatnonzero(numbers == one)[0]) for one in (0.0, 1.0, element.max) if one in numbers)


@cache
def length_of(bits: int, element: Element = F32) -> int:
    """The complexity of a value: 0, 1 and -inf are the simplest, then short decimals, NaN last."""
    simplest = simplest_values(element)
    if bits in simplest:
        return simplest.index(bits)
    value = np.float32(value_of(bits) if element is F32 else element.numbers[bits])
    return 2 + (LONGEST_NUMBER if np.isnan(value) else len(str(value).removesuffix(".0")))


def simpler_values(bits: int, element: Element = F32) -> list[int]:
    """Values that are simpler than this one, the simplest first, among them values near it."""
    value = value_of(bits) if element is F32 else float(element.numbers[bits])
    near: list[float] = [-1.0, 2.0, -2.0, 100.0, -100.0, 1000.0, -1000.0]
    if np.isfinite(value):
        near += [float(round(value)), *(float(f"{value:.{digits}g}") for digits in (1, 2, 3, 4))]
    others = (
        map(bits_of, near) if element is F32 else bits_in(encode_numbers(np.array(near, np.float32), element)).tolist()
    )
    lengths = {each: length_of(each, element) for each in (*simplest_values(element), *others)}
    most = length_of(bits, element)
    return sorted((each for each in lengths if lengths[each] < most), key=lambda each: lengths[each])


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
    bits_in(changed).reshape(-1)[first:last] = bits
    return changed
