"""The schedule of trials: a pure function of the seed, the kernel's name and the trial's number; for answers that are
judged, of their op's name.

So a campaign is the same however its parts are divided among processes, and any of its trials can be run again alone.
Knows plans and probes; never the result of a trial.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from kfuzz.cases.plans.choose import seed_of, seeded_choices
from kfuzz.cases.plans.counting import elements
from kfuzz.cases.plans.home import home_of
from kfuzz.cases.plans.plan import Attempt, plan, plan_at, plan_rung
from kfuzz.cases.plans.programs import MOST_PROGRAMS, has_programs
from kfuzz.cases.plans.scale import BUDGET, CHECK_BUDGET, CHECK_WORK, OF_ELEMENTS, WORK, Large
from kfuzz.cases.plans.sizes import ground_of, make_allowed
from kfuzz.cases.plans.text_sizes import Edge
from kfuzz.cases.plans.vast import ELEMENTS, Rung, rungs
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Probe
from kfuzz.devices.sanitizing import SanitizerOptions
from kfuzz.devices.targets import TargetOptions
from kfuzz.kinds import Kind

FIRST_BUDGET, TRIALS_A_DOUBLING = 64, 2
"""Cases start small and may double after this many trials: a bug that small cases show is found at once, and small."""
CHECK_EVERY, CHECK_FIRST = 6, 1
EDGE_FIRST, EDGE_TURNS, EDGE_CHECK_EVERY = 12, (2, 4, 5), 12
"""Of six trials, from the twelfth on, these have a size beside a number in the kernel's text, until each number has had
its turns: 44 of the first hundred. One of two that check has one, too, and counts for itself, as its sizes are smaller.
"""
EDGE_STARTS = 1 << 16
"""More than a text has numbers: each seed begins with another one."""
EVERY_RUN_FIRST, EVERY_RUN_IN = 32, 4
"""The first trials of a kernel, and one in EVERY_RUN_IN of the others, have as many runs as the options ask for. The
rest have two, in different orders with different poisons: a bug that depends on either shows in the next trials if not
in this one."""
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
"""Sizes that ordinary trials do not reach: rare, since so many rows take as long as a hundred other trials."""
OVERFLOW_EVERY = 8 * LARGE_EVERY
"""More than 2^31 elements are rarer still: they take a GPU a second or two and leave no room for another process."""
RUNG_FIRST, RUNG_EVERY, MOST_RUNGS = 105, 20, 96
"""The trials that climb the ladder of sizes (plans/vast.py), each rung once; other large ones have other numbers."""
BEYOND_INT = Rung(ELEMENTS, 31)
LARGE_TIMEOUT = 3
"""How many times longer than others such a trial may take on the device: with its judging, at most 10 seconds."""
BLOCKS = (2, 4, 8, 16, 32)
"""Trials of a kernel in the first rounds; the last number is for all later rounds."""
FIRST_CHECKS = sum(BLOCKS[:2])
"""All of a kernel's first trials check: on the cpu device each of a kernel's two flavours is compiled by itself, and in
the first minute with an empty cache compiling takes most of the time. With one round of them, two cores compiled 200
kernels twice for 6 trials each; with two, once."""

AGAIN = 3 << 40
"""A trial that must not run as it was drawn is drawn again by its number plus a multiple of this, and keeps its turn.
"""
MOST_DRAWS = 16
"""Such numbers of a trial with sizes of its own; with larger multiples it has the sizes of another trial."""
NEAR_HOME, AT_HOME = MOST_DRAWS - 2, MOST_DRAWS - 1
"""The last two of them: some sizes are those of the shape that the function was written for, or all are. A function
that refuses most sizes (powers of two, multiples of 16) takes that shape.
"""
SANITIZE_FIRST, SANITIZE_EVERY = 967, 6144
"""The trials that compute-sanitizer watches, if there is one: rare, since each takes as long as thousands of others."""
TARGETS_FIRST, TARGETS_EVERY = 4, 7
"""The trials that run the code for a second target of the compiler, too: six of 40, and one of the eight at the home of
an answer that is judged within 10 s. With 40 trials of a softmax in Triton it takes 0.3 of 9 s of the processor."""


@dataclass(frozen=True)
class Block:
    """Trials first .. last - 1 of one kernel, which is named by its place among the kernels of the campaign.

    `fatal`: the known earlier trials that ended their process.
    """

    kernel: int
    first: int
    last: int
    fatal: tuple[tuple[int, Kind], ...] = ()


@dataclass(frozen=True)
class Shard:
    """One of `count` parts of a campaign, counted from 1: each trial is in one part, and the parts cost alike."""

    place: int = 1
    count: int = 1

    def __str__(self) -> str:
        return f"{self.place}/{self.count}"

    def has(self, kernel: Kernel, index: int) -> bool:
        """Whether a trial belongs to this part: by a draw, since large and checked trials come at regular numbers."""
        return self.count == 1 or seed_of("shard", kernel.drawn_by or kernel.name, index) % self.count == self.place - 1


WHOLE = Shard()


def number_at_sizes_of(other: int, index: int) -> int:
    """The number of trial `index` with the sizes and launch parameters of trial `other`, and values of its own."""
    return index + (other + 1) * MOST_DRAWS * AGAIN


def source_of_sizes(number: int) -> int | None:
    """The trial whose sizes the trial of this number has; None if it has sizes of its own."""
    return number // (MOST_DRAWS * AGAIN) - 1 if number >= MOST_DRAWS * AGAIN else None


def number_near_home(index: int, is_at_home: bool) -> int:
    """The number of trial `index` with some sizes of the shape that its function was written for, or with all."""
    return index % AGAIN + (AT_HOME if is_at_home else NEAR_HOME) * AGAIN


def attempt_near_home(kernel: Kernel, seed: int, number: int, budget: int) -> Attempt:
    """The input of a trial of such a number: each size is home's or the trial's own, and at least one is home's."""
    choose = seeded_choices(seed_of(seed, kernel.drawn_by or kernel.name, number))
    given, home = attempt_of(kernel, seed, number % AGAIN, budget), home_of(kernel)
    own = kernel.axes_of(given.case.arrays)
    mixed = {name: home[name] if choose(0, 1) else size for name, size in own.items()}
    is_small = elements(kernel, mixed, given.tune) <= max(elements(kernel, one, given.tune) for one in (own, home))
    axes = mixed if number // AGAIN % MOST_DRAWS == NEAR_HOME and mixed != own and is_small else home
    ground, axes = make_allowed(ground_of(kernel, given.tune), axes, choose)
    return plan_at(kernel, axes, ground.tune, choose)


