"""How the sizes of a reference's inputs follow from the integers in the text of `get_inputs`: it runs with others.

An integer of the text is a size if other shapes follow from another one and the reference takes them: one alone, else
all of one value together, else two of one value. Knows integers and shapes; it knows no set.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from math import gcd

from kfuzz.claims.references.torch.changed_integers import (
    OF_INPUTS,
    OF_OBJECT,
    OtherIntegers,
    SizePlace,
    TextMaker,
    sizes_of,
)
from kfuzz.claims.references.torch.fitted_sizes import fit_size
from kfuzz.claims.references.torch.sizes import length_of
from kfuzz.claims.references.torch.task_data import numbers_of_data, tensors_of_data
from kfuzz.oracle.op.shapes import names_in

LARGE = 1 << 16


@dataclass(frozen=True)
class SizeProbe:
    """What integers of another value give: the size at each place."""

    value: int
    sizes: Mapping[SizePlace, int]


def value_of(probe: SizeProbe) -> int:
    return probe.value


def size_at(place: SizePlace, probe: SizeProbe) -> int:
    return probe.sizes[place]


@dataclass
class FoundSizes:
    """The dimensions of each tensor, the whole numbers among the inputs, and each size's home and what divides it.

    `places`: the integers of the text that are a size, for one that is an integer itself.
    """

    dims: list[list[str]]
    numbers: list[str]
    home: dict[str, int] = field(default_factory=dict)
    multiples: dict[str, int] = field(default_factory=dict)
    places: dict[str, tuple[int, ...]] = field(default_factory=dict)
    init: list[str] = field(default_factory=list)
    """The whole numbers with which an object is made."""


@dataclass(frozen=True)
class TextSize:
    """Integers of the text that change together, and what other values of them give."""

    places: tuple[int, ...]
    home: int
    probes: tuple[SizeProbe, ...]

    def plain(self, home: Mapping[SizePlace, int]) -> list[SizePlace]:
        """The places whose size is the integer itself."""
        return [
            one for one, size in home.items()
            if one[0] >= 0 and size == self.home and all(probe.sizes[one] == probe.value for probe in self.probes)
        ]  # fmt: skip

    def moved(self, home: Mapping[SizePlace, int]) -> list[SizePlace]:
        """The places whose size follows from it."""
        return [one for one in home if one[0] >= 0 and any(probe.sizes[one] != home[one] for probe in self.probes)]


def is_negative_somewhere(text: str, home: Mapping[str, int]) -> bool:
    """Whether a size is below 0 where one that it follows from is large: it then follows in another way."""
    return any(length_of(text, {**home, name: LARGE}) < 0 for name in names_in(text))


class SizesInText:
    """The sizes in the text of `get_inputs`, with the dimensions that follow from them.

    `runs`: whether the reference takes what get_inputs makes of other values.
    """

    def __init__(self, maker: TextMaker, runs: Callable[[OtherIntegers], bool]) -> None:
        self.maker, self.runs = maker, runs
        self.data = maker.without_memory({})
        self.home = self._sizes_with({})
        self.moving: set[int] = set()
        """The integers from which other shapes follow, or an error."""

    def found(self, names: Sequence[str]) -> FoundSizes:
        """The dimensions of tensors of these names."""
        every = list(self._sizes())
        every.sort(key=lambda one: not one.plain(self.home))
        made, kept = self._fitted([], names), list[TextSize]()
        assert made is not None, "all sizes are those of the file"
        for one in every:
            if (other := self._fitted([*kept, one], names)) is not None:
                made, kept = other, [*kept, one]
        return made

    def _sizes(self) -> Iterator[TextSize]:
        """Integers of one value that are sizes together, then in pairs, then with those that are sizes alone; then each
        that is one alone, with those of the same value that may follow.
        """
        alone = {place: self._size((place,)) for place in range(len(self.maker.nodes))}
        still = [place for place in alone if place not in self.moving]
        left = [place for place, one in alone.items() if one is None and place in self.moving]
        for value in dict.fromkeys(map(self.maker.home, left)):
            group = [place for place in left if self.maker.home(place) == value]
            whole = self._size(tuple(group)) if len(group) > 1 else None
            if whole is not None:
                yield whole
                continue
            for pair in combinations(group, 2):
                if set(pair) <= set(group) and (one := self._size(pair)) is not None:
                    group = [place for place in group if place not in pair]
                    yield one
            wider = [place for place, one in alone.items() if one is not None and one.home == value]
            if group and wider and (one := self._size((*group, *wider))) is not None:
                alone |= dict.fromkeys(wider)  # a reference may take more of one input than of the other
                yield one
        for place, one in alone.items():
            if one is not None:
                of_object = self._makes_objects(place)
                equal = [other for other in still if self.maker.home(other) == one.home]
                equal = [other for other in equal if self._makes_objects(other) == of_object]
                yield next(filter(None, (self._size((place, other)) for other in equal)), one)

    def _makes_objects(self, place: int) -> bool:
        """Whether an object is made with an integer: one that is not may have its value by chance."""
        try:
            return self.maker.init_inputs({place: self.maker.home(place) + 1}) != self.maker.init_inputs({})
        except Exception:  # of their code, at a size that it does not take
            return True

    def _size(self, places: tuple[int, ...]) -> TextSize | None:
        """These integers as a size, if they are one."""
        home = self.maker.home(places[0])
        steps = [1 << power for power in range(9) if power == 0 or 1 << power <= home]
        first = next(filter(None, (self._probe(places, home + step) for step in steps)), None)
        others = [self._probe(places, by * home) for by in (2, 3)] if first or len(places) > 1 else []
        known = {one.value: one for one in (first, *others) if one}
        return TextSize(places, home, tuple(known.values())) if known else None

    def _probe(self, places: Sequence[int], value: int) -> SizeProbe | None:
        """What another value gives, if other shapes follow from it and the reference takes them."""
        values = dict.fromkeys(places, value)
        try:
            sizes = self._sizes_with(values)
        except Exception:  # of their code, at sizes that it does not take
            sizes = {}
        if any(sizes.get(one) != size for one, size in self.home.items() if one[0] != OF_OBJECT):
            self.moving |= set(places) if len(places) == 1 else set()
        axes = [place for place in self.home if place[0] >= 0]
        is_other = sizes.keys() == self.home.keys() and any(sizes[one] != self.home[one] for one in axes)
        return SizeProbe(value, sizes) if is_other and self.runs(values) else None

    def _sizes_with(self, values: OtherIntegers) -> dict[SizePlace, int]:
        """The size at each place with other values, and each number that an object is made with."""
        numbers = enumerate(numbers_of_data(self.maker.init_inputs(values)))
        return sizes_of(self.maker.without_memory(values)) | {(OF_OBJECT, place): number for place, number in numbers}

    def _fitted(self, sizes: Sequence[TextSize], names: Sequence[str]) -> FoundSizes | None:
        """The dimensions as expressions over these sizes; None if one of them is none."""
        known, at_home, taken = dict[str, TextSize](), dict[str, int](), set[SizePlace]()
        coordinates: dict[str, Callable[[SizeProbe], int]] = {}
        for one in sizes:
            plain, moved = one.plain(self.home), [place for place in one.moved(self.home) if place not in taken]
            if not (plain or moved):
                return None
            place = (plain or moved)[0]
            name = self._name(one, names, place, is_plain=bool(plain), taken=known)
            known[name], at_home[name] = one, one.home if plain else self.home[place]
            coordinates[name] = value_of if plain else partial(size_at, place)
            taken |= set(one.moved(self.home))
        pairs = [(name, probe) for name, one in known.items() for probe in one.probes]
        every = [at_home, *({**at_home, name: coordinates[name](probe)} for name, probe in pairs)]
        texts = {}
        for place, size in self.home.items():
            values = [size, *(probe.sizes[place] for _, probe in pairs)]
            text = fit_size(values, every)
            if text is None or (place[0] == OF_INPUTS and not (text in known or text == str(size))):
                return None
            if place[0] >= 0 and is_negative_somewhere(text, at_home):
                return None
            texts[place] = text
        multiples = {name: gcd(at_home[name], *(one[name] - at_home[name] for one in every)) for name in known}
        ranks = [one.ndim for one in tensors_of_data(self.data)]
        dims = [[texts[number, axis] for axis in range(rank)] or ["1"] for number, rank in enumerate(ranks)]
        if {name for of in dims for name in of} & known.keys() != known.keys():
            return None  # kfuzz has no size that is no axis of an array
        numbers = [texts[OF_INPUTS, place] for place, _ in enumerate(numbers_of_data(self.data))]
        divisors = {name: by for name, by in multiples.items() if by > 1}
        places = {name: one.places for name, one in known.items() if coordinates[name] is value_of}
        init = [texts[place] for place in texts if place[0] == OF_OBJECT]
        return FoundSizes(dims, numbers, at_home, divisors, places, init)

    def _name(
        self, one: TextSize, names: Sequence[str], place: SizePlace, *, is_plain: bool, taken: Mapping[str, TextSize]
    ) -> str:
        """The name of a size: that of its integer, or of the axis that has it."""
        own = [name for place in one.places if (name := self.maker.names[place])]
        name = own[0] if own and is_plain else f"{names[place[0]]}_{place[1]}"
        while name in taken or name in names:
            name += "_"
        return name
