"""The false alarms and the power of the sequential test of draws (oracle/numbers/evidence.py).

    python -m benchmarks.tightness measure evidence RUNS

Null runs draw from distributions within bounds, most of them at an end of the bounds, and look at the evidence after
every draw. Ville's inequality says how many may exceed a level on average; the last row says how many do so only once
in 10^9 experiments, if the probability is the largest possible.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.measurement import Figures
from kfuzz.oracle.numbers.evidence import LOG_LEVEL, Chances, log_evidence

LEVELS = (2, 10, 100, 1_000, 10_000, 100_000)
DRAWS, CHUNK = 60, 50_000


@dataclass(frozen=True)
class Null:
    """A distribution, and the bounds within which it is known."""

    name: str
    p: tuple[float, ...]
    lo: tuple[float, ...]
    hi: tuple[float, ...]

    @property
    def chances(self) -> Chances:
        return Chances(np.array([self.lo]), np.array([self.hi]))


def exact(name: str, *p: float) -> Null:
    return Null(name, p, p, p)


NULLS = (
    exact("a fair coin, known exactly", 0.5, 0.5),
    exact("1 in 100, known exactly", 0.01, 0.99),
    exact("three, known exactly", 0.7, 0.2, 0.1),
    exact("eight, known exactly", 0.4, 0.2, 0.15, 0.1, 0.05, 0.05, 0.03, 0.02),
    Null("a coin at the upper end of its bounds", (0.55, 0.45), (0.45, 0.45), (0.55, 0.55)),
    Null("a coin within its bounds", (0.5, 0.5), (0.45, 0.45), (0.55, 0.55)),
    Null("1 in 50 where 0 to 1 in 50 is possible", (0.02, 0.98), (0.0, 0.98), (0.02, 1.0)),
    Null("three, each at an end", (0.75, 0.15, 0.1), (0.65, 0.15, 0.1), (0.75, 0.25, 0.15)),
)


def crossings(null: Null, runs: int, rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many of so many runs exceed each level at any draw."""
    ends = np.cumsum(null.p)[:-1]
    found = np.zeros(len(LEVELS), np.int64)
    for first in range(0, runs, CHUNK):
        size = min(CHUNK, runs - first)
        counts, most = np.zeros((size, len(null.p))), np.full(size, -np.inf)
        for _ in range(DRAWS):
            category = (rng.random(size)[:, None] >= ends).sum(axis=1)
            counts[np.arange(size), category] += 1
            most = np.maximum(most, log_evidence(counts, null.chances))
        found += (most[:, None] >= np.log(LEVELS)).sum(axis=0)
    return found


def most_by_chance(runs: int, level: int) -> int:
    """So many of the runs exceed a level, each with probability 1 / level, in fewer than one experiment of 10^9."""
    p, mean = 1 / level, runs / level
    count = int(mean) + 1
    while count <= runs:
        share = count / runs
        away = share * math.log(share / p) + ((1 - share) * math.log((1 - share) / (1 - p)) if share < 1 else 0)
        if runs * away > math.log(1e9):
            return count
        count += max(1, count // 1000)
    return runs


def draws_needed(p: tuple[float, ...], bounds: Chances, rng: np.random.Generator, most: int = 1 << 21) -> int:
    """The draws from p after which the evidence exceeds 2^70, to the nearest power of sqrt 2; 0 if more than `most`."""
    counts, size = np.zeros((1, len(p))), 16.0
    while size <= most:
        counts += rng.multinomial(int(size) - int(counts.sum()), p)
        if log_evidence(counts, bounds)[0] > LOG_LEVEL:
            return int(size)
        size *= math.sqrt(2)
    return 0


def softmax(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, ...]:
    weights = np.exp(x - x.max())
    return tuple(float(one) for one in weights / weights.sum())


def alternatives(rng: np.random.Generator) -> list[tuple[str, tuple[float, ...], tuple[float, ...]]]:
    """A name, the right distribution, and what a wrong kernel draws from."""
    x = rng.standard_normal(64)
    ranked = np.argsort(-x)
    kept = [float(p) if rank < 16 else 0.0 for p, rank in zip(softmax(x), np.argsort(ranked), strict=True)]
    right = tuple(p / sum(kept) for p in kept)
    last = int(ranked[15])
    short = tuple(0.0 if place == last else p / (1 - right[last]) for place, p in enumerate(right))
    uniform = (1 / 48,) * 48
    modulo = tuple((2 if place < 64 - 48 else 1) / 64 for place in range(48))
    return [
        ("dropout 0.1 that keeps 0.89", (0.9, 0.1), (0.89, 0.11)),
        ("dropout that keeps p for 1 - p, p = 0.3", (0.7, 0.3), (0.3, 0.7)),
        ("temperature 0.8 applied twice, 64 tokens", softmax(x / 0.8), softmax(x / 0.64)),
        (f"top 16 that leaves out its last token, {right[last]:.3f}", right, short),
        ("48 equal tokens by 6 bits modulo 48", uniform, modulo),
        ("1/4 up by rounding at random, always down", (0.25, 0.75), (0.0, 1.0)),
    ]


def measure(arguments: Sequence[str]) -> Figures:
    """Count the crossings of null runs, and the draws that wrong kernels need."""
    rng = np.random.default_rng(39)
    each = int(arguments[0]) // len(NULLS)
    whole = each * len(NULLS)
    nulls = [{"null": null.name, "above": crossings(null, each, rng).tolist()} for null in NULLS]
    power = []
    for name, right, wrong in alternatives(rng):
        p = np.array([right])
        bounds = (Chances(p, p), Chances(p * 0.99, np.minimum(p * 1.01, 1.0)))
        exactly, within = (sorted(draws_needed(wrong, one, rng) for _ in range(9))[4] for one in bounds)
        power.append({"wrong": name, "exactly": exactly, "within": within})
    numbers = {
        "each": each, "draws": DRAWS, "levels": [*LEVELS], "allowed": [whole // level for level in LEVELS],
        "by_chance": [most_by_chance(whole, level) for level in LEVELS],
    }  # fmt: skip
    return Figures(numbers, {"nulls": nulls, "power": power})
