"""Sizes of weights vary with those of the inputs: what get_init_inputs gives there makes both models."""

from pathlib import Path
from typing import Any

import pytest

import kfuzz
from kfuzz.campaign.answers import MOST_OF_OBJECT, pinned, with_small_object
from kfuzz.campaign.campaign import Lane
from kfuzz.campaign.explain import search
from kfuzz.campaign.options import Options
from kfuzz.cases.plans.home import home_of, sizes_of_object
from kfuzz.devices.python.device import PythonDevice
from kfuzz.devices.python.init_values import init_values, names_of_sizes
from kfuzz.devices.sandbox.box import why_not
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

torch = pytest.importorskip("torch")
describing = pytest.importorskip("kfuzz.claims.references.torch.describing")

PROBLEM = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_features, out_features, bias_shape, eps):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.norm = nn.LayerNorm(out_features, eps=eps)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        return torch.relu(self.norm(self.gemm(x))) + self.bias


batch_size = 64
in_features = {size}
out_features = {out}
bias_shape = (out_features,)


def get_inputs():
    return [torch.rand(batch_size, in_features)]


def get_init_inputs():
    return [in_features, out_features, bias_shape, 1e-5]
"""
BEGIN = PROBLEM.partition("batch_size")[0].replace("class Model", "class ModelNew")
FIXED = BEGIN.replace("nn.Linear(in_features, out_features)", "nn.Linear({size}, out_features)")
OWN = PROBLEM.replace("class Model", "class ModelNew").partition("def get_inputs")[0] + (
    "\ndef get_init_inputs():\n    return [in_features, out_features, bias_shape, 1e-5]\n"
)
NO_WEIGHTS = BEGIN.replace("self.norm(self.gemm(x))", "nn.functional.layer_norm(self.gemm(x), self.bias.shape)")
WRONG_ELSEWHERE = BEGIN.replace(
    "        return ",
    "        if x.shape[1] != {size}:\n            return x.sum() + self.bias + self.gemm(x)\n        return ",
)
WRONG_AT_HOME = WRONG_ELSEWHERE.replace("!= {size}", "== {size}")


def written(folder: Path, text: str, name: str, size: int = 48, out: int = 20) -> Path:
    path = folder / f"{name}.py"
    path.write_text(text.replace("{size}", str(size)).replace("{out}", str(out)))
    return path


def described(path: Path, is_remade: bool = True) -> Any:  # noqa: ANN401  the answer
    asked = {"path": str(path), "source": path.read_text(), "reference": "Model", "inputs": {}, "task": ""}
    return describing.described({**asked, "axes": {}, "title": "problem", "is_remade": is_remade})


def test_values_of_texts_follow_from_sizes() -> None:
    assert init_values(("n", "(n // 2, 3)", "'n'", "-1.5"), {"n": 8}) == [8, (4, 3), "n", -1.5]
    assert names_of_sizes(("n", "(n // m, 3)", "'k'")) == ["n", "m"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("out", "init"),
    [(20, ["in_features", "20", "(20,)", "1e-05"]), (48, ["in_features", "in_features", "(in_features,)", "1e-05"])],
)
def test_a_size_of_the_weights_is_one_of_the_inputs(out: int, init: list[str], tmp_path: Path) -> None:
    """Of equal sizes, which are one at home, those that change together stay equal."""
    answer = described(written(tmp_path, PROBLEM, "problem", out=out))
    assert answer["dims"]["x"] == ["batch_size", "in_features"], answer
    assert answer["sized_init"] == init
    assert answer["init"] == ["48", str(out), f"({out},)", "1e-05"]


@pytest.mark.slow
def test_a_size_of_the_weights_alone_may_have_the_value_of_a_batch(tmp_path: Path) -> None:
    """1_Conv2D_ReLU_BiasAdd has a batch of 128 images and 128 channels in its answer."""
    answer = described(written(tmp_path, PROBLEM, "problem", out=64))
    assert answer["sized_init"] == ["in_features", "64", "(64,)", "1e-05"], answer
    assert answer["home"] == {"batch_size": 64, "in_features": 48}


@pytest.mark.slow
def test_a_size_that_the_class_reads_by_itself_stays(tmp_path: Path) -> None:
    text = PROBLEM.replace("nn.Linear(in_features, out", "nn.Linear(globals_of_file(), out")
    text += "\n\ndef globals_of_file():\n    return in_features\n"
    answer = described(written(tmp_path, text, "problem"))
    assert answer["dims"]["x"] == ["batch_size", "48"], answer
    assert answer["sized_init"] == answer["init"]


@pytest.mark.slow
def test_a_home_has_all_of_its_weights_and_other_trials_few(tmp_path: Path) -> None:
    problem, answer = written(tmp_path, PROBLEM, "problem", 8192, 8192), written(tmp_path, BEGIN, "answer")
    kernel = kernel_with(answer, Unclaimed(op="reference", reference=problem))
    assert sizes_of_object(kernel) == {"in_features"}
    assert home_of(kernel)["in_features"] == 8192
    assert kernel.axes["in_features"].hi == 8192
    at_home = pinned(kernel)
    assert at_home is not None
    assert at_home.axes["in_features"].lo == 8192
    small = with_small_object(kernel)
    assert small.axes["in_features"].hi == home_of(small)["in_features"] == MOST_OF_OBJECT


@pytest.mark.slow
def test_an_answer_that_is_no_model_of_the_problem_has_its_sizes(tmp_path: Path) -> None:
    """A function of CUDA may name the size of its weights in its text."""
    answer = described(written(tmp_path, PROBLEM, "problem"), is_remade=False)
    assert answer["dims"]["x"] == ["batch_size", "48"], answer
    assert answer["sized_init"] == answer["init"]


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox")
@pytest.mark.slow(20)
@pytest.mark.parametrize(
    ("text", "status", "stages"),
    [
        (BEGIN, "kept", {"right at other sizes", "properties"}),
        (OWN, "kept", {"right at other sizes", "properties"}),
        (FIXED, "kept", {"values right at home"}),
        (WRONG_ELSEWHERE, "kept", {"values right at home"}),
        (WRONG_AT_HOME, "broken", {"ran", "shapes right"}),
        (NO_WEIGHTS, "broken", {"shapes right", "values right at home"}),
    ],
    ids=["right", "with inputs of its own", "for one size", "wrong elsewhere", "wrong at home", "no weights"],
)
def test_an_answer_is_judged_at_the_sizes_of_its_problem(
    text: str, status: str, stages: set[str], tmp_path: Path
) -> None:
    problem, answer = written(tmp_path, PROBLEM, "problem"), written(tmp_path, text, "answer")
    found = kfuzz.judge_file(answer, reference=problem, budget=4.0, seed=3)
    assert (found.status, found.stage in stages) == (status, True), found
    assert bool(found.elsewhere) == (text is WRONG_ELSEWHERE or text is FIXED)


GROUPED = """import torch
import torch.nn as nn


