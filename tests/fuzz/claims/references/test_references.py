"""A torch reference as an op: its formula is as tight as a handwritten one, and accuses no correct kernel."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases import case_file
from kfuzz.cases.case import Origin, Record, case_for, case_of
from kfuzz.claims.kernel import Kernel, load
from kfuzz.claims.language.reference import Reference, name_in_case, shown_op
from kfuzz.claims.references.references import FOLDER, last_words
from kfuzz.devices import ClaimError, Probe, cache
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.ui.reports.repro import script

ROWS = 'x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y"'
FIXED = 'x = "f32[rows, 128] -> x", w = "f32[128] -> w", y = "f32[rows, 128] <- y"'
WEIGHTED = 'x = "f32[rows, cols] -> x", w = "f32[cols] -> w", b = "f32[cols] -> b", y = "f32[rows, cols] <- y"'
HEADS = (
    'q = "f32[heads, rows, d] -> q", k = "f32[heads, keys, d] -> k", v = "f32[heads, keys, dv] -> v", '
    'o = "f32[heads, rows, dv] <- y"'
)
REFERENCES = {
    "softmax": (ROWS, "x", "torch.softmax(x, -1)"),
    "layer_norm": (WEIGHTED, "x, w, b", "F.layer_norm(x, (x.shape[-1],), w, b, 1e-5)"),
    "attention": (HEADS, "q, k, v", "torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1) @ v"),
}
SIZES = {"rows": 5, "cols": 70, "heads": 2, "keys": 30, "d": 16, "dv": 8}


def write_reference(folder: Path, arrays: str, parameters: str, reference: str, forward: str = "") -> Path:
    path = folder / "theirs.py"
    claim = f'# /// kernel\n# op = "reference"\n# arrays = {{ {arrays} }}\n# ///\n'
    functions = [f"def {name}({parameters}):\n    return {text}\n"
                 for name, text in (("reference", reference), ("forward", forward or reference))]  # fmt: skip
    path.write_text("\n\n".join([f"{claim}import torch\nimport torch.nn.functional as F\n", *functions]))
    return path


def trials(kernel: Kernel, count: int) -> Iterator[Trial]:
    device = PythonDevice()
    try:
        for index in range(count):
            attempt = attempt_of(kernel, 3, index, 1 << 12)
            yield run_trial(kernel, attempt.case, attempt.tune, device, probe_of(kernel, 3, index, 2, 10.0))
    finally:
        device.close()


@pytest.mark.slow
@pytest.mark.parametrize("op", REFERENCES)
def test_a_references_bound_is_as_tight_as_the_formulas(op: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    made, own = find(load(write_reference(tmp_path, *REFERENCES[op])).op), find(op)
    rng = np.random.default_rng(0)
    inputs = {
        role: rng.standard_normal([SIZES[d] for d in given.dimensions]).astype("f4")
        for role, given in own.inputs.items()
    }
    (one,), (other,) = (enclose(each, inputs, Accuracy(), Special()).values() for each in (made, own))
    # The scale is worked out by two roundings more (R3), beside the thirty of the sums.
    assert np.median((one.hi - one.lo) / (other.hi - other.lo)) < 32 / 30


@pytest.mark.slow
def test_what_no_rearrangement_of_a_reference_gives_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    arrays, parameters, reference = REFERENCES["softmax"]
    wrong = load(write_reference(tmp_path, arrays, parameters, reference, "torch.softmax(x * 1.001, -1)"))
    found = list(trials(wrong, 12))
    assert "numeric" in {defect.kind for trial in found for defect in trial.defects}
    assert any(trial.errors for trial in found)


@pytest.mark.slow
def test_a_rearrangement_of_a_reference_is_suspect_and_no_error(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    made = write_reference(tmp_path, ROWS, "x", "x * torch.sigmoid(x)", "x - x / (1 + torch.exp(x))")
    found = list(trials(load(made), 12))
    assert {defect.kind for trial in found for defect in trial.defects} <= {"suspect"}
    assert not any(trial.errors for trial in found)


@pytest.mark.slow
def test_a_kernel_that_computes_as_its_reference_does_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    fused = "(x - x.amax(-1, keepdim=True)).exp() / (x - x.amax(-1, keepdim=True)).exp().sum(-1, keepdim=True)"
    arrays, parameters, reference = REFERENCES["softmax"]
    found = list(trials(load(write_reference(tmp_path, arrays, parameters, reference, fused)), 12))
    assert [defect.bucket for trial in found for defect in trial.defects] == []
    assert sum(trial.elements for trial in found) > 50


@pytest.mark.slow
@pytest.mark.parametrize(("wrong", "kinds"), [("", set()), (" * 1.01", {"suspect"})])
def test_an_operation_without_a_rule_is_measured_and_gives_warnings_alone(
    wrong: str, kinds: set[str], tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    reference = "torch.special.bessel_j0(x) + x"
    kernel = load(write_reference(tmp_path, ROWS, "x", reference, f"({reference}){wrong}"))
    found = list(trials(kernel, 4))
    assert sum(trial.elements for trial in found) > 0
    assert {defect.kind for trial in found for defect in trial.defects} == kinds
    assert not any(trial.errors for trial in found)


@pytest.mark.slow
def test_a_reference_may_be_another_function_at_other_sizes(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    reference = "x * 2 if x.shape[0] > 4 else x * 3"
    kernel = load(write_reference(tmp_path, ROWS, "x", reference, "x * (3 - (x.shape[0] > 4))"))
    found = list(trials(kernel, 6))
    assert not [defect for trial in found for defect in trial.defects]
    assert sum(trial.elements for trial in found) > 0


@pytest.mark.slow
def test_a_reference_that_is_another_function_in_double_is_held_to_what_it_is_in_single(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    assert load(write_reference(tmp_path, ROWS, "x", "F.rms_norm(x, x.shape[-1:])")).op.endswith("theirs.py")


@pytest.mark.slow
def test_a_case_of_a_reference_replays_from_another_folder_when_the_cache_is_gone(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    kernel = load(write_reference(here, FIXED, "x, w", "x * w", "x * w * 1.001"))
    case = case_for(kernel, {"x": np.ones((2, 128), np.float32), "w": np.ones(128, np.float32)})
    seen = Origin("theirs", "theirs: numeric, wrong elements", "numeric", "", "cpu", {})
    case_file.write(here / "case.json", Record(case, seen))
    (here / "repro.py").write_text(script(kernel, Record(case, seen), "repro.py"))
    here.rename(there)
    usual = {**os.environ, "KFUZZ_CACHE": str(tmp_path / "new")}
    kfuzz = [sys.executable, "-m", "kfuzz"]
    for words, said in (
        ([*kfuzz, "show", "case.json"], "reference rows=2 "),
        ([*kfuzz, "replay", "case.json", "--device", "cpu"], "broken"),
        ([*kfuzz, "minimize", "case.json", "--device", "cpu"], "rows=2 -> rows=1 ("),
        ([sys.executable, "repro.py"], "BROKEN  theirs: numeric"),
    ):
        ran = subprocess.run(words, cwd=there, env=usual, capture_output=True, text=True, check=False, timeout=1800)
        assert said in ran.stdout, ran.stdout + ran.stderr


MODELS = """import torch


