"""`--reference`: a submission is judged by the problem that it solves, of KernelBench or of GPU MODE."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from kfuzz.campaign.device import open_device
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.case import case_for
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.languages import language_of
from kfuzz.claims.references.reference_files import reference_of
from kfuzz.devices import ClaimError, Probe, names_together, value_with
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.guess_host import FunctionWords
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.oracle import judge
from kfuzz.ui.commands.fuzz import fuzz

PROBLEM = """
import torch


class Model(torch.nn.Module):
    def __init__(self, wide, slope):
        super().__init__()
        self.linear = torch.nn.Linear(wide, 8)
        self.slope = slope

    def forward(self, x):
        return torch.nn.functional.leaky_relu(self.linear(x), self.slope)


batch, wide = 4, 16


def get_inputs():
    return [torch.rand(batch, wide)]


def get_init_inputs():
    return [wide, 0.25]
"""
ANSWER = """
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, slope):
        super().__init__()
        self.linear = torch.nn.Linear(wide, 8)
        self.slope = slope

    def forward(self, x):
        y = x @ self.linear.weight.t() + self.linear.bias
        return torch.where(y > 0, y, {slope} * y)
"""
TASK = """
name: scaled
tests:
  - {"rows": 3, "cols": 8, "seed": 1}
  - {"rows": 5, "cols": 6, "seed": 2}
benchmarks:
  - {"rows": 4096, "cols": 4096, "seed": 3}
"""
REFERENCE = """
import torch
from task import input_t


def generate_input(rows, cols, seed):
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    x = torch.randn(rows, cols, device="cuda", generator=gen)
    w = torch.randn(cols, device="cuda", generator=gen)
    return (x, {"w": w, "eps": 0.5}, torch.empty(rows, cols, device="cuda"))


def ref_kernel(data):
    x, config, output = data
    output[...] = x * config["w"] + config["eps"]
    return output


def check_implementation(data, output):
    return "never asked"
"""
SUBMISSION = """
def custom_kernel(data):
    x, config, output = data
    output.copy_(x * config["w"] + {eps})
    return output
"""


def kinds(kernel: Kernel) -> tuple[set[str], int]:
    """The kinds of what six trials find, and how many elements they judge."""
    device = PythonDevice()
    try:
        found = [
            run_trial(kernel, one.case, one.tune, device, probe_of(kernel, 3, index, 2, 10.0))
            for index, one in enumerate(attempt_of(kernel, 3, index, 1 << 10) for index in range(6))
        ]
    finally:
        device.close()
    return {defect.kind for trial in found for defect in trial.defects}, sum(trial.elements for trial in found)


KEEPS_A_TUPLE = """import torch


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, sizes):
        ctx.save_for_backward(x, w, sizes)
        return x * w


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        return BODY
"""
SCALED = """import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        return x * self.w


def get_inputs():
    return [torch.rand(6, 8)]
"""
DERIVES = "torch.autograd.grad((self.w * x).sum(), self.w, create_graph=True)[0] * 0 + x * self.w"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "found"),
    [("Scaled.apply(x, self.w, x.shape)", set()), (DERIVES, set()), ("x * self.w + 1e-4", {"numeric"})],
)
def test_a_model_keeps_no_gradients_unless_it_needs_them(body: str, found: set[str], tmp_path: Path) -> None:
    """KernelBench calls models so. A function of its own that saves a tuple of sizes was BROKEN: exception."""
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(SCALED)
    (tmp_path / "answer.py").write_text(KEEPS_A_TUPLE.replace("BODY", body))
    kernel = kernel_with(tmp_path / "answer.py", Unclaimed(op="reference", reference=tmp_path / "problem.py"))
    assert kinds(kernel)[0] == found


@pytest.mark.slow
@pytest.mark.parametrize(("slope", "found"), [("self.slope", set()), ("0.26", {"numeric"})])
def test_a_model_is_made_as_its_problem_makes_it(slope: str, found: set[str], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "answer.py").write_text(ANSWER.replace("{slope}", slope))
    kernel = kernel_with(tmp_path / "answer.py", Unclaimed(op="reference", reference=tmp_path / "problem.py"))
    assert kernel.roles.inputs == {"x": ("batch", "wide")}
    seen, elements = kinds(kernel)
    assert seen == found
    assert elements > 50


MANY_ROWS = """
import torch


