"""Wrong quantizers: the share of the groups in which each is seen, beside the tolerances that are in use elsewhere.

A group is active if the wrong kernel writes another number or another scale there than the right one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.numbers.elements import BF16, E4M3, E8M0, F16, F32, I8, Element, Reals
from kfuzz.oracle.numbers.enclosure import Mask
from kfuzz.oracle.numbers.grid import grid_of
from kfuzz.oracle.numbers.groups import largest_of_blocks
from tests.oracle.selfcheck.quantizers import (
    EPS,
    WAYS,
    F,
    QuantizerSetting,
    QuantizerWay,
    Singles,
    hostile_rows,
    judge_rows,
    up,
)

Codes = tuple[Reals, Singles]
"""The numbers that a kernel writes, and its scales."""
Plant = Callable[[QuantizerSetting], Codes]
CRITERIA = ("round trip 1e-1", "codes within 1", "equal codes", "kfuzz")


def _emit(given: QuantizerSetting, s: Singles, written: Singles | None = None, rounding: str = "even") -> Codes:
    """x / s on the grid, with the scale that is written."""
    t = given.x / given.spread(s)
    direction = {"even": "even", "away": "away", "zero": "zero"}[rounding]
    return grid_of(given.element).round(t.astype(np.float64), direction), s if written is None else written  # type: ignore[arg-type]


def _scale(given: QuantizerSetting, amax: Singles | None = None, largest: float | None = None) -> Singles:
    return np.asarray((given.amax if amax is None else amax) / F(largest or given.largest))


def _amax(given: QuantizerSetting, x: Singles, eps: float = EPS) -> Singles:
    return np.asarray(np.maximum(largest_of_blocks(x, (1, given.group)), F(eps)))


def _without_tail(given: QuantizerSetting) -> Singles:
    place = np.arange(given.x.shape[1])
    is_last = (place % given.group == given.group - 1) | (place == place[-1])
    return _amax(given, np.where(is_last, F(0), np.abs(given.x)))


def _through(form: Element, given: QuantizerSetting, s: Singles) -> Codes:
    t = form.round((given.x / given.spread(s)).astype(np.float64))
    return grid_of(given.element).round(t), s


def _two_scales(given: QuantizerSetting) -> Codes:
    s = _scale(given)
    low, high = _emit(given, s)[0], _emit(given, s * F(1 + 2**-21))[0]
    return np.where(np.arange(given.x.shape[1]) % given.group < given.group // 2, low, high), s


def _nan_at_the_top(given: QuantizerSetting) -> Codes:
    s = _scale(given) * F(0.9)
    return grid_of(given.element).round((given.x / given.spread(s)).astype(np.float64), "even", "nan"), s


def _swapped(given: QuantizerSetting) -> Codes:
    q, s = _emit(given, _scale(given))
    pairs = q[:, : q.shape[1] // 2 * 2].reshape(len(q), -1, 2)[..., ::-1].reshape(len(q), -1)
    return np.concatenate([pairs, q[:, pairs.shape[1] :]], axis=1), s


def _power(given: QuantizerSetting, rounding: Callable[[Reals], Reals]) -> Singles:
    with np.errstate(all="ignore"):
        exact = np.log2(_scale(given).astype(np.float64))
    return np.asarray(np.ldexp(1.0, np.clip(rounding(exact), -126, 127).astype(int)).astype(F))


def _cut_to_integer(given: QuantizerSetting) -> Codes:
    s = _scale(given)
    return np.trunc((given.x / given.spread(s)).astype(np.float64)), s


COMMON: dict[str, Plant] = {
    "half away from 0": lambda given: _emit(given, _scale(given), rounding="away"),
    "amax without the last of a group": lambda given: _emit(given, _scale(given, _without_tail(given))),
    "two scales in a group, 2^-21 apart": _two_scales,
}
PLANTED: dict[str, tuple[Element, str, dict[str, Plant]]] = {
    E4M3.name: (E4M3, "x / scale", {
        **COMMON,
        "cut, not rounded": lambda given: _emit(given, _scale(given), rounding="zero"),
        "by way of bf16": lambda given: _through(BF16, given, _scale(given)),
        "by way of f16": lambda given: _through(F16, given, _scale(given)),
        "scale written in bf16, used in f32": lambda given: _emit(
            given, _scale(given), BF16.round(_scale(given).astype(np.float64)).astype(F)
        ),
        "amax without abs": lambda given: _emit(given, _scale(given, _amax(given, given.x))),
        "scale of the next group": lambda given: _emit(given, np.roll(_scale(given), 1, axis=1), _scale(given)),
        "one scale for the whole array": lambda given: _emit(given, np.full_like(_scale(given), _scale(given).max())),
        "447 for 448": lambda given: _emit(given, _scale(given, largest=447)),
        "240 for 448": lambda given: _emit(given, _scale(given, largest=240)),
        "amax + eps": lambda given: _emit(given, _scale(given, _amax(given, np.abs(given.x)) + F(1e-5))),
        "eps of 1e-5": lambda given: _emit(given, _scale(given, _amax(given, np.abs(given.x), 1e-5))),
        "no eps: 0 / 0": lambda given: _emit(given, _scale(given, _amax(given, np.abs(given.x), 0.0))),
        "1 / scale is written": lambda given: _emit(given, _scale(given), F(1) / _scale(given)),
        "NaN beyond the largest": _nan_at_the_top,
        "neighbours swapped": _swapped,
    }),
    I8.name: (I8, "x / scale", {**COMMON, "cut, not rounded": _cut_to_integer}),
    f"{E4M3}, powers": (E4M3, "power up", {
        "half away from 0": lambda given: _emit(given, up(given)[1], rounding="away"),
        "by way of bf16": lambda given: _through(BF16, given, up(given)[1]),
        "scale rounded down": lambda given: _emit(given, _power(given, np.floor)),
        "scale to the nearest power": lambda given: _emit(given, _power(given, np.rint)),
        "bias of 128": lambda given: _emit(given, up(given)[1], up(given)[1] / F(2)),
        "x / the scale before it is a power": lambda given: _emit(given, _scale(given), up(given)[1]),
    }),
}  # fmt: skip
"""By format: its element, the right way, and the wrong ones."""


@dataclass
class PlantedQuantizer:
    """One wrong quantizer: its active groups, how many of them each criterion sees, and right groups it accuses."""

    name: str
    active: int = 0
    groups: int = 0
    caught: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CRITERIA, 0))
    accused: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CRITERIA, 0))


@np.errstate(all="ignore")
def count_bug(format_name: str, bug: str, groups: int, seed: int = 5) -> PlantedQuantizer:
    """One bug over hostile rows; right ones are those of another right way, which elsewhere are often accused."""
    element, way_name, plants = PLANTED[format_name]
    way = next(one for one in WAYS if one.name == way_name)
    group, rng = (32, np.random.default_rng(seed)) if way.scale is E8M0 else (128, np.random.default_rng(seed))
    cols = 2 * group + group // 3
    x = hostile_rows(rng, -(-groups // 3), cols, group, element)
    given = QuantizerSetting(x, group, element, rng)
    t, right_s = way.compute(given)
    right_q = grid_of(element).round(t.astype(np.float64))
    q, s = plants[bug](given)
    active = _any_in(~(q == right_q), group) | (s != right_s)
    found = PlantedQuantizer(f"{format_name}: {bug}", int(active.sum()), active.size)
    for name, mask in _seen(given, way, way.claim, q, s, right_q, right_s).items():
        found.caught[name] = int((mask & active).sum())
    other = next(
        one for one in WAYS if one.name == ("x (1 / scale)" if way_name == "x / scale" else "power up by bits")
    )
    t, s = other.compute(given)
    q = grid_of(element).round(t.astype(np.float64))
    for name, mask in _seen(given, other, other.claim, q, s, right_q, right_s).items():
        found.accused[name] = int(mask.sum())
    return found


def _seen(
    given: QuantizerSetting, way: QuantizerWay, claim: Accuracy, q: Reals, s: Singles, right_q: Reals, right_s: Singles
) -> dict[str, Mask]:
    """The groups that each criterion calls wrong."""
    group, grid = given.group, grid_of(given.element)
    back = q * given.spread(s)
    amax = given.spread(largest_of_blocks(np.abs(given.x), (1, group)))
    trip = np.abs(back - given.x) <= 0.1 * np.abs(given.x) + 0.02 * amax
    places, wanted = grid.places(q), grid.places(right_q)
    near = (np.abs(places - wanted) <= 1) & (np.isnan(q) == np.isnan(right_q))
    stored = replace(way, scale=way.scale if way.scale.kind == "power" else F32)
    mine = judge_rows(given.x, q, s, claim, stored, given.element, group)
    return {
        "round trip 1e-1": _any_in(~trip, group),
        "codes within 1": _any_in(~near, group) | ~np.isclose(s, right_s, rtol=1e-3, atol=0, equal_nan=True),
        "equal codes": _any_in(~(q == right_q), group),
        "kfuzz": _any_in(mine.codes, group) | mine.scales,
    }


def _any_in(wrong: Mask, group: int) -> Mask:
    return np.asarray(largest_of_blocks(wrong.astype(np.int8), (1, group)) > 0)


def bugs() -> list[tuple[str, str]]:
    """Every planted bug, by its format."""
    return [(form, bug) for form, (_, _, plants) in PLANTED.items() for bug in plants]