class Model(torch.nn.Module):
    def __init__(self, few):
        super().__init__()
        self.linear = torch.nn.Linear(32, few)
        self.drop = torch.nn.Dropout(0.0)

    def forward(self, x):
        return {reference}


class ModelNew(Model):
    def forward(self, x):
        return {own}


batch = 4
wide = 32


def get_inputs():
    return [torch.rand(batch, {wide})]


def get_init_inputs():
    return [8]
"""


@pytest.mark.slow
@pytest.mark.parametrize(("wide", "by", "kinds"), [("32", "", set()), ("wide", " * 1.001", {"numeric"})])
def test_a_model_with_weights_is_what_a_submission_is_judged_by(
    wide: str, by: str, kinds: set[str], tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    own = f"torch.clamp_min(self.drop(x @ self.linear.weight.t() + self.linear.bias), 0){by}"
    (tmp_path / "model.py").write_text(
        MODELS.format(reference="torch.relu(self.drop(self.linear(x)))", own=own, wide=wide)
    )
    kernel = kernel_with(tmp_path / "model.py", Unclaimed(op="reference"))
    found = list(trials(kernel, 6))
    assert {defect.kind for trial in found for defect in trial.defects} == kinds
    assert sum(trial.elements for trial in found) > 50


PLAIN = """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        return torch.relu(self.linear(x))


