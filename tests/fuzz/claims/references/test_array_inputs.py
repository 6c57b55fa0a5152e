"""CUDA beside a reference whose inputs only get_inputs knows: a kernel gets these, under another seed in each trial."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.references.running import draw_in
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.python.loading import execute_file
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.ui.reports.claims import claim_notes

TRIALS = 6
HEAD = "import torch\n\n\n"
SEGMENTS = """
segments, cols = 4, 5


def reference(x, offsets):
    every = zip(offsets.tolist(), offsets[1:].tolist())
    return torch.stack([x[a:b].sum(0) for a, b in every])


def get_inputs():
    lengths = 4 + torch.randperm(segments)
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)]).int()
    return [torch.randn(int(lengths.sum()), cols), offsets]
"""
KERNEL = """
__global__ void sums(const float *x, const int *offsets, float *out, int segments, int cols) {
  int segment = blockIdx.x, c = threadIdx.x;
  if (segment >= segments || c >= cols) return;
  float kept[7];  // no segment is longer
  int first = offsets[segment], count = LENGTH;
  for (int r = 0; r < count; r++) kept[r] = x[(first + r) * cols + c];
  float sum = 0;
  for (int r = 0; r < count; r++) sum += kept[r];
  out[segment * cols + c] = sum;
}
"""
HOST = """
#include <torch/extension.h>
torch::Tensor forward(torch::Tensor x, torch::Tensor offsets) {
  int segments = offsets.size(0) - 1, cols = x.size(1);
  auto out = torch::empty({segments, cols}, x.options());
  sums<<<segments, 32>>>(x.data_ptr<float>(), offsets.data_ptr<int>(), out.data_ptr<float>(), segments, cols);
  return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
LENGTHS = {
    "right": "offsets[segment + 1] - first",
    "wrong": "segment == 1 ? min(offsets[segment + 1] - first, 6) : offsets[segment + 1] - first",
}
SQUARES = """
rows, cols = 6, 8


def reference(x, squares):
    return (x / squares.sqrt()[:, None]).abs()


def get_inputs():
    x = torch.randn(rows, cols)
    return [x, x.pow(2).sum(-1)]
"""
NORMS = """
__global__ void shares(const float *x, const float *squares, float *out, int rows, int cols) {
  int row = blockIdx.x, c = threadIdx.x;
  if (row >= rows || c >= cols) return;
  out[row * cols + c] = fminf(fabsf(x[row * cols + c]) / sqrtf(squares[row]), LIMIT);
}
#include <torch/extension.h>
torch::Tensor forward(torch::Tensor x, torch::Tensor squares) {
  int rows = x.size(0), cols = x.size(1);
  auto out = torch::empty_like(x);
  shares<<<rows, 32>>>(x.data_ptr<float>(), squares.data_ptr<float>(), out.data_ptr<float>(), rows, cols);
  return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


@pytest.mark.slow(20)
@pytest.mark.parametrize("host", ["", HOST], ids=["a kernel", "an extension"])
@pytest.mark.parametrize(("length", "found"), [("right", set()), ("wrong", {"numeric"})])
def test_a_kernel_gets_the_offsets_that_get_inputs_makes(
    length: str, found: set[str], host: str, tmp_path: Path
) -> None:
    """Before, one segment had all 22 rows: a right kernel wrote beyond its array of 7."""
    kernel = kernel_of(SEGMENTS, KERNEL.replace("LENGTH", LENGTHS[length]) + host, tmp_path)
    (note,) = claim_notes(kernel)
    assert note.endswith("what the integers of offsets may be is known to get_inputs alone")
    kinds, given = judged(kernel)
    assert kinds == found
    lengths = [np.diff(one["offsets"]).tolist() for one in given]
    assert all(sorted(one) == [4, 5, 6, 7] for one in lengths)
    assert len({tuple(one) for one in lengths}) > 1


@pytest.mark.slow(20)
@pytest.mark.parametrize(("limit", "found"), [("1.0f", set()), ("0.5f", {"numeric"})])
def test_a_kernel_gets_floats_that_follow_from_others(limit: str, found: set[str], tmp_path: Path) -> None:
    """Before, the sums of squares were any numbers: a right kernel that has no share above 1 was wrong."""
    kinds, given = judged(kernel_of(SQUARES, NORMS.replace("LIMIT", limit), tmp_path))
    assert kinds == found
    assert all(np.allclose((one["x"] ** 2).sum(-1), one["squares"]) for one in given)


def kernel_of(problem: str, text: str, folder: Path) -> Kernel:
    """A CUDA text beside its reference."""
    pytest.importorskip("torch")
    (folder / "problem.py").write_text(f"{HEAD}{problem.strip()}\n")
    (folder / "mine.cu").write_text(text)
    return kernel_with(folder / "mine.cu", Unclaimed(op="reference", reference=folder / "problem.py"))


def judged(kernel: Kernel) -> tuple[set[str], list[dict[str, Any]]]:
    """The kinds of errors that a few trials find, and the arrays that the kernel gets in each."""
    with CpuDevice() as device:
        attempts = [attempt_of(kernel, 3, index, 1 << 10) for index in range(TRIALS)]
        trials = [
            run_trial(kernel, one.case, one.tune, device, probe_of(kernel, 3, index, 2, 10.0))
            for index, one in enumerate(attempts)
        ]
    assert sum(one.elements for one in trials) > 0
    given = [kernel.bind(one.case.arrays, one.tune).given for one in attempts]
    return {defect.kind for one in trials for defect in one.errors}, given


@pytest.mark.parametrize(("first", "draw"), [(0.0, 0), (17.0, 17), (65537.0, 1), (float("nan"), None), (0.3, None)])
def test_the_first_number_of_an_array_says_the_draw(first: float, draw: int | None) -> None:
    found = draw_in(np.asarray([[first, 5.0]], np.float32), 1 << 16)
    assert found in range(1 << 16) if draw is None else found == draw


ONLY_PYTHON = {
    "a function": ("return [torch.randn(4, 3), lambda x: x]", "a function, which only Python has"),
    "a number of its own in each draw": (
        "return [torch.randn(4, 3), int(torch.randint(9, ()))]",
        "a number that differs",
    ),
}


@pytest.mark.parametrize("name", ONLY_PYTHON)
def test_inputs_that_are_no_arrays_are_refused(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    array_inputs = importlib.import_module("kfuzz.claims.references.torch.array_inputs")
    declared = importlib.import_module("kfuzz.claims.references.torch.declared")
    made, words = ONLY_PYTHON[name]
    with pytest.raises(declared.CannotError, match=words):
        array_inputs.array_inputs_of(*module_with(made, tmp_path))


def module_with(made: str, folder: Path) -> tuple[Any, Any, Path]:
    """A reference whose get_inputs does this."""
    path = folder / "problem.py"
    path.write_text(f"{HEAD}def reference(x, one):\n    return x * 2\n\n\ndef get_inputs():\n    {made}\n")
    module = execute_file(path, path.read_text(), 0)
    return module, module.reference, path


def test_a_draw_of_another_shape_is_the_first_one(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    array_inputs = importlib.import_module("kfuzz.claims.references.torch.array_inputs")
    drawn = importlib.import_module("kfuzz.claims.references.torch.drawn")
    made = "rows = 4 + (torch.initial_seed() > 9)\n    return [torch.randn(rows, 3), torch.arange(5)]"
    module, reference, path = module_with(made, tmp_path)
    known = array_inputs.array_inputs_of(module, reference, path)
    make = drawn.draws_of(module, path)
    first, later = (array_inputs.arrays_at(make, known.declared, draw)["x"] for draw in (0, 40))
    assert first.equal(later)
    assert not first.equal(array_inputs.arrays_at(make, known.declared, 2)["x"])


def test_sizes_have_the_names_of_the_text_and_offsets_are_longer_by_one(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    array_inputs = importlib.import_module("kfuzz.claims.references.torch.array_inputs")
    path = tmp_path / "problem.py"
    path.write_text(HEAD + SEGMENTS)
    module = execute_file(path, path.read_text(), 0)
    inputs = {"x": ["22", "5"], "offsets": ["5"], "flag": ["1"]}
    names = array_inputs.names_of_sizes(module, path.read_text(), inputs, {"y": ["4", "5"]}, ["offsets"])
    assert names.inputs == {"x": ["x_0", "cols"], "offsets": ["segments + 1"], "flag": ["1"]}
    assert names.outputs == {"y": ["segments", "cols"]}
    assert names.sizes == {"x_0": 22, "cols": 5, "segments": 4}
