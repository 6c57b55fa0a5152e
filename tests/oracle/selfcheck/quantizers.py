"""Do right quantizers lie in their enclosure? Twenty ways to quantize in float32, over rows made for their edges.

The ways share no code with the enclosure but the grids. A way that is held against a claim that is not true of it must
be accused: `UNTRUE` has one for each rule of docs/numerics.md#quantizers.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.accuracy.quantizing import Quantizing
from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import (
    BF16,
    E2M1,
    E2M3,
    E3M2,
    E4M3,
    E4M3FNUZ,
    E5M2,
    E5M2FNUZ,
    E8M0,
    F32,
    I8,
    Element,
    Reals,
)
from kfuzz.oracle.numbers.enclosure import Mask, compare
from kfuzz.oracle.numbers.grid import Direction, grid_of
from kfuzz.oracle.numbers.groups import largest_of_blocks, value_of_block
from kfuzz.oracle.numbers.verdict import Special

Singles = NDArray[np.float32]
F = np.float32
FORMATS = (E4M3, E5M2, E4M3FNUZ, E5M2FNUZ, I8, E2M1, E2M3, E3M2)
EPS = 1e-10
FAMILIES = 12


def hostile_rows(rng: np.random.Generator, rows: int, cols: int, group: int, element: Element) -> Singles:
    """Normal rows, wide ones, ties of the grid times a scale, amax a power of two, zeros, outliers, tiny numbers, ...

    In a third of the rows amax is the first, the last or a negative element of each group.
    """
    x = rng.standard_normal((rows, cols)).astype(F)
    kind = np.arange(rows) % FAMILIES
    x[kind == 1] *= np.exp2(rng.integers(-20, 20, x[kind == 1].shape)).astype(F)
    for number, moves in ((2, 8), (3, 1), (4, 0)):
        x[kind == number] = _ties(rng, x[kind == number].shape, group, element, moves)
    x[kind == 5] = np.clip(x[kind == 5], -1, 1)
    x[kind == 5, ::group] = np.exp2(rng.integers(-10, 10, x[kind == 5, ::group].shape))
    x[kind == 6, : cols // 2] = 0
    x[kind == 7, 1] = 1e6
    x[kind == 8] *= F(1e-30)
    x[kind == 9] *= F(1e-41)
    x[kind == 10] = x[kind == 10, :1] * np.repeat(F(2.0) ** (37 * np.arange(-(-cols // group)) % 19), group)[:cols]
    x[kind == 11] = BF16.round(x[kind == 11].astype(np.float64)).astype(F)
    place = np.arange(cols) % group
    for share, quiet in ((0.15, place > 0), (0.15, (place < group - 1) & (np.arange(cols) < cols - 1))):
        some = rng.random(rows) < share
        x[some] *= np.where(quiet, F(0.37), F(1))
    return x


def _ties(rng: np.random.Generator, shape: tuple[int, ...], group: int, element: Element, moves: int) -> Singles:
    """Numbers of the grid and their middles times a scale, moved by some last places; amax is about the largest."""
    grid = grid_of(element)
    ends = np.concatenate([grid.middles, grid.numbers])
    ties = rng.choice(ends[np.abs(ends) <= grid.largest], shape)
    ties[:, ::group] = grid.largest
    scale = np.exp2(rng.integers(-30, 30, (shape[0], 1))).astype(F)
    scale[::2] *= rng.uniform(1, 2, scale[::2].shape).astype(F)
    near = 1 + 2.0**-23 * rng.integers(-moves, moves + 1, shape)
    near[1::2], near[:, ::group] = 1, 1
    near[::3, ::group] += 2.0**-23 * rng.integers(0, moves + 1, near[::3, ::group].shape)  # amax / max is near a power
    return np.asarray((ties * scale * near).astype(F) * rng.choice(np.array([-1, 1], F), shape))


@dataclass(frozen=True)
class QuantizerSetting:
    """One quantizer's surroundings: its rows, the group, the grid, and random numbers."""

    x: Singles
    group: int
    element: Element
    rng: np.random.Generator
    eps: float = EPS

    @property
    def largest(self) -> np.float32:
        return F(grid_of(self.element).largest)

    @property
    def amax(self) -> Singles:
        """The largest magnitude of each group, at least eps."""
        return np.maximum(largest_of_blocks(np.abs(self.x), (1, self.group)), F(self.eps))

    def spread(self, s: Singles) -> Singles:
        return np.asarray(np.broadcast_to(value_of_block(s, (1, self.group), self.x.shape), self.x.shape))

    def disturb(self, x: Singles, places: int) -> Singles:
        """The result of a fast function: up to so many last places from the one that is rounded correctly."""
        steps = self.rng.integers(-places, places + 1, x.shape)
        return np.asarray((x + steps * np.spacing(np.abs(x))).astype(F))


Scaled = tuple[Reals, Singles]
"""t, the numbers that are rounded to the grid, and the scales."""
Compute = Callable[[QuantizerSetting], Scaled]


