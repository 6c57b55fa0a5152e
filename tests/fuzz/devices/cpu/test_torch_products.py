"""Functions of torch that a host calls beside its kernels: products, convolutions and functions of single numbers.

What they give lies in the sets of torch's own; a wrong stride, tap or group is outside.
"""

from pathlib import Path

import pytest

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

pytest.importorskip("torch")
pytestmark = pytest.mark.slow(20)
TRIALS = 4
EXTENSION = """
#include <torch/extension.h>

__global__ void twice(const float *x, float *y, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}}

torch::Tensor doubled(torch::Tensor made) {{
  torch::Tensor x = made.contiguous(), y = torch::empty_like(x);
  int n = x.numel();
  twice<<<(n + 127) / 128, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}}

std::tuple<{types}> forward({parameters}) {{
  return {{{calls}}};
}}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("forward", &forward); }}
"""
REFERENCE = """
import torch
import torch.nn.functional as F


def forward({names}):
    return {calls}


def get_inputs():
    return [{shapes}]
"""
CASES = {
    "convolutions": (
        {"x": (2, 4, 9, 7), "v": (6, 2, 3, 2), "w": (4, 3, 3, 2), "b": (6,)},
        {
            "at::conv2d(x, v, b, {2, 1}, {1, 3}, {1, 2}, 2)": "F.conv2d(x, v, b, (2, 1), (1, 3), (1, 2), 2)",
            "at::conv_transpose2d(x, w, b, {3, 2}, {1, 2}, {2, 1}, 2, {2, 1})": (
                "F.conv_transpose2d(x, w, b, (3, 2), (1, 2), (2, 1), 2, (2, 1))"
            ),
        },
    ),
    "other axes": (
        {"x": (3, 2, 5, 6, 4), "v": (3, 2, 2, 3, 2), "w": (2, 3, 2, 3, 2), "r": (3, 2, 11), "u": (4, 2, 3)},
        {
            "at::conv1d(r, u, {}, 2)": "F.conv1d(r, u, None, 2)",
            "torch::conv3d(x, v, torch::Tensor(), 1, {1, 0, 2})": "F.conv3d(x, v, None, 1, (1, 0, 2))",
            "at::conv_transpose3d(x, w, c10::nullopt, {2, 1, 3}, 1)": "F.conv_transpose3d(x, w, None, (2, 1, 3), 1)",
        },
    ),
    "products": (
        {"x": (3, 1, 4, 6), "w": (2, 6, 5), "v": (5, 6), "b": (5,), "r": (6,)},
        {
            "at::relu(at::linear(x, v, b))": "torch.relu(F.linear(x, v, b))",
            "torch::matmul(x, w)": "torch.matmul(x, w)",
            "v.matmul(r)": "v.matmul(r)",
            "at::constant_pad_nd(v, {1, 2, 0, 3}, 1.5)": "F.pad(v, (1, 2, 0, 3), value=1.5)",
        },
    ),
    "functions": (
        {"x": (3, 5)},
        {
            "x.sigmoid() + x.tanh() + x.relu()": "x.sigmoid() + x.tanh() + x.relu()",
            "x.abs().sqrt() * (-x).exp()": "x.abs().sqrt() * (-x).exp()",
            "(x * x + 1.0f).log()": "(x * x + 1).log()",
            "(1.0f + x * x).rsqrt()": "(1 + x * x).rsqrt()",
            "2.0 - 1 / (x * x + 1.0f)": "2.0 - 1 / (x * x + 1)",
        },
    ),
}


def defects_of(name: str, folder: Path, edit: tuple[str, str] = ("", "")) -> list[str]:
    """The kinds of the defects in some trials, each of which judges something."""
    given, calls = CASES[name]
    names = ", ".join(given)
    text = EXTENSION.format(
        types=", ".join(["torch::Tensor"] * len(calls)),
        parameters=", ".join(f"torch::Tensor {one}" for one in given),
        calls=", ".join(f"doubled({one})" for one in calls),
    )
    (folder / "mine.cu").write_text(text.replace(*edit))
    shapes = ", ".join(f"torch.randn{shape}" for shape in given.values())
    own = ", ".join(f"2 * ({one})" for one in calls.values())
    (folder / "reference.py").write_text(REFERENCE.format(names=names, calls=own, shapes=shapes))
    kernel = kernel_with(folder / "mine.cu", Unclaimed(op="reference", reference=folder / "reference.py"))
    device, found = CpuDevice(), []
    try:
        for index in range(TRIALS):
            attempt = attempt_of(kernel, 3, index, 1 << 10)
            trial = run_trial(kernel, attempt.case, attempt.tune, device, probe_of(kernel, 3, index, 2, 10.0))
            found += [one.kind for one in trial.defects] + ["nothing judged"] * (not trial.elements)
    finally:
        device.close()
    return found


@pytest.mark.parametrize("name", CASES)
def test_what_a_function_gives_is_right(name: str, tmp_path: Path) -> None:
    assert defects_of(name, tmp_path) == []


def test_another_answer_is_found(tmp_path: Path) -> None:
    assert "numeric" in defects_of("products", tmp_path, ("at::relu(at::linear(x, v, b))", "at::linear(x, v, b)"))
