"""Measure the speed of the cpu device, and print it beside the aims: `python -m benchmarks.cost.cpu_device`.

Thread-steps: one CUDA thread runs to its next barrier or shuffle. Trials: a job of three launches, sent to a
worker process and back. Each figure is the best of several measurements on one core, since others may use the machine.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.devices import Buffer, Job, Probe, Step
from kfuzz.devices.cpu import compiler
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.oracle.numbers.elements import F32

STEPS = """
__global__ void barriers(float *y, int rounds) {
    for (int i = 0; i < rounds; i++) {
        __syncthreads();
    }
    y[threadIdx.x] = rounds;
}

__global__ void shuffles(float *y, int rounds) {
    float value = threadIdx.x;
    for (int i = 0; i < rounds; i++) {
        value += __shfl_xor_sync(0xffffffffu, value, 1);
    }
    y[threadIdx.x] = value;
}
"""
THREAD_STEPS = 2_000_000
TIMED = (
    # kernel, axes, tune: sizes at which the launch itself is nothing
    ("softmax/grid_three_launches", {"n": 20_000}, {"threads": 256, "max_blocks": 65535}),
    ("softmax/online_block_vec4", {"rows": 64, "cols": 2000}, {"threads": 256}),
    ("softmax/online_warp", {"rows": 64, "cols": 2000}, {"threads": 256}),
    ("softmax/safe_block", {"rows": 200, "cols": 500}, {}),
    ("reduce/block_sum", {"rows": 64, "cols": 1000}, {}),
    ("sgemm/tiled", {"m": 96, "n": 96, "k": 96}, {}),
    ("transpose/tiled", {"rows": 300, "cols": 300}, {}),
)


def main() -> None:
    """Measure everything once and print it."""
    with CpuDevice() as device:
        for line in (*thread_steps(device), *trials(device), *compile_times()):
            print(line, flush=True)


def thread_steps(device: CpuDevice) -> Iterator[str]:
    """Million thread-steps per second, by kind and block size."""
    for entry, threads, target in (
        ("barriers", 32, 0),
        ("barriers", 256, 80),
        ("barriers", 1024, 0),
        ("shuffles", 256, 0),
    ):
        rounds = THREAD_STEPS // threads
        buffer = Buffer("y", F32, (threads,), is_output=True)
        step = Step(entry, (1, 1, 1), (threads, 1, 1), 0, ("y", rounds))
        job = Job("steps", Path("steps.cu"), STEPS, (), 256, (buffer,), (step,), ("barriers", "shuffles"))
        rate = threads * rounds / fastest_run(device, job, check=False) / 1e6
        yield f"{entry:9} {threads:5} threads   {rate:7.1f} M thread-steps/s{aimed(target, ' M')}"


def fastest_run(device: CpuDevice, job: Job, check: bool) -> float:
    """Seconds of the fastest forward run of a job, inside the worker."""
    outcomes = [device.run(job, Probe(check=check, runs=2)) for _ in range(7)]
    return min(outcome.runs[0].seconds for outcome in outcomes)


def trials(device: CpuDevice) -> Iterator[str]:
    """Trials and runs per second of three launches with up to 2,000 elements, including every cost of a trial."""
    kernel = load(KERNELS / "softmax" / "grid_three_launches.cu")
    generator = np.random.default_rng(7)
    jobs = []
    for size in generator.integers(1, 2001, size=200):
        x = generator.standard_normal(size).astype(np.float32)
        jobs.append(kernel.bind({"x": x}, {"threads": 256, "max_blocks": 65535}).job)
    for runs in (2, 3):
        rate = len(jobs) / min(seconds_of(device, jobs, runs) for _ in range(5))
        yield f"three launches, n <= 2000: {rate:6.0f} trials/s of {runs} runs = {rate * runs:6.0f} runs/s{aimed(2000)}"


def seconds_of(device: CpuDevice, jobs: list[Job], runs: int) -> float:
    """The seconds to run these jobs, one after the other."""
    began = time.perf_counter()
    for job in jobs:
        device.run(job, Probe(runs=runs))
    return time.perf_counter() - began


def bound(kernel: Kernel, axes: dict[str, int], tune: dict[str, int]) -> Job:
    """A job of this kernel with normal input, and the first launch parameters if none are given."""
    generator = np.random.default_rng(7)
    chosen = {name: tune.get(name, values[len(values) // 2]) for name, values in kernel.tune.items()}
    inputs = {
        str(array.reads): generator.standard_normal(tuple(size(axes) for size in array.shape)).astype(np.float32)
        for array in kernel.arrays.values()
        if array.reads
    }
    return kernel.bind(inputs, chosen).job


def compile_times() -> Iterator[str]:
    """Seconds to compile each kernel file after the first, by flavour, in a cache of its own."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KFUZZ_CACHE"] = folder
        files = [load(KERNELS / f"{name}.cu") for name, _, _ in TIMED]
        for flavour in ("fast", "check"):
            times = []
            for (_, axes, tune), kernel in zip(TIMED, files, strict=True):
                job = bound(kernel, axes, tune)
                began = time.perf_counter()
                compiler.build_library(job, flavour)  # type: ignore[arg-type]  # one of the two literals
                times.append(time.perf_counter() - began)
            median, worst = statistics.median(times[1:]), max(times[1:])
            later = f"then median {median:.2f} s, worst {worst:.2f} s (aim: 0.35 s)"
            yield f"compile, {flavour:5}: first {times[0]:.2f} s, {later}"


def aimed(target: float, unit: str = "") -> str:
    """A target in words, if there is one."""
    return f" (aim: {target:g}{unit})" if target else ""


if __name__ == "__main__":
    main()