ModelNew = Model


def get_inputs():
    return [torch.rand(16, 8)]
"""

HINGE = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, mask, label):
        return torch.clamp(1 - x * mask * label, min=0).mean()


class ModelNew(torch.nn.Module):
    def forward(self, x, mask, label):
        return torch.relu(1 - torch.where(mask, x, 0.0) * label).sum() / x.numel()


batch = 48
shape = (48,)


def get_inputs():
    x = torch.rand(batch, *shape)
    return [x, torch.randint(0, 2, x.shape).bool(), torch.randn(batch)]
"""


@pytest.mark.slow
def test_sizes_that_a_reference_needs_to_be_equal_are_one_and_truths_are_an_input(tmp_path: Path) -> None:
    """label broadcasts along the last axis of x: the file has two numbers that are equal, and so they have to be."""
    pytest.importorskip("torch")
    (tmp_path / "hinge.py").write_text(HINGE)
    kernel = kernel_with(tmp_path / "hinge.py", Unclaimed(op="reference"))
    assert kernel.roles.inputs == {"x": ("batch", "batch"), "mask": ("batch", "batch"), "label": ("batch",)}
    assert str(kernel.arrays["mask"].element) == "bool"
    found = list(trials(kernel, 4))
    assert not [defect for trial in found for defect in trial.defects]
    assert sum(trial.elements for trial in found) > 0


@pytest.mark.slow
def test_sizes_that_a_file_writes_as_numbers_vary_unless_they_are_elsewhere_too(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "plain.py").write_text(PLAIN)
    assert kernel_with(tmp_path / "plain.py", Unclaimed(op="reference")).roles.inputs == {"x": ("x_0", "8")}


@pytest.mark.slow
def test_only_the_size_that_a_weight_needs_is_fixed(tmp_path: Path) -> None:
    """The file has one number for the height and the width, and the layer takes twice the width."""
    pytest.importorskip("torch")
    text = PLAIN.replace("Linear(8, 8)", "Linear(16, 2)").replace("(x)", "(torch.cat([x, x], -1))")
    text = text.replace("rand(16, 8)", "rand(batch, height, width)") + "\n\nbatch, height, width = 4, 8, 8\n"
    (tmp_path / "plain.py").write_text(text)
    kernel = kernel_with(tmp_path / "plain.py", Unclaimed(op="reference"))
    assert kernel.roles.inputs == {"x": ("batch", "height", "8")}


