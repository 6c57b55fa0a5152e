"""The order of accesses, the words for a missing order, and defects beyond the first of a run."""

from pathlib import Path

import numpy as np
import pytest
from planted_jobs import Value, floats, job_of
from planted_programs import job, program

from kfuzz.devices import Finding, Job, Probe, Step
from kfuzz.devices.cpu.device import CpuDevice

CHECK = Probe(check=True, timeout=5.0)


def races(device: CpuDevice, name: str, threads: int = 64) -> list[Finding]:
    outcome = device.run(job(program(name), True, threads, 0), CHECK)
    return [one for one in outcome.findings if (one.kind, one.severity) == ("race", "error")]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "tree_sum",
            "in the next turn of the loop line 11 uses s[1] again, too early: put `__syncthreads()` after line 12 "
            "(kfuzz tried it: it prevents this race); thread 1 writes s[1], which thread 0 of its warp read",
        ),
        ("tile_used_again", "may still read: put `__syncthreads()` after line 11"),
        ("half_warps", "line 7 writes s[8] and line 13 reads it: put `__syncthreads()` after line 7"),
        (
            "barrier_in_loop",
            "line 10 reads s[32] and line 18 writes it: put `__syncthreads()` after line 10 (kfuzz tried it",
        ),
        ("once_by_exchange", "no barrier orders blocks: needs atomics with fences"),
        ("counter_block_scope", "of block scope is used between two blocks"),
        ("last_block_fence", "needs a __threadfence() between line"),
        ("last_block_scope", "a fence of block scope is used between two blocks: it needs device scope"),
        ("lock_no_acquire", "needs a __threadfence() between the atomic that observes it and line"),
        ("lock_no_release", "and the atomic that publishes it"),
        ("message_scope_block", "is used between two blocks: it needs device scope"),
    ],
)
def test_a_race_says_which_order_is_missing(device: CpuDevice, name: str, words: str) -> None:
    found = races(device, name)
    assert any(words in one.message for one in found), found


def test_a_race_says_what_another_order_of_threads_changes(device: CpuDevice) -> None:
    shown = races(device, "last_block_fence")
    assert "y[0] depends on the order of threads" in shown[0].message
    hidden = races(device, "managed_variable")
    assert "kfuzz tried other orders of threads, and none changes the result" in hidden[0].message


def race_warnings(device: CpuDevice, text: str, arguments: dict[str, Value]) -> list[str]:
    found = device.run(job_of(text, ("k",), "k", arguments), CHECK).findings
    return [one.message for one in found if (one.kind, one.severity) == ("race", "warning")]


def test_a_warning_of_a_race_says_which_experiment_failed_to_change_the_result(device: CpuDevice) -> None:
    guess = """
    __global__ void k(int *y) {
        int old = *y, seen;
        while ((seen = atomicCAS(y, old, old + 1)) != old) old = seen;
    }"""
    same = "__global__ void k(int *y) { y[0] = 1; }"
    shared = "__global__ void k(int *y) { __shared__ int s; s = 1; __syncthreads(); y[threadIdx.x] = s; }"
    orders, late = "(kfuzz tried 3 orders of threads", ", and reads that see the value from before the other write"
    for text, y, tried in (
        (guess, np.zeros(1, np.int32), orders + late),
        (same, "i32[1]", orders + late),
        (shared, "i32[64]", orders),
    ):
        found = race_warnings(device, text, {"y": y})
        assert found
        assert all(f"{tried}: none changes the result)" in one for one in found)


def test_a_warning_of_a_race_says_what_an_experiment_changes(device: CpuDevice) -> None:
    text = """
    __global__ void k(int *y, volatile int *flag) {
        if (threadIdx.x == 0) *flag = 1;
        if (threadIdx.x == 63) y[0] = *flag;
    }"""
    found = race_warnings(device, text, {"y": "i32[1]", "flag": np.zeros(1, np.int32)})
    assert any("y[0] depends on the order" in one for one in found)


RELAXED_LAST_BLOCK = """
    __global__ void k(float *y, volatile float *part, unsigned *arrived) {
        part[blockIdx.x] = 1.0f;
        if (BEFORE) __threadfence();
        if (atomicAdd(arrived, 1u) != gridDim.x - 1) return;
        __threadfence();
        float sum = 0.0f;
        for (unsigned i = 0; i < gridDim.x; i++) sum += part[i];
        y[0] = sum;
    }"""
