"""Finds the sizes and places of arrays that set off a known crash, and keeps later trials clear of them.

A crash costs a process, a hundred times the price of a trial, and hides other bugs. The module knows only which trials
of a kernel have crashed so far; the rest follows from the seed, so that every process runs the same trials.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kfuzz.campaign.schedule import AGAIN, NEAR_HOME, attempt_of, probe_of
from kfuzz.claims.kernel import Kernel
from kfuzz.devices.memory.layout import distances, offsets
from kfuzz.kinds import Kind

Fatal = tuple[tuple[int, Kind], ...]
"""The numbers of trials that have ended their process, each with the kind of its defect."""
MOST_FATAL = 12
"""How often trials of one kernel may end their process; each costs the start of another, 0.7 s on an H200's machine."""
LEARN_ON = MOST_FATAL // 2
"""Until this many crashes, one trial in ONCE_IN is run in spite of the rules: they may be too broad."""
ONCE_IN = 8
SOON = 62
"""From this trial on a block knows the crashes of the first half of the trials before it: `checkpoint`."""
EXAMPLES = 48
"""Trials that have not crashed, which a rule should not match."""
STEPS = (2, 4, 8, 16, 32, 64, 128, 256)
Features = Mapping[str, int]


@dataclass(frozen=True)
class Rule:
    """What the trials that crash have in common: `cols >= 1025`, `cols not a multiple of 4`."""

    feature: str
    how: str
    value: int

    def holds(self, features: Features) -> bool:
        """Whether a trial with these features must be avoided."""
        own = features.get(self.feature, 0)
        return HOW[self.how](own, self.value)

    def __str__(self) -> str:
        return f"{self.feature} {self.how} {self.value}"


HOW: dict[str, Callable[[int, int], bool]] = {
    ">=": lambda own, value: own >= value,
    "<=": lambda own, value: own <= value,
    "==": lambda own, value: own == value,
    "not a multiple of": lambda own, value: own % value != 0,
    "a multiple of": lambda own, value: own % value == 0,
}


def checkpoint(first: int, soon: int = SOON) -> int:
    """The trial up to which a block that begins at `first` knows the crashes: `first` itself for 2, 6, 14 and 30, whose
    trials are small and soon done; later about half of the way, so that no process waits. With `soon` 0 it is half of
    the way from the first: a trial of a slow runner may take seconds.
    """
    power = 2
    while 2 * power - 2 <= first:
        power *= 2
    return max(0, (power if first < soon else power // 2) - 2)


def is_free(index: int, fatal: Fatal) -> bool:
    """Whether a trial is run without regard to the rules."""
    return not fatal or (len(fatal) < LEARN_ON and index % ONCE_IN == ONCE_IN - 1)


def draw_number(kernel: Kernel, seed: int, index: int, budget: int, rules: Sequence[Rule]) -> int | None:
    """The number that trial `index` is drawn by: its own, or that of a later draw that no rule matches; None if there
    is none.
    """
    for draw in range(NEAR_HOME if rules else 0):
        number = index + draw * AGAIN
        features = features_of(kernel, seed, number, budget)
        if not any(rule.holds(features) for rule in rules):
            return number
    return None if rules else index


def rules_of(kernel: Kernel, seed: int, budget: int, fatal: Fatal) -> tuple[Rule, ...]:
    """For each kind of crash the rule that matches all its trials and the fewest of those that have not crashed.

    A rule that matches most of the others as well is dropped: it would leave almost nothing to try.
    """
    numbers = {number for number, _ in fatal}
    before = [index for index in range(max(index % AGAIN for index in numbers) + 1) if index not in numbers]
    safe = [features_of(kernel, seed, index, budget) for index in before[:EXAMPLES]]
    rules = []
    for kind in dict.fromkeys(kind for _, kind in fatal):
        crashed = [features_of(kernel, seed, number, budget) for number, its in fatal if its == kind]
        fits = [rule for rule in _candidates(crashed) if all(map(rule.holds, crashed))]
        counts = {rule: sum(map(rule.holds, safe)) for rule in fits}
        if counts and 2 * min(counts.values()) < len(safe):
            rules.append(min(counts, key=lambda rule: counts[rule]))
    return tuple(rules)


def _candidates(crashed: Sequence[Features]) -> Iterator[Rule]:
    """Every rule that may match; of two that match equally well, the more specific one comes first."""
    for name in crashed[0]:
        own = [one[name] for one in crashed]
        yield from (Rule(name, "==", own[0]) for _ in range(len(set(own)) == 1 and len(own) > 1))
        yield from (Rule(name, "not a multiple of", step) for step in STEPS)
        yield from (Rule(name, "a multiple of", step) for step in reversed(STEPS))
        yield Rule(name, ">=", min(own))
        yield Rule(name, "<=", max(own))


def features_of(kernel: Kernel, seed: int, number: int, budget: int) -> Features:
    """What a crash may depend on: sizes, launch parameters, and whether arrays lie at multiples of 16 bytes."""
    attempt = attempt_of(kernel, seed, number, budget)
    bound = kernel.bind(attempt.case.arrays, attempt.tune)
    probe = probe_of(kernel, seed, number, 1, 0.0)
    sizes = {**bound.axes, **attempt.tune}
    places = {"gpu": offsets(bound.job, probe.seed), "cpu": distances(bound.job, probe.seed)}
    odd = {f"odd places on the {name}": sum(one % 16 != 0 for one in every) for name, every in places.items()}
    return {**sizes, **odd}
