"""How often a kernel rounds, counted at many sizes with runs of the count flavour.

Knows claims and the counter; never how the counts are used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Job
from kfuzz.devices.cpu.counting import FAST, PRODUCT, QUOTIENT, STAGES, RunCounts, UncountedError
from kfuzz.measure.roundings.grounds import grounds, inputs_of

SEEDS = (1, 2)
"""Two places for each array: one with the worst claimed alignment, one well aligned."""

ChosenLaunches = tuple[tuple[int, ...], ...]
"""The launches of a claim by position, each with the template arguments that the sizes select."""


class CountsRoundings(Protocol):
    """Runs a job and counts."""

    def count(self, job: Job, seed: int = 0, timeout: float = 10.0) -> RunCounts | None:
        """The counts; None if the job does not end. UncountedError if something in it does not count."""


@dataclass(frozen=True)
class Sample:
    """The counts at some sizes: the largest over all elements, orders of values and alignments."""

    axes: Mapping[str, int]
    tune: Mapping[str, int]
    sizes: Mapping[str, int]
    launches: ChosenLaunches
    adds: Mapping[str, int]
    """The largest number of additions in each stage."""
    has_narrow: bool
    has_wide: bool
    """Whether additions are of floats, and whether of doubles."""
    rescales: int
    scalings: int
    """The products of a sum with an exp, and those of an input with an exp."""
    flags: int
    divisors: int
    """The largest number of different divisors in one row."""
    has_exp: bool
    is_unshifted: bool
    """No exp has an argument from which something was subtracted."""

    @property
    def most_adds(self) -> int:
        """The largest count of any stage."""
        return max(self.adds.values())


@dataclass(frozen=True)
class MeasuredCounts:
    """The samples of a kernel; `trouble` says why there are none, or why they cannot be trusted."""

    samples: tuple[Sample, ...]
    trouble: str = ""

    @property
    def flags(self) -> int:
        return int(np.bitwise_or.reduce([0, *(sample.flags for sample in self.samples)]))


def measure(kernel: Kernel, counter: CountsRoundings) -> MeasuredCounts:
    """Count at all chosen sizes and launches; ClaimError if the kernel does not compile for counting."""
    samples: list[Sample] = []
    for axes, tune in grounds(kernel):
        sample = sampled(kernel, axes, tune, counter)
        if isinstance(sample, str):
            return MeasuredCounts(tuple(samples), sample)
        samples.append(sample)
    return MeasuredCounts(tuple(samples))


def sampled(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int], counter: CountsRoundings) -> Sample | str:
    """The counts at these sizes, or the reason in words why there are none."""
    counts: list[RunCounts] = []
    for seed in SEEDS:
        bound = kernel.bind(inputs_of(kernel, axes), tune)
        try:
            counted = counter.count(bound.job, seed)
        except UncountedError as error:
            return str(error)
        if counted is None:
            return "the kernel does not come to its end while it is counted"
        if counted.lost:
            return "numbers are moved as bits (memcpy, int4, atomicCAS), and what they went through is lost"
        if counted.crowded:
            return "there is too much to count at once"
        counts.append(counted)
    trails = [trail for one in counts for trail in one.outputs.values()]
    flags = int(np.bitwise_or.reduce([int(np.bitwise_or.reduce(trail["flags"], axis=None)) for trail in trails]))
    narrow, wide = ({one: most(trails, f"{kind}_of_{one}") for one in STAGES} for kind in ("adds", "wide_adds"))
    return Sample(
        axes=axes,
        tune=tune,
        sizes=kernel.sizes(axes, tune),
        launches=chosen(kernel, kernel.sizes(axes, tune)),
        adds={stage: narrow[stage] + wide[stage] for stage in STAGES},
        has_narrow=any(narrow.values()),
        has_wide=any(wide.values()),
        rescales=most(trails, "rescales"),
        scalings=most(trails, "scalings"),
        flags=flags & (QUOTIENT | PRODUCT | FAST),
        divisors=max(map(most_divisors, trails)),
        has_exp=any(one.exps for one in counts),
        is_unshifted=all(one.exps and one.exps == one.unshifted for one in counts),
    )


def most(trails: Sequence[NDArray[np.void]], name: str) -> int:
    return max(int(trail[name].max()) for trail in trails)


def chosen(kernel: Kernel, sizes: Mapping[str, int]) -> ChosenLaunches:
    """The launches that the claim makes at these sizes, each with the template arguments that the sizes select."""
    return tuple(
        (i, *(one(sizes) for one in launch.holes.values() if not one.names <= kernel.tune.keys()))
        for i, launch in enumerate(kernel.launches)
        if launch.is_made(sizes)
    )


def most_divisors(trail: NDArray[np.void]) -> int:
    """The largest number of different divisors in one row of the trail."""
    rows = trail["divisor"].reshape(-1, trail.shape[-1])
    return max(len(set(row.tolist()) - {0}) for row in rows)


def group_by_launches(samples: Sequence[Sample]) -> dict[ChosenLaunches, list[Sample]]:
    """The samples, grouped by the launches that they made."""
    found: dict[ChosenLaunches, list[Sample]] = {}
    for sample in samples:
        found.setdefault(sample.launches, []).append(sample)
    return found


def launches_at(kernel: Kernel, sample: Sample, axis: str, size: int) -> ChosenLaunches:
    """The launches if one axis of a sample has another size."""
    return chosen(kernel, kernel.sizes({**sample.axes, axis: size}, sample.tune))
