"""The meaning of recorded times: medians and spreads, ranks, the limit of physics, and the probability of a change.

Knows numbers of seconds and bytes; never a GPU.
"""

import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

TIE = 0.01
"""Fractions of the copy move by one point at most between machines of one kind (docs/bench.md#how-sure-it-is)."""
DRAWS = 2000


@dataclass(frozen=True)
class Recording:
    """The seconds that one launch took, once for each replay: of a kernel, a rival or a copy.

    `tune` is the launch that was fastest, where there are several.
    """

    name: str
    seconds: tuple[float, ...]
    tune: tuple[tuple[str, int], ...] = ()

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def spread(self) -> float:
        """The width of the middle half of all replays, as a part of the median."""
        low, _, high = quantiles(self.seconds, n=4)
        return (high - low) / self.median


@dataclass(frozen=True)
class Traffic:
    """The bytes that a launch must move: each input is read once, and each output is written once."""

    read: int
    written: int

    @property
    def total(self) -> int:
        return self.read + self.written


@dataclass(frozen=True)
class ProductCost:
    """The multiplications and additions of a matrix product, and the seconds that they take a GPU at its peak.

    Both are 0 if the op has no such cost, and `seconds` also if the GPU's peak is not known.
    """

    operations: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Measure:
    """What a time is compared with: `copy`, `cuBLAS` or `peak`, and how long that takes."""

    name: str
    seconds: float


@dataclass(frozen=True)
class GpuFigures:
    """A GPU by its data sheet: bytes of second-level cache, and bytes a second through the pins of its memory."""

    name: str
    cache: int
    peak: float


@dataclass(frozen=True)
class Heat:
    """All that was recorded of one size in one run: each figure has copies of the same run.

    `products` are the same matrix product by cuBLAS. `refused` says why a contestant has no figure.
    """

    axes: dict[str, int]
    traffic: Traffic
    kernels: tuple[Recording, ...]
    rivals: tuple[Recording, ...]
    copies: tuple[Recording, ...]
    refused: dict[str, str]
    products: tuple[Recording, ...] = ()
    cost: ProductCost = ProductCost()

    @property
    def copy(self) -> Recording:
        """The best copy of as many bytes."""
        return min(self.copies, key=lambda one: one.median)

    @property
    def measure(self) -> Measure:
        """cuBLAS if the op is a product; else the GPU's peak if arithmetic takes longer than a copy; else the copy."""
        if self.products:
            return Measure("cuBLAS", min(one.median for one in self.products))
        if self.cost.seconds > self.copy.median:
            return Measure("peak", self.cost.seconds)
        return Measure("copy", self.copy.median)

    @property
    def is_of_bytes(self) -> bool:
        """Whether its rate is one of bytes, and not of arithmetic."""
        return self.measure.name == "copy"

    def rate(self, one: Recording) -> float:
        """Bytes a second, or operations of arithmetic."""
        return (self.traffic.total if self.is_of_bytes else self.cost.operations) / one.median

    def fraction(self, one: Recording) -> float:
        """Its rate as a fraction of the rate of `measure`, in the same run."""
        return self.measure.seconds / one.median


def describe_rank(one: Recording, others: Sequence[Recording]) -> str:
    """A comparison with the fastest of the others: how much longer the slower one takes, or a tie under 1 %."""
    if not others:
        return ""
    best = min(others, key=lambda other: other.median)
    faster, slower = sorted((one.median, best.median))
    longer = slower / faster - 1
    if longer < TIE:
        return f"tie with {best.name}"
    return f"{'ahead of' if one.median < best.median else 'behind'} {best.name} by {longer:.0%}"


def beyond_physics(one: Recording, traffic: Traffic, gpu: GpuFigures, rotation: int) -> str:
    """Why no GPU can have done this work in this time; empty if one can.

    All that a rotation of buffers moves passes the memory's pins, except at most what the cache holds.
    """
    launches = max(1, rotation // max(traffic.total, 1))
    least = max(0.0, launches * traffic.total - gpu.cache) / launches / gpu.peak
    if one.median * (1 + one.spread) >= least:
        return ""
    return (
        f"faster than physics: {one.median * 1e6:.1f} us for {traffic.total / 1e6:.1f} MB, and the memory of a "
        f"{gpu.name} moves {gpu.peak / 1e12:.2f} TB/s: it skips work, or has kept an answer"
    )


def chance_of_no_change(before: Sequence[float], now: Sequence[float], seed: int = 0) -> float:
    """How often the ranks of two recordings differ as much if both are shuffled together: a permutation test."""
    every = [*before, *now]
    ordered = sorted(every)
    ranks = [bisect_left(ordered, value) + bisect_right(ordered, value) for value in every]  # twice the mean rank
    usual = len(before) * sum(ranks)

    def apart() -> int:
        return abs(len(every) * sum(ranks[: len(before)]) - usual)

    seen, draw, hits = apart(), random.Random(seed), 0  # noqa: S311  a test of chance, nothing is kept secret
    for _ in range(DRAWS):
        draw.shuffle(ranks)
        hits += apart() >= seen
    return (hits + 1) / (DRAWS + 1)


def describe_change(before: float, now: float, chance: float, of: str = "copy") -> str:
    """Describe in words how a fraction has changed."""
    if abs(now - before) < TIE:
        return "as before"
    word = "faster" if now > before else "slower"
    return f"{word}: {now:.3f} of {of}, was {before:.3f} (by chance in {chance:.2%} of all cases)"