class {name}(nn.Module):
    def __init__(self, num_features, num_groups):
        super().__init__()
        self.gn = nn.GroupNorm({groups}num_groups, num_features)

    def forward(self, x):
        return self.gn(x)
"""
INPUTS = """

def get_inputs():
    return [torch.rand(4, features, 8, 8)]


def get_init_inputs():
    return [features, 8]


features = 64
"""


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "status"), [("0 * num_features + ", "kept"), ("2 * ", "broken")])
def test_an_answer_that_cannot_be_made_at_some_sizes_is_judged_at_others(
    groups: str, status: str, tmp_path: Path
) -> None:
    """With twice as many groups no GroupNorm of 8 features can be made, which ended the search with no verdict."""
    problem, answer = tmp_path / "problem.py", tmp_path / "answer.py"
    problem.write_text(GROUPED.format(name="Model", groups="") + INPUTS)
    answer.write_text(GROUPED.format(name="ModelNew", groups=groups))
    kernel = kernel_with(answer, Unclaimed(op="reference", reference=problem))
    (found,) = search((kernel,), [Lane("cpu", PythonDevice)], Options(seed=1, max_cases=6)).kernels
    assert not found.progress.error
    assert found.progress.trials
    assert any(one.is_error for one in found.discoveries) == (status == "broken")


@pytest.mark.slow
def test_no_model_of_many_weights_is_made_to_see_its_sizes(tmp_path: Path) -> None:
    """A transposed 3D convolution was made with windows of up to 70 x 70 x 70: to describe it took over two minutes."""
    resized = pytest.importorskip("kfuzz.claims.references.torch.resized")

    class Cube(torch.nn.Module):  # type: ignore[misc]  # torch is not there where types are checked
        def __init__(self, size: int) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.empty(size, size, size, size))
            if not self.weight.is_meta:
                (tmp_path / f"{size}").touch()

    model = resized.Resized(Cube(3), ({"x": ["size"]}, {"size": 3}), ["size"], lambda one: one, 0)
    assert model.model_at({"size": 40}).weight.shape[0] == 40
    with pytest.raises(describing.CannotError, match="a model of 24,010,000 weights is too large"):
        model.model_at({"size": 70})
    assert {one.name for one in tmp_path.iterdir()} == {"3", "40"}
