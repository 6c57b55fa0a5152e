"""Launches at sizes of a whole GPU: accepted or refused, without memory for an array and without running a kernel."""

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kfuzz.campaign.properties.checks import home_launches
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.plans.plan import plan_at
from kfuzz.devices import Finding, Probe, UnsupportedError
from kfuzz.devices.python.device import PythonDevice
from kfuzz.devices.python.extensions import DeviceCalls, Extension, RefusedByExtensionError, unfilled
from kfuzz.devices.python.handing import Tensor
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

SIZE = 1 << 17
"""Its square in floats is 64 GB."""
SOURCE = """
#include <torch/extension.h>
extern __shared__ float s[];
__global__ void none(float *y, const float *x, int n) { if (threadIdx.x == 0) y[n] = x[n] + s[0]; }

at::Tensor usual(at::Tensor x) {
  auto y = torch::zeros_like(x);
  auto scratch = torch::empty({x.size(0)}, x.options());
  cudaMemset(scratch.data_ptr<float>(), 0, scratch.numel() * sizeof(float));
  none<<<x.size(0), 256, 1024>>>(y.data_ptr<float>(), x.contiguous().data_ptr<float>(), 0);
  return y.transpose(0, 1).contiguous();
}
at::Tensor block(at::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  none<<<1, x.size(1)>>>(y.data_ptr<float>(), x.data_ptr<float>(), 0);
  return y;
}
at::Tensor shared(at::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  none<<<1, 32, x.size(1) * sizeof(float)>>>(y.data_ptr<float>(), x.data_ptr<float>(), 0);
  return y;
}
at::Tensor fitted(at::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  size_t bytes = x.size(1) / 2;
  cudaFuncSetAttribute(none, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  none<<<1, 32, bytes>>>(y.data_ptr<float>(), x.data_ptr<float>(), 0);
  return y;
}
at::Tensor sees(at::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  none<<<1, x.size(1)>>>(y.data_ptr<float>(), x.data_ptr<float>(), 0);
  if (cudaGetLastError() != cudaSuccess) none<<<1, 32>>>(y.data_ptr<float>(), x.data_ptr<float>(), 0);
  return y;
}
at::Tensor refuses(at::Tensor x) {
  TORCH_CHECK(x.size(0) <= 4096, "at most 4096 rows");
  return x;
}
at::Tensor by_value(at::Tensor x) {
  none<<<1, x.sum().item<float>() > 0 ? 32 : 2048>>>(x.data_ptr<float>(), x.data_ptr<float>(), 0);
  return x;
}
"""


@pytest.fixture(scope="module")
def calls() -> Iterator[DeviceCalls]:
    made = DeviceCalls()
    yield made
    made.device.close()


def launches_of(calls: DeviceCalls, name: str) -> tuple[list[Finding], list[tuple[int, ...]]]:
    """The launches that are refused, and the shapes that the function returns."""
    extension = Extension(Path("extension.cu"), SOURCE, (), {})
    x = Tensor("float32", unfilled((SIZE, SIZE), np.dtype(np.float32)), (SIZE, SIZE), (SIZE, 1), is_dense=True)
    with calls.look_at_launches(Probe(seed=1)) as seen:
        returned = extension.call(name, [x], {}, calls)
    return seen, [array.shape for _, array in returned.arrays]


@pytest.mark.slow(8)
def test_a_launch_at_the_size_of_a_gpu_is_refused_without_running_it(calls: DeviceCalls) -> None:
    assert launches_of(calls, "usual") == ([], [(SIZE, SIZE)])
    assert launches_of(calls, "fitted") == ([], [(SIZE,)])
    for name, why in (("block", "more than 1024 threads"), ("shared", "more shared memory")):
        found, _ = launches_of(calls, name)
        assert [(one.kind, one.severity, why in one.message) for one in found] == [("launch-refused", "error", True)]
    found, _ = launches_of(calls, "sees")
    assert [one.severity for one in found] == ["warning"]  # it launches something else then


@pytest.mark.slow(4)
def test_a_refusal_by_the_author_is_known_and_what_depends_on_content_is_not(calls: DeviceCalls) -> None:
    with pytest.raises(RefusedByExtensionError, match="at most 4096 rows"):
        launches_of(calls, "refuses")
    with pytest.raises(UnsupportedError, match="content of memory that has none"):
        launches_of(calls, "by_value")
    assert launches_of(calls, "usual")[0] == []  # the process goes on


PROBLEM = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x + x

def get_inputs():
    return [torch.rand(4096, 4095)]
"""
ANSWER = '''
import torch
from torch.utils.cpp_extension import load_inline

CUDA = """
__global__ void twice(float *y, const float *x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = 2 * x[blockIdx.x * n + i];
}
torch::Tensor run(torch::Tensor x) {
  CHECK;
  auto y = torch::empty_like(x);
  twice<<<x.size(0), THREADS>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1));
  return y;
}
"""
built = load_inline("built", cpp_sources="torch::Tensor run(torch::Tensor x);", cuda_sources=CUDA, functions=["run"])

class ModelNew(torch.nn.Module):
    def forward(self, x):
        return built.run(x.contiguous().cuda())
'''
USUAL = {"THREADS": "256", "CHECK": "TORCH_CHECK(x.dim() == 2)"}
WRONG = [
    ({"THREADS": "x.size(1)"}, "launch-refused"),
    ({"CHECK": "TORCH_CHECK(x.size(1) < 4000)"}, "exception"),
    ({"built.run(x.contiguous().cuda())": "x + x"}, "no-own-kernel"),
]


@pytest.mark.slow(20)
def test_a_solution_is_called_at_the_sizes_of_its_problem_without_running_a_kernel(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(PROBLEM)
    device, seen = PythonDevice(), []
    try:
        for number, change in enumerate(({}, *(change for change, _ in WRONG))):
            text = ANSWER
            for word, by in (USUAL | change).items():
                text = text.replace(word, by)
            (tmp_path / f"answer_{number}.py").write_text(text)
            path = tmp_path / f"answer_{number}.py"
            kernel = kernel_with(path, Unclaimed(op="reference", reference=tmp_path / "problem.py"))
            assert not home_launches.why_untested(kernel)
            case = plan_at(kernel, dict.fromkeys(kernel.axes, 5), {}, random.Random(1).randint).case  # noqa: S311
            trial = run_trial(kernel, case, {}, device, Probe(runs=1, timeout=60.0))
            seen.append([(one.kind, one.message) for one in trial.defects])
    finally:
        device.close()
    assert seen[0] == []
    for found, (_, kind) in zip(seen[1:], WRONG, strict=True):
        assert [one for one, _ in found] == [kind]
        assert "4096" in found[0][1]
