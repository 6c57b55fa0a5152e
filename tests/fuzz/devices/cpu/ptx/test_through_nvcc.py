"""CUDA that nvcc compiles to PTX, which the cpu device runs: values, and findings on the lines of the `.cu` file."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from planted_jobs import floats, job_of
from seldom import one_in
from with_nvcc import needs_nvcc

from kfuzz.campaign.schedule import attempt_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.claims.kernel import KERNELS, load
from kfuzz.devices import Call, ClaimError, Job, Outcome, Probe
from kfuzz.devices.cpu.device import CpuDevice

pytestmark = [needs_nvcc, pytest.mark.slow]

TEXT = """\
template <int threads> __global__ void block_sum(float *y, const float *x, int n) {
  __shared__ float part[threads];
  int t = threadIdx.x;
  part[t] = t < n ? x[blockIdx.x * n + t] : 0.0f;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = part[0];
}
struct Scaled {
  const float *x;
  float by;
  short step;
};
__global__ void scale(float *y, Scaled from, double add) {
  extern __shared__ float row[];
  row[threadIdx.x] = from.x[threadIdx.x * from.step] * from.by;
  y[threadIdx.x] = row[threadIdx.x] + (float)add;
}
"""


@pytest.fixture(scope="module")
def through() -> Iterator[CpuDevice]:
    with CpuDevice("nvcc") as device:
        yield device


def run(device: CpuDevice, text: str, check: bool = True) -> Outcome:
    entry = "block_sum<64>"
    job = job_of(text, (entry,), entry, {"y": "f32[3]", "x": floats(150), "n": 50}, grid=3)
    return device.run(job, Probe(check=check, timeout=20.0))


@pytest.mark.parametrize("check", [False, True])
def test_a_right_kernel_gives_its_values_and_no_finding(through: CpuDevice, check: bool) -> None:
    outcome = run(through, TEXT, check)
    assert outcome.findings == ()
    np.testing.assert_array_equal(outcome.runs[0].outputs["y"], floats(150).reshape(3, 50).sum(axis=1))


EDITS = {
    "a deleted barrier": ("    __syncthreads();\n", "", ("error", "race", 7)),
    "a missing bound": ("t < n ? x[blockIdx.x * n + t] : 0.0f", "x[blockIdx.x * n + t]", ("error", "out-of-bounds", 4)),
    "an uninitialised word": ("part[t] = t <", "if (t < n) part[t] = t <", ("error", "uninitialised", 7)),
}


@pytest.mark.parametrize("edit", one_in(len(EDITS), EDITS))
def test_a_planted_bug_is_found_on_the_line_of_the_cuda_file(through: CpuDevice, edit: str) -> None:
    old, new, wanted = EDITS[edit]
    assert TEXT.count(old) == 1
    outcome = run(through, TEXT.replace(old, new))
    assert wanted in {(one.severity, one.kind, one.line) for one in outcome.findings if not one.file}
    arrays = {one.array for one in outcome.findings if one.kind == wanted[1]}
    assert arrays == {"x" if wanted[1] == "out-of-bounds" else "part"}


def test_a_missing_barrier_is_tried_through_nvcc_too(through: CpuDevice) -> None:
    outcome = run(through, TEXT.replace("  __syncthreads();\n  for", "  for"))
    assert any("kfuzz tried it: it prevents this race" in one.message for one in outcome.findings)


def with_call(job: Job, call: Call) -> Job:
    return replace(job, steps=(replace(job.steps[0], entry=call),), entries=(call,))


def test_arguments_that_cpp_makes_are_laid_out_by_nvcc(through: CpuDevice) -> None:
    call = Call("scale", ("y", "Scaled{x, 0.5f, 2}", "n"), ("float *y", "float *x", "int n"))
    job = job_of(TEXT, (), "scale", {"y": "f32[32]", "x": floats(64), "n": 7}, block=32, shared=128)
    outcome = through.run(with_call(job, call), Probe(check=True, timeout=20.0))
    assert outcome.findings == ()
    np.testing.assert_array_equal(outcome.runs[0].outputs["y"], floats(64)[::2] * np.float32(0.5) + 7)


def test_what_nvcc_refuses_is_one_line(through: CpuDevice) -> None:
    with pytest.raises(ClaimError, match=r"planted\.cu:7: nvcc: identifier \"parts\" is undefined$"):
        run(through, TEXT.replace("part[t] += part[t + half]", "part[t] += parts[t + half]"))


def test_a_host_function_is_refused(through: CpuDevice) -> None:
    call = Call("run", ("y",), ("float *y",), on_host=True)
    job = job_of("void run(float *y) {}", (), "run", {"y": "f32[3]"})
    with pytest.raises(ClaimError, match=r"a host function is not PTX: leave out --through, or claim its launches"):
        through.run(with_call(job, call), Probe(timeout=20.0))


GRID = """\
#include <cooperative_groups.h>
__global__ void reversed(float *y, float *part, const float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  part[i] = x[i];
  cooperative_groups::this_grid().sync();
  y[i] = part[n - 1 - i];
  cooperative_groups::this_grid().sync();
  part[i] = 0;
}
"""


@pytest.mark.parametrize("syncs", [True, False])
def test_the_blocks_of_a_cooperative_grid_wait_for_one_another(through: CpuDevice, syncs: bool) -> None:
    text = GRID if syncs else GRID.replace("  cooperative_groups::this_grid().sync();\n  y", "  y")
    job = job_of(text, ("reversed",), "reversed", {"y": "f32[192]", "part": "f32[192]", "x": floats(192)}, grid=3)
    job = replace(job, steps=(replace(job.steps[0], cooperative=True),))
    outcome = through.run(job, Probe(check=True, timeout=20.0))
    assert {(one.kind, one.line) for one in outcome.findings} >= ({("race", 5)} if not syncs else set())
    assert bool(outcome.findings) is not syncs
    if syncs:
        np.testing.assert_array_equal(outcome.runs[0].outputs["y"], floats(192)[::-1])


@pytest.mark.parametrize(
    "name", [pytest.param("gemm/wgmma_f16", marks=pytest.mark.soak), "broken/gemm_wgmma_not_waited_for"]
)
def test_sums_in_flight_are_watched_in_registers(through: CpuDevice, name: str) -> None:
    kernel = load(KERNELS / f"{name}.cu")
    trial = attempt_of(kernel, 7, 0, budget=1024)
    found = run_trial(kernel, trial.case, trial.tune, through, Probe(check=True, runs=2, seed=1, timeout=20.0))
    assert [one.kind for one in found.defects] == ["product-in-flight"] * name.startswith("broken/")