RELAXED_MESSAGE = """
    __global__ void k(float *y, volatile float *part, volatile int *flag) {
        if (blockIdx.x == 0) {
            part[0] = 1.0f;
            __threadfence();
            *flag = 1;
        } else if (blockIdx.x == 1) {
            while (*flag == 0) {}
            y[0] = part[0];
        }
    }"""


def severities_of_races(device: CpuDevice, text: str, counter: str) -> list[str]:
    """Those of the races of one run of a text, in which a block of one thread reads what others have written."""
    arguments = {"y": "f32[1]", "part": "f32[4]", counter: np.zeros(1, np.int32)}
    found = device.run(job_of(text, ("k",), "k", arguments, block=1, grid=4), CHECK).findings
    return [one.severity for one in found if one.kind == "race"]


def test_a_relaxed_write_without_a_fence_before_its_atomic_is_an_error(device: CpuDevice) -> None:
    assert severities_of_races(device, RELAXED_LAST_BLOCK.replace("BEFORE", "false"), "arrived") == ["error"]
    assert severities_of_races(device, RELAXED_LAST_BLOCK.replace("BEFORE", "true"), "arrived") == []


def test_a_relaxed_read_without_a_fence_after_its_flag_stays_a_warning(device: CpuDevice) -> None:
    assert {*severities_of_races(device, RELAXED_MESSAGE, "flag")} == {"warning"}


def test_a_race_between_blocks_names_both_threads_and_their_blocks(device: CpuDevice) -> None:
    (found, *_) = races(device, "message_between_blocks")
    assert found.block == (0, 0, 0)
    assert "thread 0 of block 2 wrote" in found.message


@pytest.mark.parametrize("writer", [0, 1, 32, 33])
def test_a_word_with_many_readers_keeps_a_reader_of_another_warp(device: CpuDevice, writer: int) -> None:
    text = f"""
    __global__ void k(float *y, const float *x) {{
        __shared__ float word;
        if (threadIdx.x == 0) word = x[0];
        __syncthreads();
        float sum = 0.0f;
        for (int i = 0; i < 4; i++) sum += word;
        __syncwarp();
        if (threadIdx.x == {writer}) word = 2.0f;
        y[threadIdx.x] = sum;
    }}"""
    arguments: dict[str, Value] = {"y": "f32[64]", "x": floats(64)}
    outcome = device.run(job_of(text, ("k",), "k", arguments), CHECK)
    reported = [one for one in outcome.findings if one.kind == "race"]
    assert {one.severity for one in reported} == {"error"}


def test_an_illegal_access_ends_its_thread_and_hides_no_race(device: CpuDevice) -> None:
    text = """
    __global__ void k(float *y, float *z) {
        if (threadIdx.x == 3) {
            y[1ll << 40] = 1.0f;
        }
        z[0] = threadIdx.x;
        __syncthreads();
        y[threadIdx.x] = 1.0f;
    }"""
    outcome = device.run(job_of(text, ("k",), "k", {"y": "f32[64]", "z": "f32[1]"}), CHECK)
    assert {one.kind for one in outcome.findings if one.severity == "error"} == {"illegal-address", "race"}
    assert outcome.runs == ()


def test_an_index_far_beyond_its_array_lands_in_no_other(device: CpuDevice) -> None:
    text = """
    __global__ void k(float *y, const float *x) {
        y[threadIdx.x] = x[threadIdx.x == 63 ? 100000 : threadIdx.x];
    }"""
    arguments: dict[str, Value] = {"y": "f32[64]", "x": floats(64)}
    found = device.run(job_of(text, ("k",), "k", arguments), CHECK).findings
    assert [(one.kind, one.severity, one.array) for one in found] == [("out-of-bounds", "error", "x")]


WAITS = """
__global__ void k(int *flag) {
    if (blockIdx.x == gridDim.x - 1) {
        atomicExch(flag, 1);
    }
    while (atomicAdd(flag, 0) == 0) {
    }
}"""


