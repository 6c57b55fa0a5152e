"""What a gpu trial concludes from its runs. The GPU is a stand-in: memory is a numpy array, a kernel a function."""

import itertools
from collections.abc import Callable, Sequence
from math import comb
from pathlib import Path

import numpy as np
import pytest

from kfuzz.devices import Buffer, Circumstances, Finding, Job, Outcome, Probe, Run, Step
from kfuzz.devices.memory import layout
from kfuzz.devices.memory.comparing import find_unwritten, poison_mask
from kfuzz.devices.memory.repeats import MISSES, TURNS, Fault, PaintedRun, PlannedRun, RunResult, examine
from kfuzz.oracle.numbers.elements import ELEMENTS, F32

N = 37


class Memory:
    """The arrays of a run as a kernel sees them: any index is taken, and one that leaves all memory faults."""

    def __init__(self, job: Job, where: Sequence[layout.Place], image: layout.Bytes, shared: int) -> None:
        self.starts = {job.buffers[place.buffer].name: place.start for place in where}
        self.image = image
        self.shared = np.array([shared + layout.SHARED], np.uint32).view(np.float32)

    def __call__(self, name: str, index: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
        start = self.starts[name] + 4 * index
        if start < 0 or start + 4 > len(self.image):
            raise Fault(Finding("illegal-address", f"{name}[{index}] leaves memory"))
        return self.image[start : start + 4].view(np.float32)


class HostGpu:
    """Runs one function a step over the image; so many runs together at most."""

    def __init__(self, *kernels: Callable[[Memory], None], together: int = 2) -> None:
        self.kernels, self.together = kernels, together
        self.launched: list[int] = []

    def images(self, runs: Sequence[PlannedRun]) -> list[layout.Bytes]:
        return [np.empty(run.size, np.uint8) for run in runs[: self.together]]

    def launch(self, laid: Sequence[PaintedRun]) -> list[RunResult]:
        done = []
        for one in laid:
            memory = Memory(one.run.job, one.run.where, one.image.copy(), one.run.plan.shared)
            for kernel in self.kernels[: one.run.steps]:
                kernel(memory)
            done.append(RunResult(memory.image))
        self.launched.append(len(done))
        return done


def a_job(steps: int = 1, align: int = 256) -> Job:
    x = np.arange(N, dtype=np.float32)
    buffers = (
        Buffer("y", F32, (N,), is_output=True),
        Buffer("x", F32, (N,), content=x),
        Buffer("scratch", F32, (5,)),
        Buffer("z", F32, (2,), fill=0),
    )
    step = Step("k", (1, 1, 1), (32, 1, 1), 0, ("y", "x", "scratch", "z"))
    return Job("k", Path("k.cu"), "", (), align, buffers, (step,) * steps, ("k",))


def copies(memory: Memory) -> None:
    for i in range(N):
        memory("y", i)[:] = memory("x", i)


def look(*kernels: Callable[[Memory], None], job: Job | None = None, probe: Probe | None = None) -> Outcome:
    with np.errstate(all="ignore"):
        return examine(job or a_job(len(kernels)), probe or Probe(runs=3, timeout=60.0), HostGpu(*kernels))


def beside(array: str, index: int, *kernels: Callable[[Memory], None], seeds: int = 12) -> None:
    """Over many seeds the access beside an array either faults or is found for what it is."""
    faults = 0
    for seed in range(seeds):
        try:
            found = only(look(*kernels, probe=Probe(runs=3, seed=seed, timeout=60.0)))
        except Fault:
            faults += 1
        else:
            assert (found.kind, found.array, found.severity) == ("out-of-bounds", array, "error")
            assert found.index in {None, index}
    assert faults < seeds


def only(outcome: Outcome) -> Finding:
    assert len(outcome.findings) == 1, outcome.findings
    return outcome.findings[0]


def test_a_kernel_that_does_its_work_has_no_findings_and_all_its_runs() -> None:
    outcome = look(copies)
    assert outcome.findings == ()
    assert [run.outputs["y"].tolist() for run in outcome.runs] == [list(range(N))] * 3


@pytest.mark.parametrize(("together", "launched"), [(1, [1, 1, 1]), (2, [2, 1]), (3, [3]), (9, [3])])
def test_runs_go_to_the_gpu_together_and_come_to_the_same(together: int, launched: list[int]) -> None:
    gpu = HostGpu(copies, together=together)
    outcome = examine(a_job(), Probe(runs=3, timeout=60.0), gpu)
    assert gpu.launched == launched
    assert [run.circumstances for run in outcome.runs] == [run.circumstances for run in look(copies).runs]
    assert all(run.outputs["y"].tolist() == list(range(N)) for run in outcome.runs)


@pytest.mark.parametrize(("array", "index"), [("y", N), ("y", -1), ("x", N), ("x", -3), ("scratch", 5), ("z", 2)])
def test_a_write_beside_an_array_is_found_with_its_index(array: str, index: int) -> None:
    def writes(memory: Memory) -> None:
        copies(memory)
        memory(array, index)[:] = 1.0

    beside(array, index, writes)


def test_a_write_outside_is_put_down_to_the_step_that_did_it() -> None:
    def writes(memory: Memory) -> None:
        memory("y", N + 2)[:] = 1.0

    assert only(look(copies, copies, writes, copies)).step == 2


def test_a_write_of_the_first_poison_itself_is_seen_through_the_second() -> None:
    def writes(memory: Memory) -> None:
        copies(memory)
        memory("y", N).view(np.uint32)[:] = layout.POISONS[0] + layout.BESIDE

    assert only(look(writes)).kind == "out-of-bounds"


def test_an_element_without_a_write_is_unwritten_even_where_nan_is_right() -> None:
    def writes_all_but_one(memory: Memory) -> None:
        for i in range(N):
            if i != 5:
                memory("y", i)[:] = np.nan

    found = only(look(writes_all_but_one))
    assert (found.kind, found.array, found.index, found.count) == ("unwritten", "y", 5, 1)


def test_an_answer_that_happens_to_equal_one_poison_is_no_unwritten_element() -> None:
    def writes(memory: Memory) -> None:
        copies(memory)
        memory("y", 3).view(np.uint32)[:] = layout.POISONS[1]

    assert look(writes).findings == ()


def test_no_16_bit_answer_is_the_poison_of_two_runs() -> None:
    halves = [np.array([word], "<u4").view("<u2") for word in layout.POISONS]
    for half in (0, 1):
        assert len({int(pair[half]) for pair in halves}) == len(layout.POISONS)
    words = [np.array([word], "<u4") for word in (0x7E967699, 0xFE967699)]  # what these once were
    assert all(poison_mask(np.array([0x7699, 0], np.uint16), int(word[0]))[0] for word in words)


def test_an_input_that_changed_is_found_with_both_values() -> None:
    def scales_its_input(memory: Memory) -> None:
        copies(memory)
        memory("x", 1)[:] = 2.0

    found = only(look(copies, scales_its_input))
    assert (found.kind, found.array, found.index, found.step) == ("input-changed", "x", 1, 1)
    assert "from 0x3f800000 to 0x40000000" in found.message


@pytest.mark.parametrize("index", [N, -1])
def test_a_read_outside_an_input_is_not_taken_for_a_read_of_unwritten_memory(index: int) -> None:
    def reads_beside(memory: Memory) -> None:
        copies(memory)
        memory("y", 0)[:] = memory("x", index) * 2

    beside("x", index, reads_beside)


@pytest.mark.parametrize("array", ["scratch", "y"])
def test_a_read_of_an_unwritten_array_names_the_array(array: str) -> None:
    def adds_to_it(memory: Memory) -> None:
        before = memory(array, 2) * 0.5
        copies(memory)
        memory("y", 2)[:] += before

    found = only(look(adds_to_it))
    assert (found.kind, found.array) == ("uninitialised", array)


@pytest.mark.parametrize("factor", [1, 2])
def test_a_read_of_unwritten_shared_memory_is_found(factor: int) -> None:
    """Also where it is copied as it is: the poison of shared memory is not taken for an output's."""

    def reads_shared(memory: Memory) -> None:
        copies(memory)
        memory("y", 0)[:] = memory.shared * factor

    found = only(look(reads_shared))
    assert (found.kind, found.array) == ("uninitialised", None)
    assert "shared memory" in found.message


def test_a_kernel_that_varies_by_itself_is_warned_of_and_accused_of_nothing_else() -> None:
    draw = np.random.default_rng(1)
    patterns = [(0, 1), (0, 0, 1), (1, 0, 0, 0, 0), (0, 0, 1, 1), *(draw.integers(0, 2, 997) for _ in range(12))]
    for pattern in patterns:
        values = itertools.cycle(pattern)

        def varies(memory: Memory, values: "itertools.cycle[int]" = values) -> None:
            copies(memory)
            memory("y", 0)[:] = next(values)

        for found in look(varies).findings:
            assert (found.kind, found.severity) == ("nondeterministic", "warning")


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        ((0x7FC00000, 0xFFC00000), []),
        ((0x7FC00000, 0xFFC00001), ["nondeterministic"]),
        ((0, 1 << 31), ["nondeterministic"]),
    ],
)
def test_only_the_sign_of_a_nan_without_a_payload_means_nothing(words: tuple[int, int], kinds: list[str]) -> None:
    values = itertools.cycle(words)

    def varies(memory: Memory) -> None:
        copies(memory)
        memory("y", 0).view(np.uint32)[:] = next(values)

    assert [found.kind for found in look(varies).findings] == kinds


