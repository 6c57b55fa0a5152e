"""The runs of a trial on the cpu device: orders of threads and contents of uninitialised memory."""

from collections import Counter

import numpy as np
import pytest
from planted_jobs import entries, planted

from kfuzz.devices import Circumstances, Finding, Probe, Run
from kfuzz.devices.cpu.abi import Schedule, Status
from kfuzz.devices.cpu.experiments import FINE, CpuRun, Manner, examine, manners
from kfuzz.devices.cpu.findings import Sight
from kfuzz.devices.cpu.options import Flavour
from kfuzz.devices.memory.layout import POISONS
from kfuzz.kinds import Severity


@pytest.mark.parametrize("runs", [3, 4, 5])
def test_three_runs_and_more_have_every_order_and_every_poison(runs: int) -> None:
    chosen = manners(Probe(runs=runs, seed=5))
    assert [one.schedule for one in chosen] == [Schedule.forward, Schedule.reverse, *[Schedule.shuffled] * (runs - 2)]
    assert [one.poison for one in chosen[:3]] == list(POISONS)
    assert len({one.seed for one in chosen[1:]}) == runs - 1


def test_two_runs_have_a_shuffled_order_and_one_of_the_others_in_turn() -> None:
    chosen = [manners(Probe(runs=2, seed=seed)) for seed in range(60)]
    assert Counter(first.schedule for first, _ in chosen) == {Schedule.forward: 30, Schedule.reverse: 30}
    assert {second.schedule for _, second in chosen} == {Schedule.shuffled}
    assert all(first.poison != second.poison for first, second in chosen)
    assert set(Counter(first.poison for first, _ in chosen).values()) == {20}
    assert {(first.schedule, first.poison) for first, _ in chosen} == {
        (order, word) for order in (Schedule.forward, Schedule.reverse) for word in POISONS
    }


def test_the_circumstances_of_a_run_read_as_one_line() -> None:
    manner = Manner(Schedule.shuffled, 0x7FBADBAD, 3, preempt_one_in=7, late_writes=True, after_calls=True)
    words = "shuffled 3, changing over at 1 access in 7, writes seen late, after other calls, poison 7fbadbad"
    assert str(manner.circumstances) == words
    assert str(Circumstances(poison=1, edge="x", is_at_end=True)) == "poison 00000001, x at the end of memory"
    assert str(Circumstances()) == "without earlier calls"


def test_threads_take_turns_at_accesses_in_shuffled_checked_runs() -> None:
    for runs in (2, 3):
        for check in (False, True):
            chosen = manners(Probe(check=check, runs=runs))
            assert [one.preempt_one_in for one in chosen] == [0] * (runs - 1) + [FINE if check else 0]


@pytest.mark.parametrize(("left", "runs", "kinds"), [("", 1, []), ("once", 2, []), ("always", 2, ["unwritten"])])
def test_another_run_follows_a_single_one_that_may_leave_an_element_unwritten(
    left: str, runs: int, kinds: list[str]
) -> None:
    """An answer may equal the poison by chance: only a second run with another poison shows it."""
    done: list[Manner] = []

    def run_once(_: Flavour, manner: Manner, __: float) -> CpuRun:
        done.append(manner)
        chance = done[0].poison if left == "once" else manner.poison if left else 7
        y = np.array([chance, 7], np.uint32).view(np.float32)
        return CpuRun(manner, Run(manner.circumstances, {"y": y}), (), Status.finished, 0.0, 0.0, "")

    job = planted("races", entries("races")[0], {"y": "f32[2]"})
    outcome = examine(job, Probe(runs=1), run_once, set())
    assert (len(outcome.runs), [one.kind for one in outcome.findings]) == (runs, kinds)
    assert len({manner.poison for manner in done}) == runs


@pytest.mark.parametrize(("severity", "tried"), [("error", 3), ("warning", 15)])
def test_experiments_with_a_certain_race_end_after_a_few_seconds(severity: Severity, tried: int) -> None:
    """What they show of an error is a part of its message; a warning may become an error."""
    done: list[Manner] = []

    def run_once(_: Flavour, manner: Manner, __: float) -> CpuRun:
        done.append(manner)
        sights = (Sight(Finding("race", "two threads meet", severity), "schedule", True),)
        run = Run(manner.circumstances, {"y": np.zeros(2, np.float32)})
        return CpuRun(manner, run, sights, Status.finished, 2.0, 0.0, "")

    job = planted("races", entries("races")[0], {"y": "f32[2]"})
    examine(job, Probe(check=True, runs=3, timeout=100.0), run_once, set())
    assert len(done) - 3 == tried
