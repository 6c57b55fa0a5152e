"""Arrays as recipes: a few numbers that stand for any amount of float32 data, the same bits on every machine.

An array has `rows` x `cols` elements and a list of bands; row r is made by band r mod len(bands). A band is a
base (constant, ramp, or seeded noise) and at most eight edits. Only integer operations modulo 2^64 and single
correctly rounded float operations are used, so that a recipe gives the same bits on every machine. The meaning of the
name `GENERATOR` never changes (a change gets a new name).

An array of a narrow type is made of the same float32 numbers, each rounded to the type's nearest number. Its recipe,
and one with a kind of noise that needs a grid or groups, has the name `NARROW_GENERATOR`.

Knows nothing about ops, kernels, claims, files, or what makes an array hostile. The module is long, since the meaning
of a recipe must not change and belongs in one place.
"""

import struct
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from kfuzz.claims.grid_numbers import encode_numbers, numbers_of_codes, ties_of
from kfuzz.common.printable import print_repr
from kfuzz.oracle.numbers.elements import F32, element_of

GENERATOR, NARROW_GENERATOR = "kfuzz-recipe/1", "kfuzz-recipe/2"
MAX_BANDS = 1024
MAX_EDITS = 8
MAX_SEED = (1 << 64) - 1

FirstKind = Literal["constant", "ramp", "normal", "uniform", "sign", "integer", "power", "bits", "counter"]
BaseKind = FirstKind | Literal["codes", "ties", "apart"]
FIRST_KINDS: tuple[FirstKind, ...] = get_args(FirstKind)
NARROW_KINDS: tuple[BaseKind, ...] = ("codes", "ties", "apart")
KINDS: tuple[BaseKind, ...] = (*FIRST_KINDS, *NARROW_KINDS)
CODE_KINDS = ("bits", "counter", "codes")
"""Kinds that are bit patterns; in an array of a narrow type, codes of it."""
EditOp = Literal["set", "add"]

_GOLDEN = 0x9E3779B97F4A7C15
_MIX_1, _MIX_2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_ONE, _GOLDEN_64, _MIX_1_64, _MIX_2_64 = map(np.uint64, (1, _GOLDEN, _MIX_1, _MIX_2))
_BITS_27, _BITS_30, _BITS_31, _BITS_32, _LOW = map(np.uint64, (27, 30, 31, 32, 0xFFFFFFFF))
_NORMAL_MEAN = 4 * 65535 / 2
_NORMAL_UNIT = 1.0 / 37837.0
_NAN, _EXPONENT = 0x7FC00000, 0x7F800000
"""The NaN of every invalid operation: machines differ in the one they make."""
_FLOAT = struct.Struct("<f")
_CHUNK = 1 << 15
"""Elements worked on at a time: the temporaries, at eight bytes each, stay in a core's own cache."""


class Base(NamedTuple):
    """A row before its edits: float32(offset + scale * pattern(col)), where `kind` names the pattern.

    `offset` and `scale` are float32 bit patterns. The patterns: constant 0; ramp col; normal close to N(0, 1)
    within +-3.47; uniform in [0, 1); sign +-1; integer -8..7; power +-2^-16..2^15. Two kinds are bit patterns
    and use neither offset nor scale: `bits` any of the 2^32, `counter` seed + position.

    In an array of a narrow type both give its codes, modulo their number, and a third, `codes`, only finite ones.
    Two kinds are for arrays that a kernel quantizes: `ties` are numbers of the type `grid` and middles between two of
    them, moved after all else by -8..8 float32 steps; `apart` is normal noise in which every `width` columns are
    multiplied by another of the powers of two from 2^-9 to 2^9.
    """

    kind: BaseKind = "constant"
    offset: int = 0
    scale: int = 0
    seed: int = 0
    grid: str = ""
    width: int = 0