def test_a_kernel_that_varies_and_reads_poison_is_not_accused_of_the_poison() -> None:
    """Where the same run differs from itself, nothing can be put down to the poison."""
    draw = np.random.default_rng(7)

    def varies(memory: Memory) -> None:
        copies(memory)
        memory("y", 0)[:] = memory("scratch", 0) * draw.integers(1, 3)

    assert only(look(varies)).kind == "nondeterministic"


@pytest.mark.slow
def test_a_read_of_shared_memory_is_found_though_other_processes_disturb_it_now_and_then() -> None:
    draw = np.random.default_rng(3)
    kinds = []
    for _ in range(50):

        def reads_shared(memory: Memory) -> None:
            copies(memory)
            memory("y", 0)[:] = 0 if draw.random() < 0.02 else memory.shared

        kinds += [found.kind for found in look(reads_shared).findings]
    assert len(kinds) == 50
    assert kinds.count("uninitialised") >= 45


def test_the_chance_to_take_a_varying_kernel_for_a_poison_dependent_one_is_as_stated() -> None:
    """Two answers with chances p and 1 - p are the likeliest to be mistaken: TURNS of each, MISSES in all at most."""

    def hits(chance: float, misses: int) -> float:
        return comb(TURNS, misses) * chance ** (TURNS - misses) * (1 - chance) ** misses

    def mistaken(p: float) -> float:
        return sum(hits(p, a) * hits(1 - p, b) for a in range(MISSES + 1) for b in range(MISSES + 1 - a))

    assert max(mistaken(number / 1000) for number in range(1001)) < 2.0**-30