def attempt_of(kernel: Kernel, seed: int, index: int, budget: int = BUDGET) -> Attempt:
    """The input of a kernel's trial number `index`."""
    if kernel.drawn_by and kernel.source:
        return attempt_of(replace(kernel, front=replace(kernel.front, source="")), seed, index, budget)
    if kernel.home and index // AGAIN % MOST_DRAWS in (NEAR_HOME, AT_HOME):
        return attempt_near_home(kernel, seed, index, budget)
    if (other := source_of_sizes(index)) is not None:
        given = attempt_of(kernel, seed, other, budget)
        sizes = kernel.axes_of(given.case.arrays)
        return plan_at(kernel, sizes, given.tune, seeded_choices(seed_of(seed, kernel.drawn_by or kernel.name, index)))
    if has_programs(kernel):
        kernel, budget = with_few_programs(kernel), min(budget, BUDGET - 1)
    most, work = min(budget, FIRST_BUDGET << min(index % AGAIN // TRIALS_A_DOUBLING, 32)), WORK
    if is_check(index):
        most, work = min(most, CHECK_BUDGET), CHECK_WORK
    large = large_of(index) if budget >= BUDGET else None
    choose = seeded_choices(seed_of(seed, kernel.drawn_by or kernel.name, index))
    edge = edge_of(kernel, seed, index)
    if edge is not None and not is_check(index):
        most = min(budget, BUDGET)
    rung = {"overflow": BEYOND_INT, "rung": rung_of(kernel, index)}.get(large) if large else None
    return (rung and plan_rung(kernel, rung, choose)) or plan(kernel, choose, most, work, large, edge)


def edge_of(kernel: Kernel, seed: int, index: int) -> Edge | None:
    """The turn of a trial whose size is beside a number in the text; None if it is not one of these trials."""
    if kernel.drawn_by:
        return None
    number, start = index % AGAIN - EDGE_FIRST, seed_of(seed, kernel.drawn_by or kernel.name, "edges") % EDGE_STARTS
    if number < 0:
        return None
    if is_check(index):
        turn, place = divmod(number, EDGE_CHECK_EVERY)
        return Edge(turn, start) if place == CHECK_FIRST else None
    turn, place = divmod(number, CHECK_EVERY)
    return Edge(len(EDGE_TURNS) * turn + EDGE_TURNS.index(place), start) if place in EDGE_TURNS else None


def with_few_programs(kernel: Kernel) -> Kernel:
    """The kernel with few programs: all its sizes but the last add programs, and each program takes milliseconds.

    Its home stays as `home_of` makes it of all sizes: of these few alone it would be the whole of a benchmark's.
    """
    home = home_of(kernel)
    first = {name: axis for name, axis in list(kernel.axes.items())[:-1] if not axis.listed}
    most = {name: max(axis.lo, home.get(name, 0), MOST_PROGRAMS) for name, axis in first.items()}
    few = {name: replace(axis, hi=min(axis.hi, most[name])) for name, axis in first.items()}
    return replace(kernel, axes={**kernel.axes, **few}, home=home)


def probe_of(kernel: Kernel, seed: int, index: int, runs: int, timeout: float, fatal: tuple[Kind, ...] = ()) -> Probe:
    """The probe of trial number `index`: mostly it looks at results alone, sometimes at each access."""
    number = seed_of(seed, kernel.drawn_by or kernel.name, index, "probe") >> 33
    if is_large(index):
        runs = 2 if large_of(index) == "turns" else 1  # none of the others tests the order of threads
        return Probe(is_check(index), runs, number, LARGE_TIMEOUT * timeout, fatal=fatal)
    if index % AGAIN >= EVERY_RUN_FIRST and index % EVERY_RUN_IN:
        runs = min(runs, 2)
    is_watched = index % SANITIZE_EVERY == SANITIZE_FIRST
    compares = index % AGAIN % TARGETS_EVERY == TARGETS_FIRST
    options = SanitizerOptions(sanitize=is_watched), TargetOptions(compares=compares)
    return Probe(is_check(index), runs, number, timeout, fatal, options)


def is_check(index: int) -> bool:
    """Whether a trial checks every access; a large one only does if a second share may race with the first."""
    is_due = index % CHECK_EVERY == CHECK_FIRST or is_early(index)
    return is_due and large_of(index) in (None, "turns")


def is_early(index: int) -> bool:
    """Whether a trial is one of the first of its kernel, which all check."""
    return index % AGAIN < FIRST_CHECKS


def is_large(index: int) -> bool:
    """Whether a trial has sizes that ordinary trials do not reach."""
    return large_of(index) is not None


def large_of(index: int) -> Large | None:
    """What a trial has that ordinary trials do not reach; None for an ordinary trial."""
    what = LARGE.get(index % LARGE_EVERY)
    if what is None and _place_on_ladder(index) is not None:
        return "rung"
    return None if what == "overflow" and index % OVERFLOW_EVERY >= LARGE_EVERY else what


def rung_of(kernel: Kernel, index: int) -> Rung | None:
    """The rung of a trial on the ladder; None if it is not on it, or all rungs have been tried."""
    place = _place_on_ladder(index)
    return None if place is None else next(iter(rungs(kernel)[place : place + 1]), None)


def _place_on_ladder(index: int) -> int | None:
    place, between = divmod(index % AGAIN - RUNG_FIRST, RUNG_EVERY)
    return place if not between and 0 <= place < MOST_RUNGS else None


def is_for_hardware(index: int) -> bool:
    """Whether a trial only has many elements: a gpu is fast there and detects as much as the cpu."""
    return large_of(index) in OF_ELEMENTS


def quotas(kernels: int, max_cases: int | None) -> list[int | None]:
    """How many trials each kernel gets: the same number, or one more; None means without end."""
    if max_cases is None:
        return [None] * kernels
    return [max_cases // kernels + (place < max_cases % kernels) for place in range(kernels)]


def trial_count(kernels: Sequence[Kernel], given: Sequence[int | None], shard: Shard) -> int | None:
    """How many trials a shard has; None means without end."""
    if None in given:
        return None
    return sum(
        shard.has(kernel, index) for kernel, most in zip(kernels, given, strict=True) for index in range(most or 0)
    )


def rounds(given: Sequence[int | None]) -> Iterator[list[Block]]:
    """Blocks round by round, with a few trials of each kernel at first, until every kernel has its number of trials."""
    done = 0
    for number in count():
        size = BLOCKS[min(number, len(BLOCKS) - 1)]
        ends = [done + size if most is None else min(done + size, most) for most in given]
        blocks = [Block(place, done, end) for place, end in enumerate(ends) if end > done]
        if not blocks:
            return
        yield blocks
        done += size