def test_blocks_may_wait_for_the_last_one_if_a_gpu_holds_them_all(device: CpuDevice) -> None:
    job = job_of(WAITS, ("k",), "k", {"flag": "i32[1] = 0"}, block=4, grid=1000)
    for check in (True, False):
        assert device.run(job, Probe(check=check, timeout=20.0)).findings == ()


@pytest.mark.slow
def test_a_grid_that_waits_for_more_blocks_than_a_gpu_holds_is_reported(device: CpuDevice) -> None:
    job = job_of(WAITS, ("k",), "k", {"flag": "i32[1] = 0"}, block=1, grid=5000)
    found = [one for one in device.run(job, Probe(timeout=20.0)).findings if one.kind == "hang"]
    assert [(one.severity, "blocks wait for one that has not started" in one.message) for one in found] == [
        ("error", True)
    ]


@pytest.mark.parametrize(("value", "severity"), [("value", "error"), ("value == value ? 1.0f : 2.0f", "warning")])
def test_an_absent_lane_is_an_error_if_more_than_a_nan_shows(device: CpuDevice, value: str, severity: str) -> None:
    text = f"""
    __global__ void k(float *y) {{
        const float value = __shfl_down_sync(0xffffffffu, 1.0f, 16);
        y[threadIdx.x] = {value};
    }}"""
    found = device.run(job_of(text, ("k",), "k", {"y": "f32[8]"}, block=8), CHECK).findings
    assert [(one.kind, one.severity) for one in found] == [("inactive-lane", severity)]
    assert ("only a NaN" in found[0].message) == (severity == "warning")


def test_words_of_cuda_in_a_header_are_translated(device: CpuDevice, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "sum.cuh").write_text(
        "static __device__ __noinline__ float *buffer() { extern __shared__ float all[]; return all; }\n"
    )
    text = '#include "parts/sum.cuh"\n__global__ void k(float *y) { buffer()[0] = 3.0f; y[0] = buffer()[0]; }'
    one = job_of(text, ("k",), "k", {"y": "f32[1]"}, block=1)
    step = Step("k", (1, 1, 1), (1, 1, 1), 16, ("y",))
    outcome = device.run(Job("k", tmp_path / "k.cu", text, (), 256, one.buffers, (step,), ("k",)), CHECK)
    assert outcome.findings == ()
    assert [float(run.outputs["y"][0]) for run in outcome.runs] == [3.0] * 3


def test_atomics_of_libcu_do_what_they_say(device: CpuDevice) -> None:
    text = """
    #include <cuda/atomic>
    __device__ cuda::atomic<int, cuda::thread_scope_device> total(5);
    __global__ void k(int *y) {
        cuda::atomic_ref<int> cell(y[0]);
        cell.fetch_add(2);
        cell.fetch_max(40, cuda::std::memory_order_relaxed);
        int expected = 40;
        y[1] = cell.compare_exchange_strong(expected, 41);
        y[2] = cell.compare_exchange_strong(expected, 42);
        y[3] = expected;
        y[4] = total++ + total.load();
    }"""
    outcome = device.run(job_of(text, ("k",), "k", {"y": np.zeros(5, np.int32)}, block=1), CHECK)
    assert outcome.findings == ()
    assert outcome.runs[0].outputs["y"].tolist() == [41, 1, 0, 41, 11]


def test_barriers_in_ptx_equal_those_of_cuda(device: CpuDevice) -> None:
    text = """
    __global__ void k(float *y, const float *x) {
        __shared__ float s[64];
        const int t = threadIdx.x;
        s[t] = x[t];
        asm volatile("bar.warp.sync %0;" :: "r"(0xffffffff) : "memory");
        const float near = s[t ^ 31];
        asm volatile("bar.sync 0;" ::: "memory");
        y[t] = near + s[63 - t];
        BEHIND
    }"""
    arguments: dict[str, Value] = {"y": "f32[64]", "x": floats(64)}
    for behind, kinds in (("", set()), ("s[t ^ 1] = 0.0f;", {"race"})):
        outcome = device.run(job_of(text.replace("BEHIND", behind), ("k",), "k", arguments), CHECK)
        assert {one.kind for one in outcome.findings if one.severity == "error"} == kinds
