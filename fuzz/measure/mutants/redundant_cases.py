"""Finds the redundant cases of a corpus: those that kill no mutant which the others do not kill.

The mutants are those of the kernels that a case is for. Knows replays and mutants; never how a corpus is stored.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import TypeVar

from kfuzz.campaign.schedule import LARGE_TIMEOUT
from kfuzz.campaign.trials.replay import LARGE, launches_to_try
from kfuzz.campaign.trials.trial import run_trial, unfit
from kfuzz.cases.case import Record
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import ClaimError, Device
from kfuzz.measure.mutants.mutate import Mutant, as_kernel, mutants
from kfuzz.measure.mutants.trials import TIMEOUT

T = TypeVar("T")


def is_killed_by(record: Record, kernel: Kernel, device: Device) -> bool:
    """Whether a replay of the case, with the probe of its origin, finds an error in the kernel."""
    if unfit(kernel, record.case):
        return False
    timeout = TIMEOUT * (LARGE_TIMEOUT if record.case.elements >= LARGE else 1)
    for tune, probes in launches_to_try(record, kernel, 1, timeout):
        for probe in probes:
            is_alike = record.origin is None or probe.check == record.origin.check
            if is_alike and run_trial(kernel, record.case, tune, device, probe).errors:
                return True
    return False


def first_of_each_operator(kernel: Kernel) -> tuple[Mutant, ...]:
    """The first mutant of every operator."""
    return tuple({mutant.operator: mutant for mutant in reversed(mutants(kernel))}.values())


def killers_of_mutants(
    records: Sequence[Record], kernels: Sequence[Kernel], device: Device
) -> Iterator[tuple[Mutant, set[int]]]:
    """Each mutant with the places of the cases that kill it; without mutants that do not compile."""
    for kernel in kernels:
        mine = [place for place, one in enumerate(records) if kernel.computes(one.case.op, one.case.dimensions)]
        for mutant in first_of_each_operator(kernel) if mine else ():
            seeded = as_kernel(mutant, kernel)
            try:
                yield mutant, {place for place in mine if is_killed_by(records[place], seeded, device)}
            except ClaimError:
                continue


def redundant_cases(killers: Mapping[T, Set[int]], size: Callable[[int], int]) -> set[int]:
    """The cases whose mutants the other cases kill too, large ones first.

    `killers` maps each mutant to the cases that kill it. A case that kills nothing is not redundant: it is in the
    corpus for a reason that mutants do not show.
    """
    every = set().union(*killers.values()) if killers else set()
    redundant: set[int] = set()
    for place in sorted(every, key=lambda one: (-size(one), one)):
        mine = [cases for cases in killers.values() if place in cases]
        if all(cases - redundant - {place} for cases in mine):
            redundant.add(place)
    return redundant
