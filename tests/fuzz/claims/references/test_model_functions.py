"""Tasks of robust-kbench for submissions that are functions: what the model hands over, and the gradients."""

import json
from pathlib import Path

import pytest

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.guess_host import FunctionWords
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

FORWARD = """
import torch


def forward_fn(x, weight, scale):
    return x @ weight.T * scale


class Model(torch.nn.Module):
    def __init__(self, wide: int, out: int = 9, scale: float = 0.5):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(out, wide))
        self.scale = scale

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.scale)


def get_inputs(batch: int = 16, wide: int = 4):
    return [torch.randn(batch, wide)]
"""
GRADIENTS = """
class AutogradFunction(torch.autograd.Function):
    backward_fn = None

    @staticmethod
    def forward(ctx, x, weight, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return forward_fn(x, weight, scale)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return None, AutogradFunction.backward_fn(grad_output, x, ctx.scale), None
"""
CONFIG = {"single_input_configs": [{"batch": 6}], "single_shared_configs": [{"wide": 8}]}
CUDA = """
#include <torch/extension.h>
__global__ void add(const float *a, const float *b, float *y, int rows, int cols, int inner, int ai, int ar, int bi,
                    int bc, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  float sum = 0;
  for (int k = 0; k < inner; k++) sum += a[i / cols * ar + k * ai] * b[i % cols * bc + k * bi];
  y[i] = sum * scale;
}
torch::Tensor product(torch::Tensor x, torch::Tensor w, double s) {
  int rows = x.size(0), cols = w.size(0), inner = x.size(1);
  auto y = torch::empty({rows, cols}, x.options());
  add<<<(rows * cols + 63) / 64, 64>>>(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), rows, cols, inner,
                                       1, inner, 1, inner, s);
  return y;
}
torch::Tensor gradient(torch::Tensor grad, torch::Tensor x, double s) {
  int rows = grad.size(1), cols = x.size(1), inner = x.size(0);
  auto y = torch::empty({rows, cols}, x.options());
  add<<<(rows * cols + 63) / 64, 64>>>(grad.data_ptr<float>(), x.data_ptr<float>(), y.data_ptr<float>(), rows, cols,
                                       inner, rows, 1, cols, 1, SCALE);
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &product);
  m.def("backward", &gradient);
}
"""


@pytest.mark.slow
def test_a_submission_takes_what_the_model_hands_over_and_gives_the_answer_or_the_gradients(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    for kind, text in (("forward", FORWARD), ("backward", FORWARD + GRADIENTS)):
        (tmp_path / f"func_{kind}.py").write_text(text)
        (tmp_path / f"config_{kind}.json").write_text(json.dumps(CONFIG))
    for name, scale in (("right", "s"), ("wrong", "1.0f")):
        (tmp_path / f"{name}.cu").write_text(CUDA.replace("SCALE", scale))
    device = CpuDevice()
    home = {"batch": 6, "wide": 8, "out": 9}
    for name, problem, inputs, entry, found in (
        ("right", "forward", ["x", "weight"], "product", set()),
        ("right", "backward", ["grad_output", "x"], "gradient", set()),
        ("wrong", "backward", ["grad_output", "x"], "gradient", {"numeric"}),
    ):
        kernel = kernel_with(tmp_path / f"{name}.cu", Unclaimed("reference", reference=tmp_path / f"func_{problem}.py"))
        assert kernel.written.host is not None
        assert (list(kernel.roles.inputs), kernel.written.host.entry, dict(kernel.home)) == (inputs, entry, home)
        assert kernel.written.host.args[-1] == "0.5"
        attempts = [attempt_of(kernel, 3, index, 1 << 10) for index in range(6)]
        trials = [
            run_trial(kernel, one.case, one.tune, device, probe_of(kernel, 3, index, 2, 10.0))
            for index, one in enumerate(attempts)
        ]
        assert {defect.kind for trial in trials for defect in trial.defects} == found
        assert sum(trial.elements for trial in trials)


PYTHON = """
import torch


def forward(x, weight, scale):
    return torch.relu(x @ weight.T * scale)


def backward(grad_output, x, weight, scale):
    grad_output = grad_output * (x @ weight.T * scale > 0) * scale
    return grad_output @ weight, grad_output.T @ x
"""
RELU = FORWARD.replace("return x @ weight.T * scale", "return torch.relu(x @ weight.T * scale)")
GRADIENTS_OF_RELU = """
class AutogradFunction(torch.autograd.Function):
    backward_fn = None

    @staticmethod
    def forward(ctx, x, weight, scale):
        ctx.save_for_backward(x, weight)
        ctx.scale = scale
        return forward_fn(x, weight, scale)

    @staticmethod
    def backward(ctx, grad_output):
        return *AutogradFunction.backward_fn(grad_output, *ctx.saved_tensors, ctx.scale), None
"""


@pytest.mark.slow
def test_a_python_function_takes_the_weights_and_gives_the_answer_or_the_gradients(tmp_path: Path) -> None:
    """Beside infinite inputs a gradient may be NaN."""
    pytest.importorskip("torch")
    for kind, text in (("forward", RELU), ("backward", RELU + GRADIENTS_OF_RELU)):
        (tmp_path / f"func_{kind}.py").write_text(text)
        (tmp_path / f"config_{kind}.json").write_text(json.dumps(CONFIG))
    (tmp_path / "right.py").write_text(PYTHON)
    (tmp_path / "wrong.py").write_text(PYTHON.replace("scale > 0) * scale", "scale > 0)"))
    device = PythonDevice()
    for name, entry, found in (
        ("right", "forward", set()),
        ("right", "backward", set()),
        ("wrong", "backward", {"numeric"}),
    ):
        problem = tmp_path / f"func_{entry}.py"
        kernel = kernel_with(tmp_path / f"{name}.py", Unclaimed("reference", FunctionWords(entry), reference=problem))
        assert list(kernel.roles.inputs)[-2:] == ["x", "weight"]
        attempts = [attempt_of(kernel, 3, index, 1 << 10) for index in range(8)]
        trials = [
            run_trial(kernel, one.case, one.tune, device, probe_of(kernel, 3, index, 2, 10.0))
            for index, one in enumerate(attempts)
        ]
        assert {defect.kind for trial in trials for defect in trial.defects} == found
        assert sum(trial.elements for trial in trials)
    device.close()
