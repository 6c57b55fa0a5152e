"""Which trial comes when: a pure function of the seed, the kernel's name and the trial's number.

So a campaign is the same whoever runs which part of it, and any of its trials can be run again alone. Knows plans
and probes; never what came of a trial.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from kfuzz.callables.libraries import libraries
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Probe, PythonCall
from kfuzz.gpu.options import GpuOptions
from kfuzz.kinds import Kind
from kfuzz.search.choose import seed_of, seeded
from kfuzz.search.plan import Attempt, plan
from kfuzz.search.scale import BUDGET, CHECK_BUDGET, CHECK_WORK, OF_ELEMENTS, WORK, Large

FIRST_BUDGET, TRIALS_A_DOUBLING = 64, 2
"""Cases start small and may double every so many trials: what breaks small is found small, and at once."""
CHECK_EVERY, CHECK_FIRST = 6, 1
EVERY_RUN_FIRST, EVERY_RUN_IN = 32, 4
"""The first trials of a kernel, and one in so many of the others, are run as often as is asked for; the rest twice,
in another order with another poison each time: what depends on either shows in the next trials if not in this one."""
LARGE_EVERY = 1024
LARGE: dict[int, Large] = {
    60: "elements",
    100: "columns",
    150: "rows",
    200: "turns",
    247: "turns",
    264: "overflow",
    280: "columns",
}
"""Sizes that ordinary trials do not reach: seldom, since so many rows take as long as a hundred other trials."""
OVERFLOW_EVERY = 8 * LARGE_EVERY
"""Beyond 2^31 elements more seldom still: on a card that is a second or two, in which nobody else has room."""
LARGE_TIMEOUT = 3
"""Times as long as others may such a trial take on the device: with its judging, no more than 10 seconds."""
MOST_PROGRAMS = 16
"""Along each size, where an interpreter runs them."""
BLOCKS = (2, 4, 8, 16, 32)
"""Trials of a kernel in the first rounds; the last number is for all that follow."""


AGAIN = 3 << 40
"""A trial that is not to be run as it was drawn is drawn again, by its number and a multiple of this: that of another
trial, but for the turn it has."""
SANITIZE_FIRST, SANITIZE_EVERY = 967, 6144
"""Which trials are watched by compute-sanitizer, where there is one: as long as thousands of others, so seldom."""


@dataclass(frozen=True)
class Block:
    """Trials first .. last - 1 of one kernel, by its place among the kernels of the campaign.

    `fatal`: the trials before them that are known to have ended their process.
    """

    kernel: int
    first: int
    last: int
    fatal: tuple[tuple[int, Kind], ...] = ()


@dataclass(frozen=True)
class Shard:
    """One of `count` parts of a campaign, from 1 on: each trial is in one, and they cost alike."""

    place: int = 1
    count: int = 1

    def __str__(self) -> str:
        return f"{self.place}/{self.count}"

    def has(self, kernel: Kernel, index: int) -> bool:
        """Whether a trial is of this part: drawn, for large and checked trials come by number."""
        return self.count == 1 or seed_of("shard", kernel.name, index) % self.count == self.place - 1


WHOLE = Shard()


def attempt_of(kernel: Kernel, seed: int, index: int, budget: int = BUDGET) -> Attempt:
    """The input of a kernel's trial number `index`."""
    if is_interpreted(kernel):
        kernel, budget = with_few_programs(kernel), min(budget, BUDGET - 1)
    most, work = min(budget, FIRST_BUDGET << min(index % AGAIN // TRIALS_A_DOUBLING, 32)), WORK
    if is_check(index):
        most, work = min(most, CHECK_BUDGET), CHECK_WORK
    large = large_of(index) if budget >= BUDGET else None
    return plan(kernel, seeded(seed_of(seed, kernel.name, index)), most, work, large)


def is_interpreted(kernel: Kernel) -> bool:
    """Whether an interpreter runs its programs one by one."""
    languages = [entry.language for entry in kernel.entries if isinstance(entry, PythonCall)]
    return any(libraries()[one].interpreter is not None for one in languages)


def with_few_programs(kernel: Kernel) -> Kernel:
    """The kernel with few programs: all its sizes but the last make more of them, and each takes milliseconds."""
    first = {name: axis for name, axis in list(kernel.axes.items())[:-1] if not axis.listed}
    few = {name: replace(axis, hi=max(axis.lo, min(axis.hi, MOST_PROGRAMS))) for name, axis in first.items()}
    return replace(kernel, axes={**kernel.axes, **few})


def probe_of(kernel: Kernel, seed: int, index: int, runs: int, timeout: float, fatal: tuple[Kind, ...] = ()) -> Probe:
    """How trial number `index` is looked at: mostly for its results, now and then access by access."""
    number = seed_of(seed, kernel.name, index, "probe") >> 33
    if is_large(index):
        often = 2 if large_of(index) == "turns" else 1  # of the others none is about the order of threads
        return Probe(is_check(index), often, number, LARGE_TIMEOUT * timeout, fatal=fatal)
    if index % AGAIN >= EVERY_RUN_FIRST and index % EVERY_RUN_IN:
        runs = min(runs, 2)
    is_watched = index % SANITIZE_EVERY == SANITIZE_FIRST
    return Probe(is_check(index), runs, number, timeout, fatal, (GpuOptions(sanitize=is_watched),))


def is_check(index: int) -> bool:
    """Whether a trial looks at every access; of the large ones, where a second share may race with the first."""
    return index % CHECK_EVERY == CHECK_FIRST and large_of(index) in (None, "turns")


def is_large(index: int) -> bool:
    """Whether a trial is one of those that ordinary trials do not reach."""
    return large_of(index) is not None


def large_of(index: int) -> Large | None:
    """What ordinary trials do not reach and this one does; None of an ordinary one."""
    what = LARGE.get(index % LARGE_EVERY)
    return None if what == "overflow" and index % OVERFLOW_EVERY >= LARGE_EVERY else what


def is_for_hardware(index: int) -> bool:
    """Whether a trial is about many elements alone: what a gpu does in no time, and sees as well as the cpu."""
    return large_of(index) in OF_ELEMENTS


def quotas(kernels: int, max_cases: int | None) -> list[int | None]:
    """How many trials each kernel gets: as many as any other, or one more; None is without end."""
    if max_cases is None:
        return [None] * kernels
    return [max_cases // kernels + (place < max_cases % kernels) for place in range(kernels)]


def trial_count(kernels: Sequence[Kernel], given: Sequence[int | None], shard: Shard) -> int | None:
    """How many trials a shard has; None is without end."""
    if None in given:
        return None
    return sum(
        shard.has(kernel, index) for kernel, most in zip(kernels, given, strict=True) for index in range(most or 0)
    )


def rounds(given: Sequence[int | None]) -> Iterator[list[Block]]:
    """Blocks round by round, a few trials of each kernel at first, until every kernel has what it was given."""
    done = 0
    for number in count():
        size = BLOCKS[min(number, len(BLOCKS) - 1)]
        ends = [done + size if most is None else min(done + size, most) for most in given]
        blocks = [Block(place, done, end) for place, end in enumerate(ends) if end > done]
        if not blocks:
            return
        yield blocks
        done += size
