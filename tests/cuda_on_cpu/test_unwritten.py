"""Inputs that no thread writes are checked without a record of their readers, and no finding is lost.

What a run takes for unwritten is a guess; the partner of each test is one in which it is wrong.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from planted_jobs import floats, marked, planted

from kfuzz.devices import Job
from kfuzz.devices.cpu import toolchain
from kfuzz.devices.cpu.abi import BufferFlags, Runtime, Schedule
from kfuzz.devices.cpu.backend import LoadedFlavour, PlacedJob
from kfuzz.devices.cpu.experiments import Manner
from kfuzz.devices.memory.layout import POISONS

EITHER = BufferFlags.is_taken_as_unwritten | BufferFlags.is_written
X_BYTES = 4 * 100
"""No whole number of lines of 64 bytes."""


@pytest.fixture(scope="module")
def runtime() -> Runtime:
    return Runtime(toolchain.build_runtime())


def laid_out(job: Job, seed: int = 0) -> PlacedJob:
    return PlacedJob(job, LoadedFlavour(job, "check"), seed)


def overwriting() -> Job:
    return planted("accesses", "writes_what_its_neighbour_has_read", {"x": floats(64), "y": "f32[64]"})


@pytest.mark.parametrize("turns", [0, 8])
@pytest.mark.parametrize("schedule", [Schedule.forward, Schedule.reverse])
def test_a_read_of_an_input_before_another_threads_write_is_a_race(runtime: Runtime, schedule: int, turns: int) -> None:
    done = laid_out(overwriting()).run(runtime, Manner(schedule, POISONS[0], 1, turns), 5.0)
    lines = {(one.finding.line, one.finding.other_line) for one in done.sights if one.finding.kind == "race"}
    read, written = marked("accesses", "INPUT-READ"), marked("accesses", "INPUT-WRITTEN")
    assert lines & {(*read, *written), (*written, *read)}, done.sights


def test_the_first_write_of_an_input_ends_the_guess_for_good(runtime: Runtime) -> None:
    one = laid_out(overwriting())
    for _ in range(2):
        one.run(runtime, Manner(Schedule.forward, POISONS[0]), 5.0)
        assert one._buffers[0].flags & EITHER == BufferFlags.is_written


@pytest.mark.parametrize("name", ["loads_and_throws_away", "fills_by_pieces"])
def test_an_input_that_is_only_read_stays_a_guess(runtime: Runtime, name: str) -> None:
    arguments = {"x": floats(64), "y": "f32[64]", **({"n": 50} if name == "loads_and_throws_away" else {})}
    one = laid_out(planted("accesses", name, arguments))
    one.run(runtime, Manner(Schedule.forward, POISONS[0]), 5.0)
    assert one._buffers[0].flags & EITHER == BufferFlags.is_taken_as_unwritten


def cases() -> Iterator[tuple[int, int, str | None]]:
    """From which byte how many are read, and what is to be found: around both ends, and across lines, of x."""
    for size in (1, 2, 4, 8, 16):
        for first in (0, size, 64 - 64 % size, X_BYTES - size):
            yield first, size, "misaligned" if first % size else None
        for first in (-size, -64, X_BYTES, X_BYTES + 64):
            yield first - first % size, size, "out-of-bounds"
        if size > 1:
            yield 128 + size // 2, size, "misaligned"  # in a line that nobody writes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "turns"),  # other seeds give other distances from a multiple of 256 bytes
    [(0, 8), (1, 0), *(pytest.param(*one, marks=pytest.mark.soak) for one in [(0, 0), (1, 8), (2, 0), (2, 8)])],
)
def test_reads_around_and_across_an_unwritten_input_are_reported(runtime: Runtime, seed: int, turns: int) -> None:
    x = np.zeros(X_BYTES // 4, np.float32)
    reported = []
    for first, size, expected in cases():
        arguments = {"x": x, "z": floats(1), "y": "f32[2]", "first": first, "bytes": size}
        job = planted("accesses", "reads_around_an_input", arguments, block=1, align=16)
        done = laid_out(job, seed).run(runtime, Manner(Schedule.forward, POISONS[0], preempt_one_in=turns), 5.0)
        kinds = {one.finding.kind for one in done.sights} - {"unwritten"}
        if kinds != ({expected} if expected else set()):
            reported.append((first, size, expected, kinds))
    assert not reported
