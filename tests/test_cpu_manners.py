"""Which runs a trial on the cpu has: orders of threads, and what uninitialised memory holds."""

from collections import Counter

import pytest
from kfuzz.devices import Probe
from kfuzz.devices.cpu.abi import FORWARD, REVERSE, SHUFFLED
from kfuzz.devices.cpu.experiments import FINE, manners
from kfuzz.devices.layout import POISONS


@pytest.mark.parametrize("runs", [3, 4, 5])
def test_three_runs_and_more_have_every_order_and_every_poison(runs: int) -> None:
    chosen = manners(Probe(runs=runs, seed=5))
    assert [one.schedule for one in chosen] == [FORWARD, REVERSE, *[SHUFFLED] * (runs - 2)]
    assert [one.poison for one in chosen[:3]] == list(POISONS)
    assert len({one.seed for one in chosen[1:]}) == runs - 1


def test_two_runs_have_a_shuffled_order_and_one_of_the_others_in_turn() -> None:
    chosen = [manners(Probe(runs=2, seed=seed)) for seed in range(60)]
    assert Counter(first.schedule for first, _ in chosen) == {FORWARD: 30, REVERSE: 30}
    assert {second.schedule for _, second in chosen} == {SHUFFLED}
    assert all(first.poison != second.poison for first, second in chosen)
    assert set(Counter(first.poison for first, _ in chosen).values()) == {20}
    assert {(first.schedule, first.poison) for first, _ in chosen} == {
        (order, word) for order in (FORWARD, REVERSE) for word in POISONS
    }


def test_threads_take_turns_at_accesses_where_these_are_checked_and_the_order_is_shuffled() -> None:
    for runs in (2, 3):
        for check in (False, True):
            chosen = manners(Probe(check=check, runs=runs))
            assert [one.preempt_one_in for one in chosen] == [0] * (runs - 1) + [FINE if check else 0]
