"""The rows that test tolerances: without them most bugs, and most holes in a bound, stay inactive."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.numbers.enclosure import FLT_MAX

Row = NDArray[np.float32]
Maker = Callable[[int, np.random.Generator], NDArray[np.floating[Any]]]

TILE = 256


def _normal(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.standard_normal(n)


def _masked(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A leading -inf, half of the rest -inf, and at least one number."""
    x = np.where(rng.random(n) < 0.5, -np.inf, rng.standard_normal(n))
    x[0] = -np.inf
    x[-1] = 0.5
    return x


def _between_shares(first: float, last: float) -> Maker:
    """Numbers between these two shares of the row, -inf before and after."""

    def make(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        start = min(int(first * n), n - 1)
        place = np.arange(n)
        return np.where((place >= start) & (place < max(int(last * n), start + 1)), rng.standard_normal(n), -np.inf)

    return make


def _spike(place: Callable[[int], int], height: float) -> Maker:
    def make(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        x = rng.standard_normal(n)
        x[place(n)] += height
        return x

    return make


def _tile_high(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """The last tile is 120 above the rest."""
    x = rng.standard_normal(n)
    x[(n - 1) // TILE * TILE :] += 120
    return x


FAMILIES: dict[str, Maker] = {
    "normal": _normal,
    "normal x10": lambda n, rng: 10 * rng.standard_normal(n),
    "wide -100..0": lambda n, rng: rng.uniform(-100, 0, n),
    "offset +-25": lambda n, rng: rng.standard_normal(n) + rng.choice([-25.0, 25.0]),
    "+-FLT_MAX": lambda n, rng: rng.choice([-FLT_MAX, FLT_MAX], n),
    "constant 0.7": lambda n, rng: np.full(n, 0.7),
    "biased sum": lambda n, rng: np.full(n, -0.4054651),
    "near-ties rising": lambda n, rng: 1e-9 * np.arange(n),
    "steps of one rounding": lambda n, rng: 3e-8 * np.arange(n) / max(n, 1),
    "ascending": lambda n, rng: np.linspace(-30, 5, n),
    "descending": lambda n, rng: np.linspace(5, -30, n),
    "denormal outputs": lambda n, rng: np.where(np.arange(n) == n // 2, 0.0, rng.uniform(-104, -86, n)),
    "masked": _masked,
    "leading -inf": _between_shares(0.5, 1),
    "trailing -inf": _between_shares(0, 0.5),
    "spike last": _spike(lambda n: n - 1, 12),
    "spike first": _spike(lambda n: 0, 12),
    "spike in the middle": _spike(lambda n: n // 2, 12),
    "spike before a tile edge": _spike(lambda n: min(TILE - 1, n - 1), 12),
    "high spike last": _spike(lambda n: n - 1, 120),
    "high spike first": _spike(lambda n: 0, 120),
    "high spike in the middle": _spike(lambda n: n // 2, 120),
    "high spike at a tile edge": _spike(lambda n: min(TILE, n - 1), 120),
    "last tile high": _tile_high,
    "all near -200": lambda n, rng: rng.standard_normal(n) - 200,
    "all -FLT_MAX": lambda n, rng: np.full(n, -FLT_MAX),
    "integers": lambda n, rng: np.rint(rng.uniform(-60, 0, n)),
    "two values": lambda n, rng: rng.choice([0.0, -3.0], n),
    "two values far apart": lambda n, rng: np.where(np.arange(n) == n // 3, 0.0, -9.7),
    "tiny 1e-20": lambda n, rng: 1e-20 * rng.standard_normal(n),
}

NEARLY_CONSTANT = ("biased sum", "steps of one rounding", "tiny 1e-20")
"""Rows constant up to rounding: each is a trap for a bound; for a planted bug "constant 0.7" represents them all."""


def family_rows(n: int, seed: int, without: tuple[str, ...] = ()) -> Row:
    """One row of every family, in the order of FAMILIES."""
    rng = np.random.default_rng([n, seed])
    made = {name: make(n, rng).astype(np.float32) for name, make in FAMILIES.items()}
    return np.stack([row for name, row in made.items() if name not in without])
