"""What sets off a crash that is known, as far as sizes and places of arrays tell; and how trials keep clear of it.

A crash costs a process, a hundred times what a trial costs, and hides what else is wrong. Which trials of a kernel have
crashed so far is all that is known here; the rest follows from the seed, so that whoever runs a trial runs the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kfuzz.campaign.schedule import AGAIN, attempt_of, probe_of
from kfuzz.claims.kernel import Kernel
from kfuzz.devices.layout import distances, offsets
from kfuzz.kinds import Kind

Fatal = tuple[tuple[int, Kind], ...]
"""The numbers of trials that have ended their process, each with what it was."""
MOST_FATAL = 12
"""So often may trials of one kernel end their process; each costs the start of another, 0.7 s on an H200's machine."""
LEARN_ON = MOST_FATAL // 2
"""Until so many have, one trial in ONCE_IN is run in spite of what is known: what is known may be too much."""
ONCE_IN = 8
SOON = 62
"""From this trial on a block knows of half of what came before it: `checkpoint`."""
EXAMPLES = 48
"""Trials that have not crashed, to which a rule must not apply either."""
MOST_DRAWS = 16
STEPS = (2, 4, 8, 16, 32, 64, 128, 256)
Features = Mapping[str, int]


@dataclass(frozen=True)
class Rule:
    """What the trials that crash have in common: `cols >= 1025`, `cols no multiple of 4`."""

    feature: str
    how: str
    value: int

    def holds(self, features: Features) -> bool:
        """Whether a trial with these is to be avoided."""
        own = features.get(self.feature, 0)
        return HOW[self.how](own, self.value)

    def __str__(self) -> str:
        return f"{self.feature} {self.how} {self.value}"


HOW: dict[str, Callable[[int, int], bool]] = {
    ">=": lambda own, value: own >= value,
    "<=": lambda own, value: own <= value,
    "==": lambda own, value: own == value,
    "no multiple of": lambda own, value: own % value != 0,
    "a multiple of": lambda own, value: own % value == 0,
}


def checkpoint(first: int) -> int:
    """Up to which trial a block that begins at `first` knows what has crashed: 2, 6, 14 and 30, which are small and
    soon done, for those that begin there; from then on as far as half of the way, so that nobody waits.
    """
    power = 2
    while 2 * power - 2 <= first:
        power *= 2
    return (power if first < SOON else power // 2) - 2


def is_free(index: int, fatal: Fatal) -> bool:
    """Whether a trial is run whatever is known."""
    return not fatal or (len(fatal) < LEARN_ON and index % ONCE_IN == ONCE_IN - 1)


def number_of(kernel: Kernel, seed: int, index: int, budget: int, rules: Sequence[Rule]) -> int | None:
    """The number by which trial `index` is drawn: its own, or a later draw that keeps clear; None where none does."""
    for draw in range(MOST_DRAWS if rules else 0):
        number = index + draw * AGAIN
        features = features_of(kernel, seed, number, budget)
        if not any(rule.holds(features) for rule in rules):
            return number
    return None if rules else index


def rules_of(kernel: Kernel, seed: int, budget: int, fatal: Fatal) -> tuple[Rule, ...]:
    """For each kind of crash the rule that fits all such trials and the fewest of those that have not crashed.

    A rule that fits most of the others as well is none: to keep clear of it would be to try next to nothing.
    """
    numbers = {number for number, _ in fatal}
    before = [index for index in range(max(index % AGAIN for index in numbers) + 1) if index not in numbers]
    safe = [features_of(kernel, seed, index, budget) for index in before[:EXAMPLES]]
    found = []
    for kind in dict.fromkeys(kind for _, kind in fatal):
        crashed = [features_of(kernel, seed, number, budget) for number, its in fatal if its == kind]
        fits = [rule for rule in _candidates(crashed) if all(map(rule.holds, crashed))]
        counts = {rule: sum(map(rule.holds, safe)) for rule in fits}
        if counts and 2 * min(counts.values()) < len(safe):
            found.append(min(counts, key=lambda rule: counts[rule]))
    return tuple(found)


def _candidates(crashed: Sequence[Features]) -> Iterator[Rule]:
    """Every rule that may fit: of two that fit as well, the one that says more comes first."""
    for name in crashed[0]:
        own = [one[name] for one in crashed]
        yield from (Rule(name, "==", own[0]) for _ in range(len(set(own)) == 1 and len(own) > 1))
        yield from (Rule(name, "no multiple of", step) for step in STEPS)
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
    odd = {f"odd places on the {name}": sum(one % 16 != 0 for one in found) for name, found in places.items()}
    return {**sizes, **odd}
