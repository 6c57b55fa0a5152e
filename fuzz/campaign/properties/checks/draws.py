"""Draws: the answers of an op that draws follow their distribution; another seed, offset or row gives other numbers.

One row is repeated, and drawn from with many seeds and offsets. The test is sequential, and bounds its false alarms
(docs/numerics.md#draws). Knows seeds and rows; the oracle knows what may be drawn.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from kfuzz.campaign.properties.frequencies import Quantities
from kfuzz.campaign.properties.property import Examined, NamedOutputs
from kfuzz.campaign.properties.rows import count_rows, with_rows
from kfuzz.campaign.properties.twins import has_error, run_once
from kfuzz.cases.case import Case, case_for
from kfuzz.cases.plans.choose import Choose, once_in, one_of, seed_of, seeded_choices
from kfuzz.claims.bound import Bound
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.arrays import Array
from kfuzz.devices import ClaimError, Finding
from kfuzz.oracle.bounds.question import enclose_rounded, enclose_sets
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import values
from kfuzz.oracle.numbers.evidence import Chances

WORDS = "draws"
LOOK_ONCE_IN = 4
MOST_ROWS, MOST_ELEMENTS = 512, 1 << 13
FEWEST_ROWS, MOST_THREADS = 32, 1 << 13
"""A call has fewer rows if it needs more threads than this, but not fewer than these."""
DRAWS, FEWEST_CALLS, MOST_CALLS = 4096, 8, 16
"""The draws of a quantity that are wanted, and the calls in which they are made."""
FAR_APART = 1 << 20
"""The distance of two offsets: more numbers than one thread draws in a call."""
LARGEST_SEED = (1 << 31) - 1
MOST_OF_FEW = 8
"""Elements of a short row, from which every second look draws: with few of them, each frequency is soon known."""
SCALES = (0.5, 1.0, 2.0)
OWN_ROW_ONCE_IN = 4
"""One trial in so many draws from a row of its own case; the others from normal numbers, of which many matter."""


def is_claimed(kernel: Kernel) -> bool:
    """To compute an op that draws is the claim."""
    return True


def why_untested(kernel: Kernel) -> str:
    if not find(kernel.op).draws and not rounds_at_random(kernel):
        return f"{kernel.roles.op} draws nothing"
    if not kernel.random:
        return "the claim names no seed: [random] seed"
    if any(
        one.fill and one.fill.size and one.fill.size.names & kernel.random.keys() and not is_single(one)
        for one in kernel.arrays.values()
    ):
        return "the claim gives all rows the seed that each is to have for itself"
    return "" if kernel.roles.cut else f"no row of {kernel.roles.op} has an answer of its own"


def rounds_at_random(kernel: Kernel) -> bool:
    """Whether it is a quantizer that claims stochastic rounding."""
    return find(kernel.op).has_grid and kernel.rounding.models.quantize.round == "stochastic"


def is_single(array: Array) -> bool:
    """Whether an array has one element."""
    return all(size.text == "1" for size in array.shape)


def look(trial: Examined) -> Finding | bool | None:
    if not trial.is_right or not trial.outcome.runs or not prod(trial.case.axes.values()):
        return None
    choose = seeded_choices(seed_of("draws", trial.probe.seed))
    if not once_in(choose, LOOK_ONCE_IN):
        return None
    case = repeat_row(trial, choose)
    if case is None:
        return None
    sample: Frequencies | None = None
    before: Mapping[str, int] = {}
    for random in calls(trial.kernel, count_rows(trial.kernel, case), choose):
        kernel = replace(trial.kernel, random={**trial.kernel.random, **random})
        try:
            bound = kernel.bind(case.arrays, trial.tune)
        except ClaimError:
            return None
        outcome = run_once(trial, replace(bound.job, earlier=()))
        if not outcome.runs or has_error(outcome):
            return None
        got = kernel.outputs(outcome.runs[0].outputs, bound.sizes)
        if sample is None:
            sample = Frequencies.of(kernel, case, bound, got)
            if sample is None:
                return None
        found = sample.add(seeds_text(random), got, is_next(random, before))
        before = random
        if found is not None:
            return found
    return True


def repeat_row(trial: Examined, choose: Choose) -> Case | None:
    """As many equal rows as the claim takes: a row of the trial's case, or one of normal numbers."""
    kernel, case = trial.kernel, trial.case
    row = with_rows(kernel, case, np.array([choose(0, count_rows(kernel, case) - 1)]))
    short = shorten(kernel, row, choose(2, MOST_OF_FEW))
    if once_in(choose, 2) and kernel.takes(short.arrays, trial.tune):
        row = short
    if not once_in(choose, OWN_ROW_ONCE_IN):
        row = with_normal_numbers(kernel, row, choose)
    size = 1 << max(min(MOST_ROWS, MOST_ELEMENTS // max(row.elements, 1)), 1).bit_length() - 1
    while size:
        many = with_rows(kernel, row, np.zeros(size, np.intp))
        is_cheap = size <= FEWEST_ROWS or count_threads(kernel, many, trial.tune) <= MOST_THREADS
        if is_cheap and kernel.takes(many.arrays, trial.tune):
            return many
        size //= 2
    return None


def count_threads(kernel: Kernel, case: Case, tune: Mapping[str, int]) -> int:
    """The threads of all launches of a call; 0 if the claim gives no launch."""
    if not kernel.takes(case.arrays, tune):
        return 0
    try:
        steps = kernel.bind(case.arrays, tune).job.steps
    except ClaimError:
        return 0
    return sum(prod(step.grid) * prod(step.block) for step in steps)


def shorten(kernel: Kernel, row: Case, most: int) -> Case:
    """The first elements of a row, at most so many along each dimension."""
    arrays = dict(row.arrays)
    for role, array in row.arrays.items():
        for axis, size in enumerate(array.shape):
            if axis != kernel.roles.cut.get(role):
                arrays[role] = arrays[role].take(np.arange(min(size, most)), axis=axis)
    return case_for(kernel, arrays, row.dimensions)


def with_normal_numbers(kernel: Kernel, row: Case, choose: Choose) -> Case:
    """The row with normal numbers in its place, some of them equal."""
    rng = np.random.default_rng(choose(0, LARGEST_SEED))
    scale, has_ties = one_of(choose, SCALES), once_in(choose, 2)
    low, high = kernel.value_range or (-np.inf, np.inf)
    arrays = dict(row.arrays)
    for role in kernel.roles.cut:
        if role in arrays and role not in kernel.roles.integers:
            made = scale * rng.standard_normal(arrays[role].shape)
            made = np.rint(8 * made) / 8 if has_ties else made
            arrays[role] = np.clip(made, low, high).astype(np.float32)
    return case_for(kernel, arrays, row.dimensions)


def calls(kernel: Kernel, rows: int, choose: Choose) -> Iterator[Mapping[str, int]]:
    """The seeds and offsets of some calls, no two of them the same; every second seed is the one before it plus 1."""
    count = min(max(DRAWS // rows, FEWEST_CALLS), MOST_CALLS)
    seed, offset = kernel.written.random.seed, kernel.written.random.offset
    firsts = [choose(2, LARGEST_SEED - 1) for _ in range(count // 2)] if seed else []
    if seed:
        yield from ({seed: one} for one in dict.fromkeys(one + step for one in firsts for step in (0, 1)))
    if offset:
        yield from ({offset: place * FAR_APART} for place in range(1, 1 + count // (2 if seed else 1)))


def is_next(random: Mapping[str, int], before: Mapping[str, int]) -> bool:
    """Whether a call has the seed of the call before it plus 1; offsets are never that near."""
    return random.keys() == before.keys() and all(one == before[name] + 1 for name, one in random.items())


def seeds_text(random: Mapping[str, int]) -> str:
    """`seed = 5`."""
    return ", ".join(f"{name} = {value}" for name, value in random.items())


@dataclass
class Frequencies:
    """The draws of calls with different seeds, for each output."""

    outputs: tuple[Quantities, ...]

    @classmethod
    def of(cls, kernel: Kernel, case: Case, bound: Bound, got: NamedOutputs) -> "Frequencies | None":
        """Before the first draw is counted; None if no output is drawn by the kernel's own numbers."""
        op, rows = find(kernel.op), count_rows(kernel, case)
        stored = {str(one.writes): one.element for one in kernel.arrays.values() if one.writes}
        given = kernel.stored(case.arrays)
        with np.errstate(all="ignore"):
            claimed = (bound.accuracy, kernel.special, bound.scalars, stored)
            if op.draws:
                drawn = enclose_sets(op, given, *claimed)
            else:
                drawn = enclose_rounded(op, given, *claimed, {role: values(one) for role, one in got.items()})
        made = []
        for role, one in drawn.items():
            if one.chances is not None:
                every = one.chances()
                of_row = Chances(*(np.split(end, rows)[0] for end in (every.lo, every.hi)))
                made.append(Quantities(role, one, of_row, rows, np.zeros(of_row.lo.shape)))
        return cls(tuple(made)) if made else None

    def add(self, words: str, got: NamedOutputs, follows: bool) -> Finding | None:
        """Add the draws of a call, which has the next seed if it `follows`; the first finding."""
        return next(filter(None, (one.add(words, got, follows) for one in self.outputs)), None)
