"""Beyond 2^31 elements on a GPU: how rows are made, with little memory of the host and on a real GPU."""

import fcntl
import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from our_kernels import every_kernel
from seldom import is_seldom

from kfuzz.campaign.schedule import BEYOND_INT, LARGE, attempt_of, probe_of
from kfuzz.campaign.trials.trial import PreparedTrial, Trial, judge_outcome, run_trial
from kfuzz.campaign.trials.vast import choose_vast_part, inputs_of_rows
from kfuzz.cases.case import Case
from kfuzz.cases.plans.choose import seeded_choices
from kfuzz.cases.plans.vast import make_vast_inputs, vast_size
from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.devices import Buffer, Job, Outcome, Probe, Step, Untried, VastPart
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu import vast
from kfuzz.devices.gpu.device import GpuDevice
from kfuzz.devices.memory.layout import Bytes, nbytes
from kfuzz.devices.memory.vast import KINDS, alternate_rows, make_unfilled
from kfuzz.oracle.numbers.elements import F16, F32, I8, I64, U32

AT = next(index for index, what in LARGE.items() if what == "overflow")
SOFTMAX = load(KERNELS / "softmax" / "online_block.cu")
INT8 = replace(load(KERNELS / "group_quantize" / "int8_token_block.cu"), align=1)
VAST_CU = Path(vast.__file__).with_name("vast.cu")
ROWS, COLS = 50, 24
PAGE = 4096
Codes = NDArray[np.generic]


class HostMemory:
    """Some memory of the host, at addresses of its own."""

    def __init__(self, base: int, size: int) -> None:
        self.base, self.size, self.bytes = base, size, np.zeros(size, np.uint8)
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


