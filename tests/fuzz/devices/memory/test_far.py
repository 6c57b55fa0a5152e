"""Fields: the share of a GPU's memory that one takes, the places of arrays in it, and the report of a far write."""

import fcntl
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kfuzz.campaign.properties.checks import far_writes
from kfuzz.campaign.properties.property import Examined
from kfuzz.claims.language.languages import language_named
from kfuzz.devices import Buffer, Finding, Job, Outcome, OutOfMemory, Probe, Step, Untried
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu import far
from kfuzz.devices.memory.far import (
    LEAST,
    LEFT,
    MOST,
    SHARE,
    VECTOR,
    FarArray,
    FarOptions,
    FarWrite,
    gaps_of,
    slots_of,
    span_of,
)
from kfuzz.devices.memory.layout import Bytes
from kfuzz.oracle.numbers.elements import F32, I64, U32

GIB = 1 << 30
SPAN = 1 << 20
WORD = 0x7FBADBAD


class HostMemory:
    """Some memory of the host, at addresses of its own."""

    def __init__(self, nbytes: int) -> None:
        self.base, self.size, self.bytes, self.is_closed = 1 << 40, nbytes, np.zeros(nbytes, np.uint8), False

    def close(self) -> None:
        self.is_closed = True


class HostGpu:
    """A GPU whose memory is the host's."""

    def __init__(self, free: int = 100 * GIB, is_full: bool = False) -> None:
        self.left, self.is_full, self.taken = free, is_full, list[HostMemory]()

    place = f"host-{os.getpid()}"

    def free(self) -> tuple[int, int]:
        return self.left, 100 * GIB

    def hold(self, nbytes: int) -> HostMemory:
        if self.is_full:
            raise OutOfMemory("another process was faster")
        self.taken.append(HostMemory(SPAN))
        return self.taken[-1]

    def at(self, address: int, nbytes: int) -> Bytes:
        first = address - self.taken[-1].base
        assert 0 <= first <= first + nbytes <= SPAN
        return self.taken[-1].bytes[first : first + nbytes]

    def paint(self, address: int, words: int, word: int) -> None:
        self.at(address, 4 * words).view(np.uint32)[:] = word

    def send(self, address: int, content: Bytes) -> None:
        self.at(address, len(content))[:] = content

    def settle(self) -> None:
        pass

    def find_changed(self, first: int, last: int, word: int) -> FarWrite | None:
        assert first % VECTOR == last % VECTOR == 0
        held = self.at(first, last - first).view(np.uint32)
        where = np.flatnonzero(held != word)
        if not len(where):
            return None
        start, stop = int(where[0]), int(where[-1])
        return FarWrite(first + 4 * start, int(held[start]), first + 4 * stop, int(held[stop]), len(where))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field that the host holds: of a megabyte."""
    monkeypatch.setattr(far, "span_of", lambda free, total: SPAN if span_of(free, total) else 0)


def job(**shapes: tuple[int, ...]) -> Job:
    buffers = tuple(Buffer(name, F32, shape, is_output=name == "y") for name, shape in shapes.items())
    x = np.arange(37, dtype=np.float32)
    return Job("far", Path("far.cu"), "", (), 4, (*buffers, Buffer("x", F32, (37,), content=x)), (), ())


def findings(write: Callable[[HostGpu, far.Field], None], own: int = 0) -> list[Finding]:
    """What is reported of a job that writes so."""
    gpu = HostGpu()
    with far.open_field(gpu, job(y=(7, 3)), 1, WORD, own) as field:
        assert isinstance(field, far.Field)
        assert np.array_equal(gpu.at(field.addresses["x"], 148).view(np.float32), np.arange(37))
        write(gpu, field)
        found = field.find_writes()
    assert gpu.taken[0].is_closed
    return found


def write_word(gpu: HostGpu, address: int) -> None:
    gpu.at(address, 4)[:] = np.array([1.5], np.float32).view(np.uint8)


@pytest.mark.parametrize(
    ("free", "total", "span"),
    [
        (140 * GIB, 141 * GIB, MOST),  # an empty H200
        (24 * GIB, 24 * GIB, 24 * GIB // SHARE),  # a smaller GPU: a share of it
        (36 * GIB, 140 * GIB, 1 * GIB),  # others have nearly all but the quarter that stays free
        (35 * GIB, 140 * GIB, 0),
        (35 * GIB + LEAST - 1, 140 * GIB, 0),  # it would not be worth it
        (4 * GIB, 141 * GIB, 0),  # another process fills the GPU
    ],
)
def test_a_field_takes_a_share_and_leaves_a_quarter_to_others(free: int, total: int, span: int) -> None:
    assert span_of(free, total) == span
    assert not span or free - span >= total // LEFT


def test_a_gigabyte_beyond_an_array_is_before_the_next() -> None:
    slots = slots_of(1 << 40, MOST, 3)
    arrays = [FarArray(str(place), "", slots[place], slots[place] + slots.most_bytes) for place in range(3)]
    assert slots.pitch > 10**9 + 37 * 4
    assert slots[0] - (1 << 40) >= slots.pitch // 2
    ends = list(gaps_of(arrays, 1 << 40, (1 << 40) + MOST))
    assert len(ends) == 4
    assert all(last - first >= slots.pitch // 2 for first, last in ends)


def test_a_right_job_has_no_finding_whatever_it_writes_in_its_arrays() -> None:
    def fill(gpu: HostGpu, field: far.Field) -> None:
        for one in field.arrays:
            gpu.at(one.start, one.stop - one.start)[:] = 77

    assert findings(fill) == []


@pytest.mark.parametrize(
    ("array", "offset", "words"),
    [
        ("y", 84 + 100_000, "100000 bytes after y, f32[7, 3]"),
        ("y", -60_000, "59996 bytes before y, f32[7, 3]"),
        ("x", 148 + 80_000, "80000 bytes after x, f32[37]"),
    ],
)
def test_a_far_write_names_the_array_nearest_the_distance_and_the_value(array: str, offset: int, words: str) -> None:
    (found,) = findings(lambda gpu, field: write_word(gpu, (field.addresses[array] + offset) // 4 * 4))
    assert (found.kind, found.severity, found.array) == ("out-of-bounds", "error", array)
    assert found.message.startswith("write far away: 0x3fc00000, ")
    assert words in found.message
    assert found.message.endswith("1 word in all")


def test_what_a_job_allocates_lies_in_slots_and_is_named() -> None:
    def allocate(gpu: HostGpu, field: far.Field) -> None:
        address = field.allocate(64, "a tensor of shape [16]")
        assert address
        gpu.at(address, 64)[:] = 1
        write_word(gpu, address + 64 + 40_000)
        assert field.allocate(SPAN, "what is too large") is None
        assert field.allocate(4, "another")
        assert field.allocate(4, "one too many") is None

    (found,) = findings(allocate, own=2)
    assert "40000 bytes after a tensor of shape [16]" in found.message
    assert found.array is None


@pytest.mark.parametrize(
    ("gpu", "shape"),
    [(HostGpu(4 * GIB), (7,)), (HostGpu(is_full=True), (7,)), (HostGpu(), (SPAN // 4,))],
    ids=["little is free", "another process was faster", "an array is too large"],
)
def test_without_room_there_is_no_field(gpu: HostGpu, shape: tuple[int, ...]) -> None:
    with far.open_field(gpu, job(y=shape), 0, WORD) as field:
        assert field is Untried.DOES_NOT_FIT
    assert not gpu.taken


def test_one_process_at_a_time_has_a_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with far.open_field(HostGpu(), job(y=(7,)), 0, WORD) as field:
        assert isinstance(field, far.Field)
    (lock,) = tmp_path.iterdir()
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with far.open_field(HostGpu(), job(y=(7,)), 0, WORD) as field:
            assert field is Untried.CARD_IN_USE


@pytest.mark.slow
def test_the_kernel_that_looks_finds_the_first_and_the_last_vector() -> None:
    text, words = far.CODE.read_text(), np.full(4 * 1000, WORD, np.uint32)

    def look(content: np.ndarray[tuple[int], np.dtype[np.uint32]]) -> list[int]:
        buffers = (
            Buffer("memory", U32, content.shape, content=content),
            Buffer("found", I64, (3,), content=np.array([-1, 0, 0]), is_output=True),
        )
        step = Step(far.FUNCTION, (3, 1, 1), (64, 1, 1), 0, ("memory", len(content) // 4, WORD, "found"))
        outcome = device.run(
            Job("far", far.CODE, text, (), 256, buffers, (step,), (far.FUNCTION,)), Probe(check=True, runs=2)
        )
        assert outcome.findings == ()
        return [int(one) for one in outcome.runs[0].outputs["found"]]

    with CpuDevice() as device:
        assert look(words) == [-1, 0, 0]
        words[[4 * 17 + 3, 4 * 17 + 1, 4 * 999]] = 5
        assert look(words) == [17, 999, 3]


def test_the_property_asks_for_a_field_on_a_gpu_and_trusts_checked_accesses_on_the_cpu() -> None:
    asked: list[Probe] = []

    def run(outcome: Outcome) -> Callable[[Job, Probe], Outcome]:
        def run_job(_: Job, probe: Probe) -> Outcome:
            asked.append(probe)
            return outcome

        return run_job

    class Front:
        language = language_named("cuda")

    class Kernel:
        front = Front()

    class Bound:
        job = job(y=(7,))

    def looked(device: str, probe: Probe, outcome: Outcome, own: Outcome = Outcome()) -> object:  # noqa: B008
        return far_writes.look(
            Examined(Kernel(), None, {}, probe, Bound(), own, True, run(outcome), lambda *_: True, device, tuple)  # type: ignore[arg-type]
        )

    written = Finding("out-of-bounds", "write far away", array="y")
    every = Probe(seed=far_writes.EVERY)
    assert looked("gpu", every, Outcome()) is True
    assert looked("gpu", every, Outcome(findings=(written,))) == written
    assert looked("gpu", every, Outcome(untried=Untried.CARD_IN_USE)) is None
    assert all(one.option(FarOptions).is_far for one in asked)
    assert len(asked) == 3
    assert looked("gpu", Probe(seed=1), Outcome(findings=(written,))) is None
    assert looked("cpu", Probe(seed=1), Outcome()) is None
    assert looked("cpu", Probe(seed=1, check=True), Outcome()) is True
    assert looked("cpu", Probe(seed=1, check=True), Outcome(), Outcome(findings=(written,))) is None
    assert len(asked) == 3