class Edit(NamedTuple):
    """Sets the columns first, first + every, ... up to and including last to a value, or adds it to them.

    As in Python a negative column counts from the end, so that the last column stays the last when a row is
    made shorter. Columns outside of the row are ignored.
    """

    first: int
    last: int
    bits: int
    op: EditOp = "set"
    every: int = 1

    def columns(self, cols: int) -> slice:
        """The columns that it touches in a row of `cols` columns."""
        first = self.first + cols if self.first < 0 else self.first
        last = self.last + cols if self.last < 0 else self.last
        if first < 0:
            first %= self.every
        return slice(min(first, cols), max(min(last, cols - 1) + 1, 0), self.every)


class Band(NamedTuple):
    """One kind of row."""

    base: Base = Base()
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, repr=False)
class Recipe:
    """rows x cols values; `limits`, two bit patterns of float32, bound every finite one.

    `element`: the type of the array, float32 or a narrow type.
    """

    rows: int
    cols: int
    bands: tuple[Band, ...] = (Band(),)
    limits: tuple[int, int] | None = None
    element: str = F32.name

    def __repr__(self) -> str:
        return f"<Recipe {self.rows}x{self.cols}: {describe(self)}>"

    _repr_pretty_ = print_repr

    @property
    def python(self) -> str:
        """The expression that makes it."""
        return f"Recipe({', '.join(f'{one.name}={getattr(self, one.name)!r}' for one in fields(self))})"

    @property
    def elements(self) -> int:
        return self.rows * self.cols

    @property
    def generator(self) -> str:
        """The name of the rules that give its bits."""
        is_first = self.element == F32.name and all(band.base.kind in FIRST_KINDS for band in self.bands)
        return GENERATOR if is_first else NARROW_GENERATOR

    @cached_property
    def values(self) -> NDArray[Any]:
        """The array that it stands for, computed once, at its first use."""
        values = materialise(self)
        values.flags.writeable = False
        return values

    def __getstate__(self) -> dict[str, object]:
        """Pickle the recipe, never the array that it makes."""
        return {name: value for name, value in self.__dict__.items() if name != "values"}

    def band(self, row: int) -> Band:
        """The band that makes this row if it is put in row 0."""
        band = self.bands[row % len(self.bands)]
        turn = row // len(self.bands)
        base = band.base._replace(seed=_seed_of(band.base, turn, self.cols))
        return band._replace(base=base) if turn else band

    def pick(self, rows: list[int]) -> "Recipe":
        """The same array with only these rows, bit for bit."""
        return replace(self, rows=len(rows), bands=tuple(self.band(row) for row in rows))


def bits_of(value: float) -> int:
    """The float32 bit pattern of a value, rounded to nearest (too large: infinity)."""
    try:
        return int.from_bytes(_FLOAT.pack(value), "little")
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000


def value_of(bits: int) -> float:
    """The value of a float32 bit pattern."""
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def mix(seed: int, step: int) -> int:
    """Number `step` of the splitmix64 sequence that starts at `seed`."""
    z = (seed + (step + 1) * _GOLDEN) & MAX_SEED
    z = ((z ^ (z >> 30)) * _MIX_1) & MAX_SEED
    z = ((z ^ (z >> 27)) * _MIX_2) & MAX_SEED
    return z ^ (z >> 31)


def materialise(recipe: Recipe) -> NDArray[Any]:
    """The array that a recipe stands for: rows x cols, the same bits on every machine."""
    numbers = _numbers(recipe)
    return numbers if recipe.element == F32.name else encode_numbers(numbers, element_of(recipe.element))


def _numbers(recipe: Recipe) -> NDArray[np.float32]:
    """The float32 numbers of a recipe."""
    out = np.empty((recipe.rows, recipe.cols), np.uint32)
    count = len(recipe.bands)
    kinds: dict[tuple[BaseKind, str, int], list[int]] = {}
    for index, band in enumerate(recipe.bands[: recipe.rows]):
        kinds.setdefault((band.base.kind, band.base.grid, band.base.width), []).append(index)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for indices in kinds.values():
            _fill(out, recipe, indices)
        values = out.view(np.float32)
        for index, band in enumerate(recipe.bands[: recipe.rows]):
            for edit in band.edits:
                _apply(values[index::count, edit.columns(recipe.cols)], edit)
        if recipe.limits is not None:
            low, high = np.array(recipe.limits, np.uint32).view(np.float32)
            finite = np.isfinite(values)
            values[finite & (values < low)] = low
            values[finite & (values > high)] = high
    return values


