"""Extensions and host functions on a GPU, over NVIDIA's own runtime and without torch: judged as on the cpu device."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from paths import DATA

from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.case import case_of
from kfuzz.cases.plans.plan import plan
from kfuzz.claims.kernel import load
from kfuzz.claims.language.front_matter import text_of
from kfuzz.devices import Device, Probe, Refusal
from kfuzz.devices.gpu.device import GpuDevice
from kfuzz.devices.python.real_torch import RealTorch
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

pytestmark = pytest.mark.gpu

EXTENSIONS = DATA / "extensions"
RIGHT = {
    "bare/row_sum_atomics": "row_sum",
    "bare/gelu_half": "gelu",
    "softmax_rows": "",
    "pairs/layout_of_a_view": "transpose",
    "pairs/known_by_its_place": "row_sum",
    "pairs/workspace_that_grows": "row_sum",
}
WRONG = {
    "wrong_unwritten": ("", "unwritten"),
    "wrong_wrong_shape": ("", "wrong-shape"),
    "bare/wrong_not_rescaled": ("logsumexp", "numeric"),
}
RAW = """\
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..64", cols = "1..300" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
//
// [host]
// entry = "row_sums"
// args  = ["y", "x", "rows", "cols"]
// ///
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

__global__ void partial(float *part, const float *x, int cols) {
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32) sum += x[blockIdx.x * cols + i];
  part[blockIdx.x * 32 + threadIdx.x] = sum;
}
__global__ void total(float *y, const float *part, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < 32; i++) sum += part[row * 32 + i];
  y[row] = sum;
}

void row_sums(float *y, const float *x, int rows, int cols) {
  if (cols == 201) throw std::invalid_argument("takes no 201 columns");
  if (cols == 202) exit(3);
  assert(cols != 203);
  printf("on the host\\n");
  float *part;
  cudaMalloc(&part, rows * PART * sizeof(float));
  partial<<<rows, LAUNCHED>>>(part, x, cols);
  total<<<(rows + 31) / 32, 32>>>(y, part, rows);
  FREES
}
"""
REFUSALS = {201: "takes no 201 columns", 202: "it calls exit(3)", 203: "assertion failed: cols != 203"}
MADE = {
    "": {"PART": "32", "LAUNCHED": "32", "FREES": "cudaFree(part);"},
    "out-of-bounds": {"PART": "31", "LAUNCHED": "32", "FREES": "cudaFree(part);"},
    "uninitialised": {"PART": "32", "LAUNCHED": "16", "FREES": ""},
    "use-after-free": {
        "PART": "32",
        "LAUNCHED": "32",
        "FREES": "cudaFree(part); partial<<<rows, 32>>>(part, x, cols);",
    },
    "launch-refused": {"PART": "32", "LAUNCHED": "2048", "FREES": ""},
}


@pytest.fixture(scope="module")
def gpu() -> Iterator[GpuDevice]:
    device = GpuDevice()
    yield device
    device.close()


def trials(name: str, op: str, gpu: GpuDevice, count: int = 12) -> Iterator[Trial]:
    path = EXTENSIONS / f"{name}.cu"
    kernel = kernel_with(path, Unclaimed(op)) if op else load(path)
    for seed in range(count):
        attempt = plan(kernel, random.Random(seed).randint, budget=1 << 12)  # noqa: S311  sizes, nothing secret
        yield run_trial(kernel, attempt.case, attempt.tune, gpu, Probe())


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_extension_is_judged_and_not_accused(name: str, gpu: GpuDevice) -> None:
    done = list(trials(name, RIGHT[name], gpu))
    assert [one.errors for one in done if one.errors] == []
    assert sum(one.elements for one in done) > 100


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_extension_is_found(name: str, gpu: GpuDevice) -> None:
    op, kind = WRONG[name]
    assert kind in {error.kind for one in trials(name, op, gpu, 24) for error in one.errors}


def of_raw_pointers(kind: str, gpu: GpuDevice, folder: Path, cols: int = 77) -> Trial:
    text = RAW
    for name, value in MADE[kind].items():
        text = text.replace(name, value)
    path = folder / "mine.cu"
    path.write_text(text)
    x = np.random.default_rng(3).normal(size=(40, cols)).astype(np.float32)
    return run_trial(load(path), case_of("row_sum", {"x": x}), {}, gpu, Probe())


@pytest.mark.parametrize("kind", MADE)
def test_what_a_function_of_raw_pointers_does_is_judged(kind: str, gpu: GpuDevice, tmp_path: Path) -> None:
    kinds = {error.kind for error in of_raw_pointers(kind, gpu, tmp_path).errors}
    assert kind in kinds if kind else kinds == set()


def test_what_outlives_a_call_shows_in_a_later_one(gpu: GpuDevice, tmp_path: Path) -> None:
    right = EXTENSIONS / "pairs" / "workspace_that_is_cleared.cu"
    wrong = tmp_path / "not_cleared.cu"
    wrong.write_text(f"#define BUG\n{right.read_text()}")
    case = case_of("row_sum", {"x": np.ones((4, 6), np.float32)})
    kept, found = (run_trial(kernel_with(one, Unclaimed("row_sum")), case, {}, gpu, Probe()) for one in (right, wrong))
    assert kept.defects == ()
    assert "stateful" in {error.kind for error in found.errors}


def test_real_torch_is_a_second_opinion(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    wrong = tmp_path / "not_rescaled.cu"
    wrong.write_text(text_of(EXTENSIONS / "bare" / "wrong_not_rescaled.cu"))
    right = EXTENSIONS / "bare" / "row_sum_atomics.cu"
    with closing(RealTorch()) as torch:
        kept = [trial_of(right, "row_sum", torch, seed) for seed in range(4)]
        found = [trial_of(wrong, "logsumexp", torch, seed) for seed in range(8)]
    assert [one.errors for one in kept if one.errors] == []
    assert sum(one.elements for one in kept) > 20
    assert "numeric" in {error.kind for one in found for error in one.errors}


def trial_of(path: Path, op: str, device: Device, seed: int) -> Trial:
    kernel = kernel_with(path, Unclaimed(op))
    attempt = plan(kernel, random.Random(seed).randint, budget=1 << 12)  # noqa: S311  sizes, nothing secret
    return run_trial(kernel, attempt.case, attempt.tune, device, Probe())


@pytest.mark.parametrize("cols", REFUSALS)
def test_a_refusal_is_reported_and_is_not_a_finding(cols: int, gpu: GpuDevice, tmp_path: Path) -> None:
    trial = of_raw_pointers("", gpu, tmp_path, cols)
    assert (trial.defects, trial.reasons) == ((), (Refusal(REFUSALS[cols]),))


def test_a_compiler_that_takes_longer_than_a_kernel_may_is_no_hang(tmp_path: Path) -> None:
    kernel, nvcc, slow = tmp_path / "mine.cu", shutil.which("nvcc"), tmp_path / "nvcc"
    text = RAW
    for name, value in MADE[""].items():
        text = text.replace(name, value)
    kernel.write_text(text)
    slow.write_text(f'#!/bin/sh\ncase "$*" in *-shared*) sleep 26;; esac\nexec {nvcc} "$@"\n')
    slow.chmod(0o755)
    command = [sys.executable, "-m", "kfuzz", "fuzz", str(kernel), "--device", "gpu", "--max-cases", "2"]
    usual = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(command, env=usual, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "hang" in done.stdout) == (0, False), done.stdout + done.stderr
