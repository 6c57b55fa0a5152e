"""The access hooks keep all vector registers, so that what a loop adds up stays in its register while it reads."""

import subprocess

import numpy as np
import pytest
from planted_jobs import floats, job_of

from kfuzz.devices import Job, Probe, host_compiler
from kfuzz.devices.cpu import compiler
from kfuzz.devices.cpu.device import CpuDevice

pytestmark = pytest.mark.slow

SUMS = 14
"""Registers that the kernel has in use all the time; two are left to load into."""
EACH = "".join(f"s{i} += x[i + {i}] * x[threadIdx.x];\n" for i in range(SUMS))
MANY_SUMS = f"""
__global__ void k(float *y, const float *x, float *written) {{
    float {", ".join(f"s{i} = {i}" for i in range(SUMS))};
    for (int i = 0; i < 8; ++i) {{
        {EACH}
        written[threadIdx.x] = s0;
    }}
    y[threadIdx.x] = {" + ".join(f"{i + 1} * s{i}" for i in range(SUMS))};
}}
"""
ONE_SUM = """
__global__ void k(float *y, const float *x, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) {
        sum += x[i];
    }
    y[threadIdx.x] = sum;
}
"""
WITH_CONSTRUCTOR = """
struct Pair {
    float a, b;
    __device__ Pair() {}
};
__global__ void k(float *y, const float *x) {
    __shared__ Pair pairs[4];
    pairs[threadIdx.x].b = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = 2.0f * pairs[threadIdx.x].b;
}
"""


def one_sum() -> Job:
    return job_of(ONE_SUM, ("k",), "k", {"y": "f32[4]", "x": floats(32), "n": 32}, block=4)


@pytest.fixture(scope="module")
def is_gcc_on_x86() -> bool:
    identity = host_compiler.identity(host_compiler.find_compiler())
    return "x86_64" in identity and "clang" not in identity


def test_what_is_in_vector_registers_outlives_any_way_through_the_checker() -> None:
    x = floats(32)
    arguments = {"y": "f32[8]", "x": x, "written": "f32[8]"}
    total = np.zeros(8, np.float32)  # whole numbers, exact in any order
    for one in range(SUMS):
        total += np.float32(one + 1) * (one + x[one : one + 8].sum() * x[:8])
    with CpuDevice() as device:
        outcome = device.run(job_of(MANY_SUMS, ("k",), "k", arguments, block=8), Probe(check=True, runs=6))
    assert outcome.findings == ()
    for run in outcome.runs:
        np.testing.assert_array_equal(run.outputs["y"], total)


def test_a_sum_stays_in_its_register_over_reads_that_are_checked(is_gcc_on_x86: bool) -> None:
    if not is_gcc_on_x86:
        pytest.skip("g++ on x86-64 alone is told what the hooks keep")
    path = compiler.build_library(one_sum(), "check").path
    shown = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", str(path)], capture_output=True, text=True, check=True
    )
    body = shown.stdout.split("<_Z1kPfPKfi>:")[1].split("\n\n")[0].splitlines()
    assert any("addss" in line for line in body)
    assert not [line for line in body if "xmm" in line and "(%rsp)" in line]


def test_an_array_with_a_constructor_in_shared_memory_is_checked_as_well() -> None:
    job = job_of(WITH_CONSTRUCTOR, ("k",), "k", {"y": "f32[4]", "x": floats(4)}, block=4)
    with CpuDevice() as device:
        outcome = device.run(job, Probe(check=True))
    assert outcome.findings == ()
    assert outcome.runs[0].outputs["y"].tolist() == [2, 4, 6, 8]