def _apply(target: NDArray[np.float32], edit: Edit) -> None:
    if edit.op == "set":
        target.view(np.uint32)[...] = edit.bits
    else:
        target += np.uint32(edit.bits).view(np.float32)
        target.view(np.uint32)[np.isnan(target)] = _NAN


def _seed_of(base: Base, turn: int, cols: int) -> int:
    """The seed with which a band makes its row number `turn`; the first row has the band's own."""
    if base.kind == "counter":
        return (base.seed + turn * cols) & 0xFFFFFFFF
    return base.seed if turn == 0 else mix(base.seed, turn)


def _fill(out: NDArray[np.uint32], recipe: Recipe, indices: list[int]) -> None:
    """Write the base of every row with one of these bands, which are of one kind."""
    bases = [recipe.bands[index].base for index in indices]
    kind = bases[0].kind
    rows, which, turns = _rows_of(recipe, indices)
    offset = np.array([base.offset for base in bases], np.uint32)[which]
    if kind == "constant":
        out[rows] = offset[:, None]
        return
    scale = np.array([base.scale for base in bases], np.uint32)[which]
    not_finite = any(bits & _EXPONENT == _EXPONENT for base in bases for bits in (base.offset, base.scale))
    seeds = _seeds(bases, which, turns, recipe.cols, kind)
    step = max(1, _CHUNK // max(1, recipe.cols))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        for left in range(0, recipe.cols, _CHUNK):
            col = np.arange(left, min(left + _CHUNK, recipe.cols), dtype=np.uint64)
            where = (rows[part], slice(left, left + len(col)))
            if kind in CODE_KINDS:
                made = _bits(kind, seeds[part, None], col[None, :])
                is_narrow = recipe.element != F32.name
                out[where] = numbers_of_codes(made, element_of(recipe.element), kind == "codes") if is_narrow else made
                continue
            got = _pattern(bases[0], seeds[part, None], col[None, :])
            got *= scale[part, None].view(np.float32)
            got += offset[part, None].view(np.float32)
            rounded = got.astype(np.float32)
            if not_finite:
                rounded.view(np.uint32)[np.isnan(rounded)] = _NAN
            if kind == "ties":
                _move(rounded, _hash(seeds[part, None], col[None, :]))
            out[where] = rounded.view(np.uint32)


def _move(numbers: NDArray[np.float32], by: NDArray[np.uint64]) -> None:
    """Move each number by -8..8 float32 steps, away from 0 or toward it; never across 0 nor beyond the largest."""
    bits = numbers.view(np.uint32)
    size = (bits & np.uint32(0x7FFFFFFF)).astype(np.int64)
    moved = np.clip(size + (by >> _BITS_32).astype(np.int64) % 17 - 8, 1, _EXPONENT - 1)
    is_moved = (size > 0) & (size < _EXPONENT)
    bits[...] = np.where(is_moved, (bits & np.uint32(0x80000000)) | moved.astype(np.uint32), bits)


def _rows_of(recipe: Recipe, indices: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The rows that these bands make; the place of each row's band among them; and how many rows it has made before."""
    count, mine = len(recipe.bands), np.array(indices)
    if recipe.rows <= count:  # in most arrays every row has its own band
        return mine, np.arange(len(indices)), np.zeros(len(indices), np.int64)
    rows = (np.arange(-(-recipe.rows // count))[:, None] * count + mine).ravel()
    rows = rows[rows < recipe.rows]
    return rows, np.arange(len(rows)) % len(indices), rows // count


def _seeds(
    bases: list[Base], which: NDArray[np.int64], turns: NDArray[np.int64], cols: int, kind: BaseKind
) -> NDArray[np.uint64]:
    """`_seed_of` for every row at once."""
    seeds: NDArray[np.uint64] = np.array([base.seed for base in bases], np.uint64)[which]
    if kind == "counter":
        return (seeds + turns.astype(np.uint64) * np.uint64(cols)) & _LOW
    if not turns[-1]:  # turns are in ascending order
        return seeds
    return np.where(turns == 0, seeds, _hash(seeds, turns.astype(np.uint64)))


def _hash(seed: NDArray[np.uint64], step: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """`mix` for arrays: the splitmix64 output function of seed + (step + 1) * golden ratio."""
    z = (step + _ONE) * _GOLDEN_64 + seed
    z ^= z >> _BITS_30
    z *= _MIX_1_64
    z ^= z >> _BITS_27
    z *= _MIX_2_64
    z ^= z >> _BITS_31
    return z


def _bits(kind: BaseKind, seed: NDArray[np.uint64], col: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The kinds that are bit patterns."""
    return (seed + col if kind == "counter" else _hash(seed, col) >> _BITS_32).astype(np.uint32)


def _pattern(base: Base, seed: NDArray[np.uint64], col: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The kinds that are numbers: exact, except for `normal`, which its last multiplication rounds once."""
    kind = base.kind
    if kind == "ramp":
        return np.broadcast_to(col.astype(np.float64), np.broadcast_shapes(seed.shape, col.shape)).copy()
    z = _hash(seed, col)
    low = np.uint64(0xFFFF)
    got: NDArray[np.float64]
    if kind in ("normal", "apart"):
        total = (z & low) + ((z >> np.uint64(16)) & low) + ((z >> np.uint64(32)) & low) + (z >> np.uint64(48))
        got = (total.astype(np.float64) - _NORMAL_MEAN) * _NORMAL_UNIT
        if kind == "apart":
            group = col // np.uint64(max(base.width, 1))
            got *= np.ldexp(1.0, (group * np.uint64(7) % np.uint64(19)).astype(np.int32) - 9)
    elif kind == "ties":
        ties = ties_of(base.grid)
        got = ties[(z & _LOW) % np.uint64(len(ties))]
    elif kind == "uniform":
        got = (z >> np.uint64(40)).astype(np.float64) * 2.0**-24
    elif kind == "integer":
        got = (z >> np.uint64(60)).astype(np.float64) - 8.0
    else:
        got = (z >> np.uint64(63)).astype(np.float64) * 2.0 - 1.0
        if kind == "power":
            got *= np.ldexp(1.0, ((z >> np.uint64(58)) & np.uint64(31)).astype(np.int32) - 16)
    return got


def describe(recipe: Recipe, bands: int = 3) -> str:
    """The recipe in words, for people."""
    parts = [_describe_band(band) for band in recipe.bands[: min(bands, recipe.rows)]]
    if recipe.rows > 1:
        parts = [f"row {index}: {words}" for index, words in enumerate(parts)]
    distinct = min(len(recipe.bands), recipe.rows)
    if distinct > bands:
        parts.append(f"and {distinct - bands} more kinds of row")
    elif recipe.rows > len(recipe.bands):
        parts.append("and so on")
    if recipe.limits is not None:
        parts.append("kept within {:.9g}..{:.9g}".format(*map(value_of, recipe.limits)))
    if recipe.element != F32.name:
        parts.append(f"as {recipe.element}")
    return "; ".join(parts)


def _describe_band(band: Band) -> str:
    return ", ".join([_describe_base(band.base), *map(_describe_edit, band.edits)])


def _describe_base(base: Base) -> str:
    offset, scale = value_of(base.offset), value_of(base.scale)
    if base.kind == "constant":
        return f"{offset:.9g}"
    if base.kind == "ramp":
        return f"{offset:.9g} + {scale:.9g} * col"
    if base.kind in CODE_KINDS:
        return f"{base.kind}({base.seed})"
    kind = base.kind + (f" of {base.grid}" if base.grid else "") + (f" by {base.width}" if base.width else "")
    return f"{offset:.9g} + {scale:.9g} * {kind}({base.seed})"


def _describe_edit(edit: Edit) -> str:
    where = f"col {edit.first}" if edit.first == edit.last else f"cols {edit.first}..{edit.last}"
    if edit.every > 1:
        where += f" step {edit.every}"
    return f"{where} {'+=' if edit.op == 'add' else '='} {value_of(edit.bits):.9g}"