class HostGpu:
    """A GPU whose memory is the host's, and whose kernel is a function of its arrays."""

    def __init__(self, kernel: Callable[..., None], free: int = 1 << 40) -> None:
        self.kernel, self.left, self.taken, self.launches = kernel, free, list[HostMemory](), 0

    @property
    def place(self) -> str:
        return f"host-{os.getpid()}"

    def room(self, nbytes: int) -> int:
        return -(-nbytes // PAGE) * PAGE

    def free(self) -> tuple[int, int]:
        return self.left, self.left

    def hold(self, nbytes: int) -> HostMemory:
        self.taken.append(HostMemory((len(self.taken) + 1) << 40, self.room(nbytes)))
        return self.taken[-1]

    def at(self, address: int, nbytes: int) -> Bytes:
        one = self.taken[(address >> 40) - 1]
        first = address - one.base
        assert not one.is_closed
        assert 0 <= first <= first + nbytes <= one.size
        return one.bytes[first : first + nbytes]

    def paint(self, address: int, words: int, word: int) -> None:
        assert address % 4 == 0  # a driver refuses others
        self.at(address, 4 * words).view(np.uint32)[:] = word

    def send(self, address: int, content: Bytes) -> None:
        self.at(address, len(content))[:] = content

    def fetch(self, address: int, nbytes: int) -> Bytes:
        return self.at(address, nbytes).copy()

    def launch_at(self, job: Job, addresses: Mapping[str, int], word: int) -> None:
        self.launches += 1
        arrays = {
            one.name: self.at(addresses[one.name], nbytes(one)).view(one.element.dtype).reshape(one.shape)
            for one in job.buffers
        }
        self.kernel(self, addresses, **arrays)

    def call(self, function: str, blocks: int, threads: int, *arguments: int) -> None:
        """The functions of vast.cu in numpy; that these are the same, a test below shows."""
        if function == "settle":
            rows, like, settled, unlike, first, count = arguments
            done, odd = self.at(settled, rows), self.at(unlike, rows)
            firsts, left = (self.at(at, 8 * n).view(np.uint64) for at, n in ((first, KINDS), (count, 1)))
            wanted = self.at(like, 8 * KINDS).view(np.int64)
            for row in range(rows):
                if not done[row]:
                    if wanted[row % KINDS] >= 0 and not odd[row]:
                        done[row] = 1
                    else:
                        firsts[row % KINDS], left[0] = min(int(firsts[row % KINDS]), row), left[0] + 1
                    odd[row] = 0
            return
        array, length, rows, inner, size, *more = arguments
        assert inner == length
        held = self.at(array, rows * length * size).view({1: np.uint8, 4: np.uint32}[size]).reshape(rows, length)
        given = np.where(alternate_rows((rows, length), 0, range(rows)) > 0, F32.one, 0).astype(held.dtype)
        if function == "write_alternating":
            held[:] = given
        elif function == "find_changed":
            where = np.flatnonzero(held != given)
            self.at(more[1], 8).view(np.uint64)[0] = where[0] if len(where) else vast.NOWHERE
        else:
            like, settled, unlike = more
            wanted, done = self.at(like, 8 * KINDS).view(np.int64), self.at(settled, rows)
            for row in range(rows):
                other = wanted[row % KINDS]
                if not done[row] and other >= 0 and (held[row] != held[other]).any():
                    self.at(unlike, rows)[row] = 1


def job_of(most_rows: int = 16, kernel: Kernel = SOFTMAX) -> Job:
    """A kernel of few rows, reported as if they were many."""
    given = {"x": alternate_rows((ROWS, COLS), 0, range(ROWS))}
    job = kernel.bind(given, {"threads": 32}).job
    buffers = tuple(
        replace(one, rows=0) if one.is_output else replace(one, content=None, fill=0, rows=0, alternates=True)
        for one in job.buffers
    )
    return replace(job, buffers=buffers, vast=VastPart((0,), most_rows))


def softmax(gpu: HostGpu, addresses: Mapping[str, int], x: NDArray[np.float32], y: NDArray[np.float32]) -> None:
    e = np.exp(x.astype(np.float64))
    y[:] = e / e.sum(axis=1, keepdims=True)


def run_and_judge(
    kernel: object, job: Job | None = None, claim: Kernel = SOFTMAX, seed: int = 0
) -> tuple[Outcome, Trial, HostGpu]:
    """What a GPU says of a kernel, and what is made of it; the kernel runs on all rows."""
    gpu, probe = HostGpu(kernel), Probe(seed=seed)
    job = job or job_of(kernel=claim)
    outcome = vast.examine_vast(job, probe, gpu)
    case = Case(claim.op, {"rows": ROWS, "cols": COLS}, {"x": alternate_rows((ROWS, COLS), 0, range(ROWS))})
    bound = claim.bind(case.arrays, {"threads": 32})
    prepared = PreparedTrial(claim, case, {"threads": 32}, probe, bound, job)
    return outcome, judge_outcome(prepared, outcome, "gpu", 0.0), gpu


def test_a_right_answer_is_kept_and_few_rows_are_brought() -> None:
    outcome, trial, gpu = run_and_judge(softmax)
    assert [run.rows for run in outcome.runs] == [tuple(range(KINDS))] * 2
    assert (outcome.findings, outcome.notes, trial.defects, trial.rows, trial.reasons) == ((), (), (), KINDS, ())
    assert gpu.launches == 2
    assert all(one.is_closed for one in gpu.taken)


def test_rows_that_are_right_in_other_bits_are_judged_and_kept() -> None:
    def by_place(gpu: HostGpu, addresses: Mapping[str, int], x: NDArray[np.float32], y: NDArray[np.float32]) -> None:
        softmax(gpu, addresses, x, y)
        y[::4] = np.nextafter(y[::4], np.float32(1))

    outcome, trial, _ = run_and_judge(by_place)
    assert len(outcome.runs[0].rows) == 2 * KINDS
    assert (trial.defects, trial.reasons) == ((), ())


@pytest.mark.parametrize("row", [3, 41, 49])
def test_one_wrong_row_is_found_wherever_it_is(row: int) -> None:
    def wrong(gpu: HostGpu, addresses: Mapping[str, int], x: NDArray[np.float32], y: NDArray[np.float32]) -> None:
        softmax(gpu, addresses, x, y)
        y[row, 5] *= 2

    outcome, trial, _ = run_and_judge(wrong)
    assert row in outcome.runs[0].rows
    (defect,) = trial.defects
    assert (defect.kind, defect.severity) == ("numeric", "error")
    assert defect.worst is not None
    assert defect.worst.index == (row, 5)
    assert defect.extent is not None
    assert defect.extent.rows == (row,)


def test_rows_that_take_those_of_another_place_are_found() -> None:
    """An offset in 32 bits that goes round within the array: no access is outside, and each row has another's input."""

    def wraps(gpu: HostGpu, addresses: Mapping[str, int], x: NDArray[np.float32], y: NDArray[np.float32]) -> None:
        softmax(gpu, addresses, x[np.arange(ROWS) % 32], y)

    _, trial, _ = run_and_judge(wraps)
    assert [defect.kind for defect in trial.errors] == ["numeric"]


def test_rows_that_the_kernel_does_not_write_are_unwritten() -> None:
    def short(gpu: HostGpu, addresses: Mapping[str, int], x: NDArray[np.float32], y: NDArray[np.float32]) -> None:
        softmax(gpu, addresses, x[:40], y[:40])

    outcome, trial, _ = run_and_judge(short)
    (found,) = outcome.findings
    assert (found.kind, found.array, found.index) == ("unwritten", "y", 40 * COLS)
    assert [defect.kind for defect in trial.errors] == ["unwritten"]


def quantize(gpu: HostGpu, addresses: Mapping[str, int], q: Codes, scale: Codes, x: NDArray[np.float32]) -> None:
    by = np.abs(x).max(axis=1, keepdims=True) / np.float32(127)
    q[:], scale[:] = np.rint(x / by), by


def test_answers_of_one_byte_are_compared_and_judged_wherever_they_begin() -> None:
    for seed in range(8):  # at other distances from a multiple of 4
        outcome, trial, _ = run_and_judge(quantize, claim=INT8, seed=seed)
        assert [run.rows for run in outcome.runs] == [tuple(range(KINDS))] * 3
        assert (outcome.findings, trial.defects, trial.reasons) == ((), (), ())


def test_a_wrong_byte_and_unwritten_bytes_are_found() -> None:
    def wrong(gpu: HostGpu, addresses: Mapping[str, int], q: Codes, scale: Codes, x: NDArray[np.float32]) -> None:
        quantize(gpu, addresses, q, scale, x)
        q[41, 5] ^= 64

    def short(gpu: HostGpu, addresses: Mapping[str, int], q: Codes, scale: Codes, x: NDArray[np.float32]) -> None:
        quantize(gpu, addresses, q[:40], scale[:40], x[:40])

    assert [defect.kind for defect in run_and_judge(wrong, claim=INT8)[1].errors] == ["numeric"]
    outcome, _, _ = run_and_judge(short, claim=INT8)
    found = {one.array: (one.kind, one.index) for one in outcome.findings}
    assert found == {"q": ("unwritten", 40 * COLS), "scale": ("unwritten", 40)}


@pytest.mark.parametrize(("byte", "index"), [(-4, -1), (4 * ROWS * COLS, ROWS * COLS)])
def test_a_write_beside_an_array_is_found(byte: int, index: int) -> None:
    def beside(gpu: HostGpu, addresses: Mapping[str, int], x: NDArray[np.float32], y: NDArray[np.float32]) -> None:
        softmax(gpu, addresses, x, y)
        one = gpu.taken[(addresses["y"] >> 40) - 1]
        place = addresses["y"] + byte - one.base
        one.bytes[max(0, place) : place + 4] = 0

    outcome, _, _ = run_and_judge(beside)
    assert [(found.kind, found.array, found.index) for found in outcome.findings] == [("out-of-bounds", "y", index)]


def test_an_input_that_is_changed_is_found() -> None:
    def changes(gpu: HostGpu, addresses: Mapping[str, int], x: NDArray[np.float32], y: NDArray[np.float32]) -> None:
        softmax(gpu, addresses, x, y)
        x[7, 1] = 3

    outcome, _, _ = run_and_judge(changes)
    assert [(one.kind, one.array, one.index) for one in outcome.findings] == [("input-changed", "x", 7 * COLS + 1)]


def test_answers_that_never_repeat_are_judged_up_to_a_limit_and_the_rest_is_noted() -> None:
    """A sum by atomics may have other bits in every row: what is not judged is not accused, and not kept silent of."""
    draw = np.random.default_rng(1)

    def varies(gpu: HostGpu, addresses: Mapping[str, int], x: NDArray[np.float32], y: NDArray[np.float32]) -> None:
        softmax(gpu, addresses, x, y)
        y *= 1 + draw.integers(0, 3, (ROWS, 1)).astype(np.float32) * np.float32(2**-23)
        y[20:] *= 1 + draw.permutation(ROWS - 20)[:, None].astype(np.float32) * np.float32(2**-23)

    outcome, trial, _ = run_and_judge(varies)
    assert len(outcome.runs[0].rows) <= 16
    assert [note.partition(" ")[2] for note in outcome.notes][:1] == ["rows of a content that no judged row has"]
    assert trial.reasons == outcome.notes


def test_what_does_not_fit_is_not_tried_and_says_so() -> None:
    gpu = HostGpu(softmax, free=5 * PAGE)  # it takes four, two an array; a quarter is left to others
    outcome = vast.examine_vast(job_of(), Probe(), gpu)
    assert (outcome.runs, outcome.findings, gpu.taken) == ((), (), [])
    assert vast.examine_vast(job_of(), Probe(), HostGpu(softmax, free=6 * PAGE)).runs
    assert (outcome.untried, outcome.notes) == (Untried.DOES_NOT_FIT, ())


def test_while_another_such_trial_has_the_gpu_none_begins_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gpu = HostGpu(softmax)
    assert vast.examine_vast(job_of(), Probe(), gpu).runs
    (other,) = tmp_path.iterdir()
    with other.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        outcome = vast.examine_vast(job_of(), Probe(), gpu)
    assert (outcome.runs, outcome.findings, outcome.untried) == ((), (), Untried.CARD_IN_USE)
    assert vast.examine_vast(job_of(), Probe(), gpu).runs


def test_a_row_that_is_too_long_to_judge_is_noted() -> None:
    outcome, trial, _ = run_and_judge(softmax, job_of(most_rows=0))
    assert (outcome.runs, trial.rows) == ((), 0)
    assert trial.notes == ("answers of so large a row, or that need a whole huge array, are not judged",)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_the_functions_for_a_gpu_do_what_they_say(axis: int, size: int) -> None:
    shape = 23, 30
    element = {1: I8, 2: F16, 4: F32}[size]
    one, whole = element.one, {1: np.uint8, 2: np.uint16, 4: np.uint32}[size]
    bits = np.where(alternate_rows(shape, axis, range(shape[axis])) > 0, one, 0).astype(whole)
    rows, inner = shape[axis], 1 if axis else shape[1]
    length = shape[0] * shape[1] // rows
    content = {"array": bits.view(element.dtype)}
    walk = (length, rows, inner, size)

    def run(function: str, args: tuple[str | int, ...], buffers: tuple[Buffer, ...]) -> dict[str, NDArray[np.generic]]:
        job = Job("vast", VAST_CU, VAST_CU.read_text(), (), 256, buffers,
                  (Step(function, (3, 1, 1), (32, 1, 1), 0, args),), (function,))  # fmt: skip
        outcome = device.run(job, Probe(check=True, runs=2))
        assert outcome.findings == ()
        return outcome.runs[0].outputs

    with CpuDevice() as device:
        out = Buffer("array", element, shape, is_output=True)
        written = run("write_alternating", ("array", *walk, one), (out,))["array"].view(whole)
        assert np.array_equal(written, bits)
        changed = bits.copy()
        changed[4, 7] ^= 1
        for array, place in ((bits, -1), (changed, 4 * shape[1] + 7)):
            given = replace(out, is_output=False, content=array.view(content["array"].dtype))
            found = Buffer("found", I64, (1,), content=np.array([-1]), is_output=True)
            got = run("find_changed", ("array", *walk, one, "found"), (given, found))["found"]
            assert got.tolist() == [place]
        row = changed.shape[axis] - 1
        changed.swapaxes(0, axis)[row, 0] ^= 3
        given = replace(out, is_output=False, content=changed.view(content["array"].dtype))
        like = Buffer("like", I64, (KINDS,), content=np.arange(KINDS))
        done = Buffer("done", U32, (8,), content=np.zeros(8, np.uint32))
        odd = Buffer("odd", U32, (8,), content=np.zeros(8, np.uint32), is_output=True)
        marks = run("mark_unlike", ("array", *walk, "like", "done", "odd"), (given, like, done, odd))["odd"]
        expected = {row, (4, 7)[axis]} | {r for r in range(rows) if r % KINDS == (4, 7)[axis] and (4, 7)[axis] < KINDS}
        expected -= {(4, 7)[axis]} if (4, 7)[axis] < KINDS else set()
        assert set(np.flatnonzero(marks.view(np.uint8)).tolist()) == expected
        settled = replace(done, is_output=True)
        numbers = {
            "first": Buffer("first", I64, (KINDS,), content=np.full(KINDS, -1), is_output=True),
            "count": Buffer("count", I64, (1,), content=np.zeros(1, np.int64), is_output=True),
        }
        given_marks = replace(odd, content=marks)
        arrays = (like, settled, given_marks, *numbers.values())
        left = run("settle", (rows, "like", "done", "odd", "first", "count"), arrays)
        assert int(left["count"][0]) == len(expected)
        assert set(np.flatnonzero(left["done"].view(np.uint8)).tolist()) == set(range(rows)) - expected
        least = [min((r for r in expected if r % KINDS == kind), default=-1) for kind in range(KINDS)]
        assert left["first"].tolist() == least
        assert not left["odd"].any()


RIGHT = [
    kernel for kernel in every_kernel() if kernel.broken is None and vast_size(kernel, BEYOND_INT, seeded_choices(1))
]


@pytest.mark.parametrize("kernel", RIGHT, ids=lambda kernel: kernel.name)
def test_every_kernel_is_asked_for_rows_of_which_inputs_are_known(kernel: Kernel) -> None:
    axes, tune = vast_size(kernel, BEYOND_INT, seeded_choices(3)) or ({}, {})
    assert axes
    case = attempt_of(kernel, 3, AT).case
    job = choose_vast_part(kernel, case, kernel.bind(case.arrays, tune).job, 1)
    assert job.vast
    if job.vast.most_rows:
        rows = range(min(job.vast.most_rows, 9))
        given = inputs_of_rows(kernel, case, rows)
        for role, axis in kernel.roles.cut.items():
            if role in given:
                assert given[role].shape[axis] == len(rows)
                if len(rows) > KINDS:
                    assert np.array_equal(given[role].take(0, axis), given[role].take(KINDS, axis))


def test_small_arrays_beside_vast_ones_have_the_same_kinds_of_row() -> None:
    kernel = load(KERNELS / "attention" / "scores_in_shared.cu")
    made = make_vast_inputs(kernel, {"q": (20, 1 << 24, 2), "k": (20, 3, 2), "v": (20, 3, 2)})
    assert isinstance(made["k"], np.ndarray)
    assert np.array_equal(made["k"], alternate_rows((20, 3, 2), 0, range(20)))
    assert isinstance(made["q"], np.ndarray)
    assert made["q"].shape == make_unfilled((20, 1 << 24, 2)).shape


# -- on a GPU


@pytest.fixture(scope="module")
def gpu() -> Iterator[GpuDevice]:
    device = GpuDevice()
    yield device
    device.close()


def tried(kernel: Kernel, device: GpuDevice, seed: int = 3) -> Trial:
    """What comes of the trial once no other test has the GPU."""
    attempt = attempt_of(kernel, seed, AT)
    while True:
        trial = run_trial(kernel, attempt.case, attempt.tune, device, probe_of(kernel, seed, AT, 3, 10.0))
        if trial.untried is not Untried.CARD_IN_USE:
            return trial


TRIED = [pytest.param(kernel, id=kernel.name, marks=pytest.mark.soak if is_seldom(kernel) else ()) for kernel in RIGHT]


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", TRIED)
def test_no_right_kernel_is_accused_on_a_gpu(kernel: Kernel, gpu: GpuDevice) -> None:
    trial = tried(kernel, gpu)
    print(kernel.name, dict(trial.axes), trial.rows, trial.seconds, trial.notes)
    assert trial.defects == ()
    assert trial.rows or trial.untried or trial.notes


INT = "const int start = blockIdx.x * cols;"
LONG = "const size_t start = size_t(blockIdx.x) * cols;"
WRAPPED = {
    "as it is": (INT, "illegal-address"),
    "read alone": (f"{LONG} x -= start; x += (int)(blockIdx.x * cols);", "illegal-address"),
    "bytes in 32 bits": ("const size_t start = 4u * blockIdx.x * cols / 4u;", ""),
    "bytes in 32 bits, read alone": (f"{LONG} x -= start; x += 4u * blockIdx.x * cols / 4u;", "numeric"),
    "right": (LONG, None),
}
"""An index of 32 bits in a softmax, and what is seen of it; where two things are, any of them is an error."""


def skip_where_untried(trial: Trial) -> None:
    """Another process fills the GPU: nothing was run that could be found. With the GPU to itself none is skipped."""
    if trial.untried:
        pytest.skip(trial.untried.value)  # what was not run cannot be asked for its fault


@pytest.mark.gpu
@pytest.mark.parametrize("name", WRAPPED)
def test_an_index_in_32_bits_is_found_on_a_gpu(name: str, gpu: GpuDevice, tmp_path: Path) -> None:
    text, kind = WRAPPED[name]
    source = (KERNELS / "broken" / "int_overflow.cu").read_text()
    fixed = source.replace(INT, text)
    (tmp_path / "softmax.cu").write_text(fixed)
    for seed in range(2):
        trial = tried(load(tmp_path / "softmax.cu"), gpu, seed)
        print(name, dict(trial.axes), trial.rows, trial.seconds, [(one.kind, one.message) for one in trial.defects])
        skip_where_untried(trial)
        found = {one.kind for one in trial.errors}
        assert bool(found) == (kind is not None)
        assert not kind or found == {kind}


@pytest.mark.gpu
def test_an_int_that_overflows_in_a_transpose_is_found_on_a_gpu(gpu: GpuDevice) -> None:
    trial = tried(load(KERNELS / "broken" / "int_overflow_transpose.cu"), gpu)
    skip_where_untried(trial)
    assert {one.kind for one in trial.errors} == {"illegal-address"}


HOLDS = """
import pycuda.autoinit, pycuda.driver as cuda
kept = cuda.mem_alloc(cuda.mem_get_info()[0] - (4 << 30))
print("held", flush=True)
input()
"""


@pytest.mark.gpu
@pytest.mark.soak  # nobody else has room meanwhile
def test_a_case_that_does_not_fit_beside_another_process_is_untried() -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdin
        assert other.stdout
        if other.stdout.readline() != b"held\n":
            pytest.skip("others have so much of the GPU that it is full without this process")
        device = GpuDevice()
        trial = tried(SOFTMAX, device)
        assert (trial.defects, trial.rows, trial.untried) == ((), 0, Untried.DOES_NOT_FIT)
        other.communicate(b"\n")
        assert tried(SOFTMAX, device).rows  # the same process, once there is room
        device.close()


def test_alternating_rows_differ_and_repeat_after_seven() -> None:
    made = alternate_rows((21, 840), 0, range(21))
    assert np.array_equal(made[:7], made[7:14])
    assert len({row.tobytes() for row in made[:7]}) == KINDS
    assert len({float(row.sum()) for row in made[:7]}) == KINDS
    across = alternate_rows((840, 21), 1, [0, 20])
    assert np.array_equal(across, made[[0, 20]].T)
    for one, other in itertools.pairwise(range(7)):
        assert not np.array_equal(made[one], made[other])