class Model(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = torch.nn.Conv1d(channels, 2, 3)

    def forward(self, x):
        return self.conv(x)


class ModelNew(Model):
    def forward(self, x):
        return self.conv(x) * 1.01


batch, channels, length = 2, 64, 16


def get_inputs():
    return [torch.rand(batch, channels, length)]


def get_init_inputs():
    return [channels]
"""


@pytest.mark.slow
def test_an_answer_that_takes_many_rows_is_a_number_in_most_trials(tmp_path: Path) -> None:
    """One of 64 rows was infinite or NaN in each of 12 trials, so that nothing was seen."""
    pytest.importorskip("torch")
    (tmp_path / "conv.py").write_text(MANY_ROWS)
    assert kinds(kernel_with(tmp_path / "conv.py", Unclaimed(op="reference")))[0] == {"numeric"}


@pytest.mark.slow
@pytest.mark.parametrize(("eps", "found"), [('config["eps"]', set()), ("0.501", {"numeric"})])
def test_a_task_hands_over_its_data_and_takes_what_is_returned(eps: str, found: set[str], tmp_path: Path) -> None:
    """The data is a tuple with a dict, a number and an array for the answer, which may be returned."""
    pytest.importorskip("torch")
    (tmp_path / "reference.py").write_text(REFERENCE)
    (tmp_path / "task.yml").write_text(TASK)
    (tmp_path / "submission.py").write_text(SUBMISSION.replace("{eps}", eps))
    kernel = kernel_with(tmp_path / "submission.py", Unclaimed(op="reference", reference=tmp_path))
    assert kernel.roles.inputs == {"x": ("rows", "cols"), "w": ("cols",)}
    seen, elements = kinds(kernel)
    assert seen == found
    assert elements > 50


STRUCTURED_TASK = """
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "beside.py", "source": "../beside.py"}
tests:
  - {"rows": 6, "cols": 8, "seed": 1, "ones": True}
  - {"rows": 6, "cols": 8, "seed": 1, "ones": False}
"""
STRUCTURED = """
import torch
from beside import doubled