@dataclass(frozen=True)
class QuantizerWay:
    """A way to quantize, and the claim that is true of it."""

    name: str
    compute: Compute
    claim: Accuracy
    scale: Element = F32
    fits: Callable[[Element], bool] = lambda element: True


def _claim(divide: Any = "ieee", **words: Any) -> Accuracy:  # noqa: ANN401  words of a claim
    return Accuracy(divide=divide, quantize=Quantizing(**{"zeros": "eps", **words}))


def divide(given: QuantizerSetting) -> Scaled:
    s = given.amax / given.largest
    return given.x / given.spread(s), s


def reciprocal(given: QuantizerSetting) -> Scaled:
    s = given.amax / given.largest
    return given.x * given.spread(F(1) / s), s


def inverse(given: QuantizerSetting) -> Scaled:
    made = given.largest / given.amax
    return given.x * given.spread(made), F(1) / made


def both(given: QuantizerSetting) -> Scaled:
    return given.x * given.spread(given.largest / given.amax), given.amax / given.largest


def constant(given: QuantizerSetting) -> Scaled:
    s = given.amax * F(1 / float(given.largest))
    return given.x / given.spread(s), s


def constant_both(given: QuantizerSetting) -> Scaled:
    return given.x * given.spread(given.largest / given.amax), given.amax * F(1 / float(given.largest))


def fast(given: QuantizerSetting) -> Scaled:
    s = given.disturb(given.amax / given.largest, 2)
    return given.disturb(given.x / given.spread(s), 2), s


def fast_reciprocal(given: QuantizerSetting) -> Scaled:
    s = given.disturb(given.amax / given.largest, 2)
    return given.x * given.spread(given.disturb(F(1) / s, 2)), s


def fast_both(given: QuantizerSetting) -> Scaled:
    made = given.disturb(given.largest / given.amax, 2)
    return given.x * given.spread(made), given.disturb(given.amax / given.largest, 2)


def clamped(given: QuantizerSetting) -> Scaled:
    t, s = divide(given)
    return np.clip(t, -given.largest, given.largest), s


def in_double(given: QuantizerSetting) -> Scaled:
    s = given.amax / given.largest
    return given.x.astype(np.float64) / given.spread(s).astype(np.float64), s


def narrow_scale(given: QuantizerSetting) -> Scaled:
    s = BF16.round((given.amax / given.largest).astype(np.float64)).astype(F)
    return given.x / given.spread(s), s


def up(given: QuantizerSetting) -> Scaled:
    fraction, exponent = np.frexp((given.amax / given.largest).astype(np.float64))
    s = np.ldexp(1.0, np.clip(exponent - (fraction == 0.5), -126, 127)).astype(F)
    return given.x * given.spread(F(1) / s), s


def up_by_bits(given: QuantizerSetting) -> Scaled:
    bits = (given.amax * F(1 / float(given.largest))).view(np.uint32)
    s = ((bits + np.uint32(0x7FFFFF)) & np.uint32(0x7F800000)).view(F)
    return given.x / given.spread(s), s


def up_by_log(given: QuantizerSetting) -> Scaled:
    s = np.exp2(np.ceil(given.disturb(np.log2(given.amax / given.largest), 1)))
    return given.x / given.spread(s), s


def exponent(given: QuantizerSetting) -> Scaled:
    shift = int(np.frexp(given.largest)[1])
    s = np.ldexp(F(1), np.maximum(np.frexp(given.amax)[1] - shift, -126))
    return given.x / given.spread(s), s


def exponent_by_bits(given: QuantizerSetting) -> Scaled:
    shift = int(np.frexp(given.largest)[1]) - 1
    s = ((given.amax.view(np.uint32) & np.uint32(0x7F800000)) - np.uint32(shift << 23)).view(F)
    return given.x * given.spread(F(1) / s), s


POWER = {"scale": "power of two up", "saturate": "finite"}
OCP = {"scale": "exponent of amax"}
WAYS = (
    QuantizerWay("x / scale", divide, _claim(apply="divide")),
    QuantizerWay("x / scale, apply not claimed", divide, _claim()),
    QuantizerWay("x (1 / scale)", reciprocal, _claim("reciprocal", apply="divide")),
    QuantizerWay("x inv, scale 1 / inv", inverse, _claim(apply="multiply")),
    QuantizerWay("x (max / amax)", both, _claim(apply="multiply")),
    QuantizerWay("amax (1 / max)", constant, _claim(apply="divide")),
    QuantizerWay("amax (1 / max), x (max / amax)", constant_both, _claim(apply="multiply")),
    QuantizerWay("fast division", fast, _claim("fast", apply="divide")),
    QuantizerWay("fast reciprocal", fast_reciprocal, _claim("fast reciprocal", apply="divide")),
    QuantizerWay("fast inverse", fast_both, _claim("fast", apply="multiply")),
    QuantizerWay("clamped", clamped, _claim(saturate="finite")),
    QuantizerWay("divided in double", in_double, _claim(apply="divide")),
    QuantizerWay("scale in bf16", narrow_scale, _claim(apply="divide", saturate="finite"), BF16),
    QuantizerWay("half away from 0", divide, _claim(apply="divide", round="away")),
    QuantizerWay("cut", divide, _claim(apply="divide", round="zero")),
    QuantizerWay("stochastic", divide, _claim(apply="divide", round="stochastic", saturate="finite")),
    QuantizerWay("power up", up, _claim("reciprocal", **POWER), E8M0),
    QuantizerWay("power up by bits", up_by_bits, _claim(**POWER), E8M0),
    QuantizerWay("power up by log2f", up_by_log, _claim(log="log2f", **POWER), E8M0),
    QuantizerWay("exponent of amax", exponent, _claim(**OCP), E8M0),
    QuantizerWay("exponent by bits", exponent_by_bits, _claim("reciprocal", **OCP), E8M0),
    QuantizerWay("power, which is not claimed", exponent, _claim(saturate="finite"), E8M0),
)  # fmt: skip


