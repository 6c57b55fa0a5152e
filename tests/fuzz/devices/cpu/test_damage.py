"""Damage that a kernel does to others' memory reaches no other job: it is reported, or at least harmless."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from planted_jobs import floats, job_of

from kfuzz.devices import Job, Outcome, Probe
from kfuzz.devices.cpu.device import CpuDevice

FAST = Probe(runs=2)

SHARED = """
__global__ void beside_static(float *y, int at) {
    __shared__ float s[64];
    s[threadIdx.x] = 1.0f;
    __syncthreads();
    float *p = s;
    if (threadIdx.x == 0) {
        p[at] = 7.0f;  // STATIC
    }
    y[threadIdx.x] = s[threadIdx.x];
}

__global__ void beside_dynamic(float *y, int at) {
    extern __shared__ float d[];
    d[threadIdx.x] = 1.0f;
    __syncthreads();
    if (threadIdx.x == 0) {
        d[at] = 7.0f;  // DYNAMIC
    }
    y[threadIdx.x] = d[threadIdx.x];
}
"""

DEADLY = """
#include <unistd.h>
__global__ void deadly(float *y, const float *x) {
    if (access(LIVES, F_OK) == 0) {
        if (ONCE) {
            unlink(LIVES);
        }
        _exit(3);
    }
    y[threadIdx.x] = x[threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def device() -> Iterator[CpuDevice]:
    with CpuDevice() as device:
        yield device


def written_at(at: int, entry: str) -> Job:
    """A job of 64 threads with 64 floats of shared memory, one of which writes an element of its own choice."""
    shared = 256 if entry == "beside_dynamic" else 0
    every = ("beside_static", "beside_dynamic")
    return job_of(SHARED, every, entry, {"y": "f32[64]", "at": at}, shared=shared)


@pytest.mark.parametrize("entry", ["beside_static", "beside_dynamic"])
@pytest.mark.parametrize("at", [64, 100, 1000, -1, -2, -1000])
def test_a_write_beside_shared_memory_is_found_where_accesses_are_not_checked(
    device: CpuDevice, entry: str, at: int
) -> None:
    worker = device._worker.pid
    found = device.run(written_at(at, entry), FAST).findings
    mark = "// STATIC" if entry == "beside_static" else "// DYNAMIC"
    line = next(number for number, text in enumerate(SHARED.splitlines(), 1) if mark in text)
    assert [(one.kind, one.index, one.line) for one in found] == [("out-of-bounds", at, line)]
    assert worker in (None, device._worker.pid)


@pytest.mark.parametrize("entry", ["beside_static", "beside_dynamic"])
@pytest.mark.parametrize("at", [0, 63])
def test_a_write_within_shared_memory_is_not_a_finding(device: CpuDevice, entry: str, at: int) -> None:
    assert device.run(written_at(at, entry), FAST).findings == ()


def test_a_read_beside_a_shared_array_gets_no_value_of_another_kernel() -> None:
    """Otherwise the findings of a campaign would depend on what it ran before."""
    fills = """__global__ void fills(float *y) {
                   __shared__ volatile float big[1024];
                   for (int i = 0; i < 1024; ++i) big[i] = 1.5f;
                   y[0] = big[threadIdx.x];
               }"""
    beside = """__global__ void beside(float *y) {
                    __shared__ alignas(64) volatile float one[1], two[1];
                    one[0] = two[0] = 2.5f;
                    for (int i = 0; i < 16; ++i) y[i] = one[i];
                    for (int i = 0; i < 16; ++i) y[16 + i] = two[i];
                }"""
    job = job_of(beside, ("beside",), "beside", {"y": "f32[32]"}, block=1)

    def read_outputs(before: tuple[Job, ...]) -> list[bytes]:
        with CpuDevice() as device:
            return [[run.outputs["y"].tobytes() for run in device.run(one, FAST).runs] for one in (*before, job)][-1]

    assert read_outputs(()) == read_outputs((job_of(fills, ("fills",), "fills", {"y": "f32[1]"}, block=1),))


def test_the_worker_outlives_writes_far_beside_shared_memory() -> None:
    with CpuDevice() as device:
        device.run(written_at(0, "beside_static"), FAST)
        worker = device._worker.pid
        for power in range(8, 24):
            for at in (1 << power, -(1 << power)):
                for entry in ("beside_static", "beside_dynamic"):
                    device.run(written_at(at, entry), FAST)
        assert device.run(written_at(0, "beside_static"), FAST).findings == ()
        assert device._worker.pid == worker


def deadly(lives: Path, once: bool) -> tuple[Outcome, list[int | None]]:
    """The outcome of a kernel that ends its process while a file exists, and the processes before and after."""
    text = DEADLY.replace("LIVES", f'"{lives}"').replace("ONCE", str(once).lower())
    job = job_of(text, ("deadly",), "deadly", {"y": "f32[64]", "x": floats(64)})
    with CpuDevice() as device:
        assert device.run(job, FAST).findings == ()
        processes = [device._worker.pid]
        lives.touch()
        outcome = device.run(job, FAST)
        return outcome, [*processes, device._worker.pid]


@pytest.mark.slow
def test_a_process_that_ends_once_is_not_a_finding_and_the_job_runs_in_a_new_one(tmp_path: Path) -> None:
    outcome, (before, after) = deadly(tmp_path / "lives", once=True)
    assert outcome.findings == ()
    assert [np.array_equal(one.outputs["y"], floats(64)) for one in outcome.runs] == [True, True]
    assert None not in (before, after)
    assert before != after


def test_a_kernel_that_ends_every_process_is_reported_with_its_exit_status(tmp_path: Path) -> None:
    outcome, _ = deadly(tmp_path / "lives", once=False)
    assert [(one.kind, one.severity) for one in outcome.findings] == [("trap", "error")]
    assert "exit status 3" in outcome.findings[0].message
    assert outcome.runs == ()


LARGE = """
__global__ void copies(float *y, const float *x, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        y[i] = x[i];
    }
}
"""


def resident(pid: int, field: str = "VmRSS:") -> int:
    """Kilobytes of memory that a process uses now, or with `VmHWM:` at its peak."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.partition(field)[2].split()[0])


@pytest.mark.slow
@pytest.mark.parametrize(("check", "elements", "jobs"), [(False, 1 << 23, 520), (True, 1 << 20, 80)])
def test_the_memory_of_a_large_job_is_released(check: bool, elements: int, jobs: int) -> None:
    def copying(count: int) -> Job:
        return job_of(LARGE, ("copies",), "copies", {"y": f"f32[{count}]", "x": floats(count), "n": count})

    with CpuDevice() as device:
        device.run(copying(1), Probe(check=check, runs=2))
        assert device._worker.pid is not None
        before = resident(device._worker.pid)
        device.run(copying(elements), Probe(check=check, runs=2))
        grown = resident(device._worker.pid, "VmHWM:") - before
        assert grown > elements * 8 // 1024
        for count in range(jobs):
            device.run(copying(1 + count % 2), Probe(check=check, runs=2))
        assert resident(device._worker.pid) - before < grown / 4


STACKS = """
#include <cooperative_groups.h>

template <int bytes>
__global__ void stacked(float *y) {
    volatile char mine[bytes];
    for (int at = 0; at < bytes; at += 1024) {
        mine[at] = 1;
    }
    cooperative_groups::this_cluster().sync();
    y[blockIdx.x * blockDim.x + threadIdx.x] = mine[0];
}
"""
FLAT, DEEP = "stacked<1024>", "stacked<81920>"


@pytest.mark.slow
def test_stacks_of_a_cluster_stay_unless_they_are_many_megabytes() -> None:
    def stacked(entry: str) -> Job:
        job = job_of(STACKS, (FLAT, DEEP), entry, {"y": "f32[8192]"}, block=1024)
        return replace(job, steps=(replace(job.steps[0], grid=(8, 1, 1), cluster=(8, 1, 1)),))

    with CpuDevice() as device:
        held = []
        for entry in (FLAT, FLAT, DEEP, FLAT):
            assert device.run(stacked(entry), Probe(runs=1)).findings == ()
            assert device._worker.pid is not None
            held.append(resident(device._worker.pid) >> 10)
        assert abs(held[1] - held[0]) < 16
        assert held[2] > 512 > held[3]
