"""Pairs of programs with and without a bug: the checker reports an error in one and nothing in the other."""

from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest
from planted_programs import NAMES, Program, job, program

from kfuzz.devices import Finding, Probe
from kfuzz.devices.cpu.device import CpuDevice

OF_A_CLASS = 1
"""The number of pairs of each class, at the smallest size, that every test run checks; the rest takes too long."""


def choose_programs() -> Iterator[object]:
    """Every pair at every size and seed; those that not every test run checks are marked soak."""
    seen = Counter[str]()
    for name in NAMES:
        seen[program(name).group] += 1
        for threads, seed in product((64, 256, 1024), range(3)):
            is_quick = seen[program(name).group] <= OF_A_CLASS and (threads, seed) == (64, 0)
            yield pytest.param(name, threads, seed, marks=() if is_quick else pytest.mark.soak)


def findings(device: CpuDevice, one: Program, has_bug: bool, threads: int, seed: int) -> list[Finding]:
    """The findings in a program, except that atomics come in any order."""
    timeout = 1.0 if has_bug and one.finds == "hang" else 20.0
    outcome = device.run(job(one, has_bug, threads, seed), Probe(check=True, runs=3, seed=seed, timeout=timeout))
    return [found for found in outcome.findings if found.kind != "nondeterministic"]


def test_there_are_enough_programs() -> None:
    assert 2 * len(NAMES) >= 80


@pytest.mark.slow
@pytest.mark.parametrize(("name", "threads", "seed"), list(choose_programs()))
def test_a_program_with_a_bug_has_an_error_and_one_without_has_nothing(
    device: CpuDevice, name: str, threads: int, seed: int
) -> None:
    one = program(name)
    assert findings(device, one, False, threads, seed) == []
    found = findings(device, one, True, threads, seed)
    assert one.finds in {each.kind for each in found if each.severity == "error"}, found