def test_a_fault_ends_the_trial_and_says_so() -> None:
    def dies(memory: Memory) -> None:
        raise Fault(Finding("trap", "it died", step=0))

    with pytest.raises(Fault) as caught:
        look(dies)
    assert caught.value.finding.kind == "trap"


@pytest.mark.parametrize("align", [4, 16, 256])
def test_bases_keep_the_alignment_of_the_claim_and_the_same_distance_in_every_run(align: int) -> None:
    job = a_job(align=align)
    seen = set()
    for seed in range(40):
        distances = layout.offsets(job, seed)
        seen.add(distances)
        assert all(distance % align == 0 for distance in distances)
        for plan in layout.plans(job, 5, seed):
            where, total = layout.places(job, plan, distances)
            assert total % layout.ALIGNED == 0
            assert {place.start % layout.ALIGNED for place in where} <= set(distances)
            assert all(place.start % layout.ALIGNED == distances[place.buffer] for place in where)
    assert len(seen) > 1 or align == layout.ALIGNED


def test_every_array_comes_to_lie_at_both_ends_of_memory() -> None:
    job = a_job(align=4)
    at_end, at_start = set(), set()
    for seed in range(64):
        for plan in layout.plans(job, 3, seed):
            where, total = layout.places(job, plan, layout.offsets(job, seed))
            at_end |= {place.buffer for place in where if plan.at_end and place.stop == total}
            at_start |= {place.buffer for place in where if not plan.at_end and place.start == 0}
    assert at_end == at_start == set(range(len(job.buffers)))


def test_the_image_belongs_to_the_arrays_byte_by_byte() -> None:
    job = a_job(align=4)
    for seed in range(10):
        for plan in layout.plans(job, 4, seed):
            where, total = layout.places(job, plan, layout.offsets(job, seed))
            assert where[0].before == 0
            assert where[-1].after == total
            assert all(left.after == right.before for left, right in itertools.pairwise(where))
            assert all(place.before <= place.start <= place.stop <= place.after for place in where)


def test_an_element_of_one_byte_is_unwritten_after_three_poisons_and_padding_never_is() -> None:
    """A right answer of one byte equals a poison by chance, and one that depends on the run may equal two."""
    padding = np.array([False, False, True])
    buffer = Buffer("q", ELEMENTS["e4m3"], (3,), is_output=True, padding=padding)
    job = Job("mine", Path(), "", (), 256, (buffer,), (), ())

    def run(*codes: int) -> Run:
        return Run(Circumstances(), {"q": np.array(codes, np.uint8).view(ELEMENTS["e4m3"].dtype)})

    first = [word.to_bytes(4, "little") for word in layout.POISONS]
    by_chance = [run(poison[0], 0x11 if number == 2 else poison[1], poison[2]) for number, poison in enumerate(first)]
    assert not list(find_unwritten(job, by_chance[:2], layout.POISONS[:2]))
    found = list(find_unwritten(job, by_chance, layout.POISONS))
    assert [(one.index, one.count) for one in found] == [(0, 1)]
    assert layout.fewest_runs(job) == 3
    assert all(len({poison[place] for poison in first}) == 3 for place in range(4))