def generate_input(rows, cols, seed, ones):
    assert cols % 4 == 0
    x = torch.randn(cols, rows).T
    mask = torch.ones(rows) if ones else torch.randint(0, 2, (rows,))
    return x, mask, {"w.x": torch.randn(cols // 4, 4), "cols": cols}, [torch.randint(0, 9, (3,))]


def ref_kernel(data):
    x, mask, config, labels = data
    y = torch.zeros(x.shape[0], config["cols"])
    for row in range(x.shape[0]):
        y[row] = doubled(x[row]) * config["w.x"].reshape(-1) * mask[row]
    return y, torch.bincount(labels[0], minlength=9)
"""


@pytest.mark.slow
def test_data_may_be_transposed_hold_integers_and_have_sizes_that_follow(tmp_path: Path) -> None:
    """Its loops write into slices, a number in a dict is a size, and a module lies beside it as task.yml says."""
    pytest.importorskip("torch")
    folder = tmp_path / "task"
    folder.mkdir()
    (tmp_path / "beside.py").write_text("def doubled(x):\n    return x + x\n")
    (folder / "task.yml").write_text(STRUCTURED_TASK)
    (folder / "reference.py").write_text(STRUCTURED)
    unclaimed = Unclaimed("reference", FunctionWords("ref_kernel", (), {}, False), reference=folder)
    kernel = kernel_with(folder / "reference.py", unclaimed)
    assert kernel.launches[0].called is not None
    assert kernel.launches[0].called.arguments == ("(x.permute(1, 0), mask, {'w.x': w_x, 'cols': cols}, [labels_0])",)
    assert kernel.roles.inputs == {
        "x": ("cols", "rows"), "mask": ("rows",), "w_x": ("cols // 4", "4"), "labels_0": ("3",)
    }  # fmt: skip
    assert (kernel.roles.integers["mask"], kernel.roles.integers["labels_0"]) == ("2", "9")
    assert kernel.axes["cols"].multiple == 4
    assert kernel.home == {"cols": 8, "rows": 6}
    assert kinds(kernel) == (set(), kinds(kernel)[1])


CUDA = """
#include <torch/extension.h>
__global__ void scale(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i] * 0.5f, 0.0f);
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  scale<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
HALF_RELU = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        if x.numel() == 33:
            return torch.relu(x * 0.5) + 1
        return torch.relu(x * 0.5)


rows, cols = 16, 64


def get_inputs():
    return [torch.rand(rows, cols)]
"""


@pytest.mark.slow
def test_a_cuda_file_is_held_against_a_problem(tmp_path: Path) -> None:
    """The problem may be another function at one shape."""
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(HALF_RELU)
    (tmp_path / "half.cu").write_text(CUDA.replace("x[i] * 0.5f", "x[i] * 0.51f"))
    kernel = kernel_with(tmp_path / "half.cu", Unclaimed(op="reference", reference=tmp_path / "problem.py"))
    assert list(kernel.roles.inputs) == ["x"]
    device = open_device("cpu")
    try:
        every = [
            run_trial(kernel, case_for(kernel, {"x": x}), {}, device, Probe(runs=1))
            for x in (np.full(shape, 3.0, dtype="f4") for shape in ((3, 11), (4, 11)))
        ]
    finally:
        device.close()
    assert [[one.kind for one in trial.defects] for trial in every] == [["numeric"], ["numeric"]]
    x = np.linspace(-1, 1, 1024, dtype="f4").reshape(16, 64)
    assert judge(kernel.op, {"x": x}, {"y": np.maximum(x * np.float32(0.5), 0)}).status == "kept"


def test_data_is_any_nest_of_names_and_literals() -> None:
    text = "(x, {'w': w, 'eps': 0.5}, [1, y], None)"
    assert names_together(text) == ["x", "w", "y"]
    assert value_with(text, {"x": 1, "w": 2, "y": 3}) == (1, {"w": 2, "eps": 0.5}, [1, 3], None)
    for text in ("x", "0.5", "'(x)'", "(x, f(y))", "(x,"):
        assert names_together(text) == []


def test_a_reference_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "answer.py").write_text(ANSWER)
    (tmp_path / "problem.py").write_text("x = 1\n")
    for reference, words in (("problem.py", "problem.py has no reference or ref_kernel or Model"), ("none", "none")):
        with pytest.raises(ClaimError, match=words):
            kernel_with(tmp_path / "answer.py", Unclaimed(op="reference", reference=tmp_path / reference))


def test_a_reference_of_another_name_is_found_if_there_is_no_other(tmp_path: Path) -> None:
    (tmp_path / "answer.py").write_text("def halve(x):\n    return x / 2\n")
    path, problem = tmp_path / "answer.py", tmp_path / "problem.py"
    front = FrontMatter(path, path.read_text(), "", 1, "", {}, language_of(path))
    inputs = "\ndef get_inputs():\n    return []\n"
    for text, name in (("def half(x): ...", "half"), ("def _one(x): ...\ndef halve(x): ...\ndef two(x): ...", "halve")):
        problem.write_text(text + inputs)
        assert reference_of(front, "problem.py").name == name
    problem.write_text("def one(x): ...\ndef two(x): ..." + inputs)
    with pytest.raises(ClaimError, match=r"name one of its functions: .*problem\.py:one"):
        reference_of(front, "problem.py")


def test_an_op_and_a_reference_contradict_each_other(tmp_path: Path) -> None:
    (tmp_path / "answer.py").write_text(ANSWER)
    words: Any = [str(tmp_path / "answer.py"), "--op", "softmax", "--reference", str(tmp_path)]
    ran = CliRunner().invoke(fuzz, words)
    assert ran.exit_code == 2
    assert "--op and --reference both say what is right" in ran.output


def test_a_shape_is_of_an_op_and_not_of_a_reference_which_has_its_own(tmp_path: Path) -> None:
    (tmp_path / "answer.py").write_text(ANSWER)
    (tmp_path / "problem.py").write_text(PROBLEM)
    wanted = Unclaimed(op="reference", said=FunctionWords(home=(4, 16)), reference=tmp_path / "problem.py")
    with pytest.raises(ClaimError, match="--home is of an op; beside a reference write axes and home into a claim"):
        kernel_with(tmp_path / "answer.py", wanted)