def round_to_grid(t: Reals, element: Element, rounding: str, rng: np.random.Generator) -> Reals:
    """The numbers that a right conversion makes of t."""
    grid, t = grid_of(element), t.astype(np.float64)
    if rounding == "stochastic":
        low, high = grid.round(t, "down"), grid.round(t, "up")
        with np.errstate(all="ignore"):
            return np.where(rng.random(t.shape) < (t - low) / np.where(high > low, high - low, 1.0), high, low)
    direction: Direction = rounding  # type: ignore[assignment]  # "stochastic" returned above
    return grid.round(t, direction)


@dataclass
class QuantizerTally:
    """Right quantizers of one way and format: elements judged and accused, groups and scales accused."""

    name: str
    elements: int = 0
    judged: int = 0
    accused: int = 0
    scales: int = 0
    several: int = 0


@dataclass(frozen=True)
class JudgedGroups:
    """Which codes and which scales are outside, and how many codes were judged and may have several values."""

    codes: Mask
    scales: Mask
    judged: int
    several: int


def judge_rows(
    x: Singles, q: Reals, s: Reals, claim: Accuracy, way: QuantizerWay, element: Element, group: int
) -> JudgedGroups:
    """Judge codes and scales by the op's enclosures, in float64."""
    written = {"q": q, "scale": s.astype(np.float64)}
    formats = {"q": element, "scale": way.scale}
    scalars = {"eps": EPS, "group": group}
    made = enclose(find("group_quantize"), {"x": x}, claim, Special(), scalars, formats, None, written)
    wrong = {name: compare(written[name], one).broken for name, one in made.items()}
    several = (made["q"].hi > made["q"].lo) & made["q"].judged
    return JudgedGroups(wrong["q"], wrong["scale"], int(made["q"].judged.sum()), int(several.sum()))


@np.errstate(all="ignore")
def check_way(number: int, element: Element, rows: int, seed: int, claim: Accuracy | None = None) -> QuantizerTally:
    """One way in one format over hostile rows, under its own claim or another."""
    way, rng = WAYS[number], np.random.default_rng([number, seed])
    tally = QuantizerTally(f"{way.name}, {element}")
    for group in (32, 128):
        cols = 2 * group + group // 3
        x = hostile_rows(rng, rows // 2, cols, group, element)
        setting = QuantizerSetting(x, group, element, rng)
        t, s = way.compute(setting)
        q = round_to_grid(t, element, way.claim.quantize.round, rng)
        found = judge_rows(x, q, s, claim or way.claim, way, element, group)
        tally.elements += x.size
        tally.judged += found.judged
        tally.accused += int(found.codes.sum())
        tally.scales += int(found.scales.sum())
        tally.several += found.several
    return tally


def untrue(way: str, **words: Any) -> tuple[int, Accuracy]:  # noqa: ANN401  words of a claim
    """A way, and its claim with some words changed."""
    number = next(i for i, one in enumerate(WAYS) if one.name == way)
    claim = WAYS[number].claim
    own = {name: words.pop(name) for name in ("divide",) if name in words}
    return number, replace(claim, quantize=replace(claim.quantize, **words), **own)


UNTRUE = {
    "N2: an inverse counts as a division": untrue("x (max / amax)", apply="divide"),
    "N2: a reciprocal counts as a division": untrue("x (1 / scale)", divide="ieee"),
    "N2: a fast division counts as a right one": untrue("fast division", divide="ieee"),
    "N3: a fast scale counts as a right one": untrue("fast inverse", divide="ieee"),
    "N5: log2f counts as exact": untrue("power up by log2f", log=None),
    "N6: the exponent of amax counts as a power upwards": untrue("exponent of amax", scale="power of two up"),
    "N12: half away counts as half to even": untrue("half away from 0", round="even"),
    "N12: cut counts as rounded": untrue("cut", round="even"),
    "N12: stochastic counts as rounded": untrue("stochastic", round="even"),
}
"""For rules that a claim chooses: a right quantizer under a claim that is not true of it, which must be accused."""
