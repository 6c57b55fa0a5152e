"""Code from before Volta that relies on lanes in step has a race, unless the claim declares that it relies on them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from forked import run_forked
from planted_jobs import job_of

from kfuzz.claims.kernel import load
from kfuzz.devices import ClaimError, Job, Outcome, Probe
from kfuzz.devices.cpu.device import CpuDevice

TEXT = """
__global__ void tree(float *y, const float *x) {
  __shared__ volatile float s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 128; d > 32; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
  if (t < 32) for (int d = 32; d > 0; d /= 2) s[t] += s[t + d];
  if (t == 0) y[blockIdx.x * 256] = s[0];
}
__device__ void scan_warp(volatile float *s, int t) {
  for (int d = 1; d < 32; d *= 2) if ((t & 31) >= d) s[t] += s[t - d];
}
__global__ void scan_twice(float *y, const float *x) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  scan_warp(s, t);
  scan_warp(s, t);
  y[blockIdx.x * 256 + t] = s[t];
}
__global__ void ways_part(float *y, const float *x) {  // and the lanes meet again behind each branch and loop
  __shared__ float s[256];
  int t = threadIdx.x, lane = t & 31;
  s[t] = x[blockIdx.x * 256 + t];
  for (int i = 0; i < lane % 5; i++) s[t] += 1.0f;
  if (__builtin_expect(lane % 7 == 3, 0)) { s[t] += 1.0f; s[t] *= 2.0f; }
  else if (lane % 3 == 1) { s[t] += 3.0f; }
  float next = s[t ^ 1];
  if (lane == 7) for (int i = 0; i < 3; i++) s[t] = 5.0f * i;
  y[blockIdx.x * 256 + t] = next + s[t | 31] + s[(t & ~31) | 7];
}
__global__ void count_by_tags(float *y, const float *x) {  // of lanes that write one word, one has written it
  __shared__ volatile unsigned bins[8][4];
  int t = threadIdx.x, warp = t / 32;
  if (t < 32) bins[t / 4][t % 4] = 0;
  __syncthreads();
  unsigned count, bin = static_cast<unsigned>(x[blockIdx.x * 256 + t]) % 4;
  do {
    count = static_cast<unsigned>(t) << 27 | ((bins[warp][bin] & 0x7ffffff) + 1);
    bins[warp][bin] = count;
  } while (bins[warp][bin] != count);
  __syncthreads();
  if (t < 4) {
    float sum = 0;
    for (int w = 0; w < 8; w++) sum += bins[w][t] & 0x7ffffff;
    y[blockIdx.x * 256 + t] = sum;
  }
}
__global__ void two_warps(float *y, const float *x) {  // do not go in step with each other
  __shared__ volatile float s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  if (t < 64) for (int d = 64; d > 0; d /= 2) s[t] += s[t + d];
  if (t == 0) y[blockIdx.x * 256] = s[0];
}
__global__ void tree_of_today(float *y, const float *x) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = x[blockIdx.x * 256 + t];
    s[t + 32] = 0;
    for (int d = 16; d > 0; d /= 2) {
      __syncwarp();
      float next = s[t + d];
      __syncwarp();
      s[t] += next;
    }
    if (t == 0) y[blockIdx.x * 256] = s[0];
  }
}
__global__ void never_written(float *y, const float *x) {
  __shared__ volatile float s[64];
  int t = threadIdx.x & 31;
  s[t] = x[t];
  y[blockIdx.x * 256 + threadIdx.x] = s[t] + s[t + 1];
}
"""
NAMES = ("tree", "scan_twice", "ways_part", "count_by_tags", "two_warps", "tree_of_today", "never_written")
X = np.random.default_rng(1).integers(0, 100, 512).astype(np.float32)
ROWS = X.reshape(-1, 256)
WARPS = X.reshape(-1, 32)


def run_job(device: CpuDevice, name: str, in_step: bool) -> Outcome:
    arguments = {"y": np.zeros(512, np.float32), "x": X}
    job = job_of(TEXT, NAMES, name, arguments, block=256, grid=2)
    one: Job = replace(job, warp_synchronous=in_step)
    return device.run(one, Probe(check=True, runs=4, timeout=5.0))


def ways_part(warps: np.ndarray) -> np.ndarray:
    """The result of ways_part for each warp."""
    lane = np.arange(32)
    s = warps + lane % 5
    s = np.where(lane % 7 == 3, (s + 1) * 2, np.where(lane % 3 == 1, s + 3, s))
    return s[:, lane ^ 1] + s[:, 31:] + 10.0


def count_remainders(rows: np.ndarray) -> np.ndarray:
    """How often each row has each remainder modulo 4."""
    counts = np.zeros_like(rows)
    counts[:, :4] = [[np.count_nonzero(row % 4 == bin_) for bin_ in range(4)] for row in rows]
    return counts


def row_sums(rows: np.ndarray) -> np.ndarray:
    """The sum of each row, in its first place."""
    return np.pad(rows.sum(1, keepdims=True), ((0, 0), (0, 255)))


RIGHT = {
    "tree": row_sums(ROWS),
    "scan_twice": WARPS.cumsum(1).cumsum(1),
    "ways_part": ways_part(WARPS),
    "count_by_tags": count_remainders(ROWS),
}


@pytest.mark.parametrize("name", RIGHT)
def test_lanes_in_step_are_right_in_every_order(device: CpuDevice, name: str) -> None:
    outcome = run_job(device, name, in_step=True)
    assert [(one.kind, one.severity) for one in outcome.findings] == [("race", "warning")]
    assert "since Volta" in outcome.findings[0].message
    assert len(outcome.runs) == 4
    for run in outcome.runs:
        assert np.array_equal(run.outputs["y"], RIGHT[name].ravel()), run.circumstances


def test_a_claim_on_which_nothing_relies_is_not_reported(device: CpuDevice) -> None:
    assert run_job(device, "tree_of_today", in_step=True).findings == ()


SLOWEST = pytest.param("count_by_tags", marks=pytest.mark.soak)


@pytest.mark.parametrize("name", [SLOWEST if one == "count_by_tags" else one for one in RIGHT])
def test_the_same_code_is_a_race_without_the_claim(device: CpuDevice, name: str) -> None:
    races = [one for one in run_job(device, name, in_step=False).findings if one.kind == "race"]
    assert "error" in {one.severity for one in races}
    assert all("of its warp" in one.message for one in races)


@pytest.mark.parametrize(("name", "kind"), [("two_warps", "race"), ("never_written", "uninitialised")])
def test_bugs_of_lanes_in_step_are_found(device: CpuDevice, name: str, kind: str) -> None:
    found = run_job(device, name, in_step=True).findings
    assert (kind, "error") in {(one.kind, one.severity) for one in found}
    assert not any("of its warp" in one.message for one in found if one.severity == "error")


KERNEL = """// The sum of a row by one warp, as before Volta.
//
// /// kernel
// op               = "row_sum"
// axes             = { rows = "1..65535", cols = "1..4096" }
// arrays           = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// warp_synchronous = SAID
// launch           = [{ entry = "row_sum", grid = "rows", block = 32, args = ["y", "x", "cols"] }]
// ///
__global__ void row_sum(float *y, const float *x, int cols) {
  __shared__ volatile float s[64];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = t; i < cols; i += 32) sum += x[blockIdx.x * cols + i];
  s[t] = sum;
  s[t + 32] = 0;
  for (int d = 16; d > 0; d /= 2) s[t] += s[t + d];
  if (t == 0) y[blockIdx.x] = s[0];
}
"""


def kernel_file(folder: Path, said: str) -> Path:
    path = folder / "row_sum.cu"
    path.write_text(KERNEL.replace("SAID", said))
    return path


def test_a_kernel_is_judged_by_its_claim_also_in_unchecked_runs(device: CpuDevice, tmp_path: Path) -> None:
    case = {"x": np.ones((3, 100), np.float32)}
    kernel = load(kernel_file(tmp_path, "true"))
    assert kernel.warp_synchronous
    job = kernel.bind(case, {}).job
    outcome = device.run(job, Probe())
    assert [one.severity for one in outcome.findings] == ["warning"]
    assert [run.outputs["y"].tolist() for run in outcome.runs] == [[100.0] * 3] * 3
    apart = device.run(replace(job, warp_synchronous=False), Probe())
    assert any(run.outputs["y"].tolist() != [100.0] * 3 for run in apart.runs)


def test_the_claim_is_true_or_false(tmp_path: Path) -> None:
    with pytest.raises(ClaimError, match=r"row_sum\.cu:7: warp_synchronous = 32: true or false is expected"):
        load(kernel_file(tmp_path, "32"))


PROGRAM = """
#include <cstdio>
__global__ void reverse(int *y) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  y[threadIdx.x] = s[threadIdx.x ^ 31];
}
int main() {
  int *y, got[64];
  cudaMalloc(&y, sizeof got);
  reverse<<<1, 64>>>(y);
  cudaMemcpy(got, y, sizeof got, cudaMemcpyDeviceToHost);
  printf("%d %d\\n", got[0], got[33]);
}
"""


@pytest.mark.soak
@pytest.mark.slow
def test_a_program_is_judged_by_its_command_line(tmp_path: Path) -> None:
    (tmp_path / "old.cu").write_text(PROGRAM)
    words = ("check", "old.cu", "--seed", "1")
    ends = [run_forked("kfuzz", *words, *more, cwd=tmp_path) for more in ([], ["--warp-synchronous"])]
    assert [one.returncode for one in ends] == [1, 0], ends
    assert "(warp-synchronous code)" in ends[0].stdout