@pytest.mark.slow
def test_what_a_submission_builds_is_not_built_for_its_reference(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = MODELS.format(reference="torch.relu(self.linear(x))", own="EXTENSION.relu(x)", wide=32)
    head = (
        "from torch.utils.cpp_extension import load_inline\n\n"
        "EXTENSION = load_inline('e', 'torch::Tensor relu(torch::Tensor);', 'no C++', ['relu'])\n"
    )
    (tmp_path / "inline.py").write_text(head + text)
    assert kernel_with(tmp_path / "inline.py", Unclaimed(op="reference")).roles.outputs == {"y": ("batch", "8")}


@pytest.mark.slow
def test_the_inputs_of_a_benchmark_take_no_memory(tmp_path: Path) -> None:
    """KernelBench's are up to 6.4 GB, of which only the sizes matter; these would be 2 TB."""
    pytest.importorskip("torch")
    text = MODELS.format(reference="torch.relu(self.linear(x))", own="self.linear(x)", wide=32)
    (tmp_path / "vast.py").write_text(text.replace("batch = 4", "batch = 1 << 34"))
    assert kernel_with(tmp_path / "vast.py", Unclaimed(op="reference")).roles.outputs == {"y": ("batch", "8")}


@pytest.mark.slow
def test_sizes_that_do_not_fit_a_reference_are_seen_without_numbers() -> None:
    """A transposed convolution before a layer norm made 35 GB at the sizes that the norm then refused."""
    torch, inputs = (pytest.importorskip(name) for name in ("torch", "kfuzz.claims.references.torch.inputs"))
    declared, model = inputs.Declared({"x": ["rows", "cols"]}, {}, {}), torch.nn.Linear(8, 8)
    assert inputs.error_without_numbers(model, declared, {"rows": 1 << 40, "cols": 8}) is None
    assert "[8, 8]" in str(inputs.error_without_numbers(model, declared, {"rows": 1 << 40, "cols": 9}))


def test_a_claim_without_a_reference_says_how_one_is_called(tmp_path: Path) -> None:
    path = tmp_path / "none.py"
    path.write_text(
        f'# /// kernel\n# op = "reference"\n# arrays = {{ {ROWS} }}\n# ///\ndef forward(x):\n    return x\n'
    )
    with pytest.raises(ClaimError, match="no reference; one is called reference or ref_kernel or Model"):
        load(path)


def test_a_case_of_a_reference_shows_neither_the_file_of_its_formula_nor_fixed_sizes() -> None:
    op = str(cache.folder() / FOLDER / "0a33" / "theirs.py")
    name = name_in_case(op, Reference(Path("theirs.py"), "", "reference"))
    shape = {"x": np.zeros((2, 128), np.float32)}
    assert str(case_of(name, shape, {"x": ("rows", "128")})).startswith("reference rows=2;")
    assert name_in_case("mine/softmax.py") == "softmax.py"
    assert [shown_op("softmax"), shown_op("mine/softmax.py")] == ["softmax", "mine/softmax.py"]


def test_a_number_that_is_made_narrow_only_to_be_returned_is_stored_so(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    arrays = 'x = "bf16[rows, cols] -> x", y = "bf16[rows, cols] <- y"'
    kernel = load(write_reference(tmp_path, arrays, "x", "(x.float() * 3).to(torch.bfloat16)"))
    assert "unknown" not in Path(kernel.op).read_text()


GRADIENT = """# /// kernel
# op = "backward of reference"
# arrays = {{ x = "f32[rows, cols] -> x", g = "f32[rows, cols] -> g_y", dx = "f32[rows, cols] <- d_x" }}
# ///
import torch


def reference(x):
    return torch.softmax({factor} * x, -1)


def forward(x, g):
    y = torch.softmax(3 * x, -1)
    return 3 * (y * (g - (y * g).sum(-1, keepdim=True)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "is_wrong"), [("3", False), ("2", True)])
def test_a_kernel_may_be_judged_by_the_gradient_of_a_reference(factor: str, is_wrong: bool, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = tmp_path / "theirs.py"
    path.write_text(GRADIENT.format(factor=factor))
    kernel = load(path)
    assert kernel.shown_op == "backward of reference"
    assert kernel.op_in_case == "backward of reference theirs"
    assert kernel.reference is None, "findings of a gradient are more than suspect"
    found = list(trials(kernel, 9))
    assert sum(trial.elements for trial in found) > 0
    assert any(trial.errors for trial in found) == is_wrong


@pytest.mark.slow
@pytest.mark.parametrize(("by", "is_accused"), [("", False), (" + 1", True)])
def test_a_references_own_answer_accuses_no_callable(by: str, is_accused: bool, tmp_path: Path) -> None:
    """torch's attention in 16 bits gives 0 where a score is NaN: its own KernelBench problem was accused of it."""
    pytest.importorskip("torch")
    arrays = 'q = "f16[r, d] -> q", k = "f16[s, d] -> k", v = "f16[s, d] -> v", y = "f16[r, d] <- y"'
    sdpa = "F.scaled_dot_product_attention(*(one[None, None] for one in (q, k, v)))[0, 0]"
    path = write_reference(tmp_path, arrays, "q, k, v", sdpa, f"{sdpa}{by}")
    kernel = load(path)
    q, k = (np.array([row], np.float32) for row in ([0, 0], [-np.inf, 0.5]))
    device = PythonDevice()
    try:
        odd, usual = (
            run_trial(kernel, case_for(kernel, {"q": q, "k": one, "v": q + 3}), {}, device, Probe(runs=2))
            for one in (k, np.ones_like(k))
        )
    finally:
        device.close()
    assert not any(defect.kind == "special" for defect in odd.defects)
    assert bool(usual.defects) == is_accused


def test_the_last_words_of_a_process_are_not_those_of_torchs_stack() -> None:
    printed = "first\nRuntimeError: no memory\nframe #0: one (0x7f in lib)\nframe #1: _start + 0x21 (0x55 in python)\n"
    assert last_words(printed) == "RuntimeError: no memory"
    assert last_words("frame #0: one\n") == last_words("") == "it ended"
