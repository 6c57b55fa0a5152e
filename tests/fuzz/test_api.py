"""`import kfuzz`: thirteen names, each documented and typed, and nothing is loaded before it is used."""

import ast
import inspect
import re
import subprocess
import sys
import typing
from pathlib import Path

import numpy as np
import pytest
from paths import ROOT

import kfuzz
from kfuzz.claims.kernel import KERNELS
from kfuzz.common.errors import ClaimError

NAMES = [
    *("Accuracy", "Judgement", "Kernel", "Report", "Special", "Verdict"),
    *("check", "fuzz", "judge", "judge_file", "load", "testing", "want"),
]
HEAVY = {"numpy", "hypothesis", "click", "rich", "flint", "mpmath", "pytest"}


def test_the_front_has_thirteen_names() -> None:
    assert kfuzz.__all__ == dir(kfuzz) == NAMES
    assert all(name in (kfuzz.__doc__ or "") for name in NAMES)


def test_what_a_type_checker_sees_is_what_is_there() -> None:
    source = ast.parse(Path(kfuzz.__file__).read_text())
    reported = [alias.name for node in ast.walk(source) if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert sorted(set(reported) & set(NAMES)) == NAMES
    assert (Path(kfuzz.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_front_is_documented_and_typed(name: str) -> None:
    thing = getattr(kfuzz, name)
    assert inspect.getdoc(thing)
    if inspect.isfunction(thing):
        assert typing.get_type_hints(thing).keys() == {*inspect.signature(thing).parameters, "return"}


def test_a_name_that_is_not_there_is_an_error_of_the_usual_kind() -> None:
    with pytest.raises(AttributeError, match="module 'kfuzz' has no attribute 'juge'"):
        kfuzz.juge  # noqa: B018  the access is what is tested


@pytest.mark.parametrize(("use", "loaded"), [("", False), ("; kfuzz.judge", True)])
def test_nothing_is_loaded_before_it_is_asked_for(use: str, loaded: bool) -> None:
    script = f"import sys, kfuzz{use}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ("numpy" in done.stdout.split()) == loaded
    assert loaded or not HEAVY & set(done.stdout.split())


def test_an_answer_is_judged_and_the_right_one_is_computed() -> None:
    x = np.array([[0.0, 0.0, -np.inf]], np.float32)
    right = np.array([[0.5, 0.5, 0.0]], np.float32)
    accuracy = kfuzz.Accuracy(adds=2, rescales=0)
    assert kfuzz.judge("softmax", {"x": x}, {"y": right}, accuracy=accuracy).status == "kept"
    assert kfuzz.judge("softmax", {"x": x}, {"y": right * 2}, accuracy=accuracy).status == "broken"
    assert [float(value) for value in np.ravel(kfuzz.want("softmax", {"x": x})["y"])] == [0.5, 0.5, 0.0]


def test_the_page_on_the_front_has_every_name() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if not re.search(rf"^\| .*`kfuzz\.{name}[(`]", page, re.MULTILINE)] == []


def test_a_call_says_what_a_file_computes_as_a_command_line_does(tmp_path: Path) -> None:
    extension = tmp_path / "sum.cu"
    extension.write_text((ROOT / "README.md").read_text().split("```cuda\n")[1].split("```")[0])
    kernel = kfuzz.load(extension, op="row_sum")
    assert repr(kernel) == f"<Kernel sum, row_sum, {extension}>"
    with pytest.raises(ClaimError, match="no front matter"):
        kfuzz.load(extension)
    with pytest.raises(ClaimError, match="op and reference both say what is right"):
        kfuzz.load(extension, op="row_sum", reference="problem.py")
    with pytest.raises(ClaimError, match="it has a claim, and --op softmax is for files without one"):
        kfuzz.load("softmax/online_block", op="softmax")
    with pytest.raises(ClaimError, match="it is loaded already"):
        kfuzz.fuzz(kernel, op="row_sum")


@pytest.mark.slow
def test_a_call_finds_a_race_and_ends_after_its_seconds(tmp_path: Path) -> None:
    extension = tmp_path / "sum.cu"
    extension.write_text((ROOT / "README.md").read_text().split("```cuda\n")[1].split("```")[0])
    report = kfuzz.fuzz(extension, "cpu", seed=1, cases=10, op="row_sum")
    assert (report.exit_code, report.result.stop_reason) == (1, "max-cases")
    assert "race" in {bug.headline.defect.kind for bug in report.bugs}
    assert report.to_dict()["kernels"][0]["op"] == "row_sum"
    assert repr(report).startswith("<Report on sum, cpu: exit code 1, ")
    assert "\n" not in repr(report)
    assert kfuzz.fuzz(extension, "cpu", seconds=0.5, op="row_sum").result.stop_reason == "max-time"


PROBLEM = """\
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs():
    return [torch.randn(8, 16)]

def get_init_inputs():
    return []
"""


@pytest.mark.slow(10)
@pytest.mark.parametrize(("made", "exit_code"), [("torch.clamp(x, min=0)", 0), ("x.abs()", 1)])
def test_a_submission_is_judged_by_its_reference(made: str, exit_code: int, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    problem, answer = tmp_path / "problem.py", tmp_path / "answer.py"
    problem.write_text(PROBLEM)
    answer.write_text(PROBLEM.replace("class Model", "class ModelNew").replace("torch.relu(x)", made))
    assert kfuzz.fuzz(answer, "cpu", cases=6, seed=1, reference=problem).exit_code == exit_code


@pytest.mark.slow
def test_one_call_fuzzes_a_kernel_and_reports() -> None:
    wrong = kfuzz.load(KERNELS / "broken" / "leading_neg_inf.cu")
    report = kfuzz.fuzz(wrong, device="cpu", cases=40, seed=1)
    assert (report.exit_code, report.result.seed, report.result.trials) == (1, 1, 40)
    assert "special" in {found.defect.kind for found in report.kernels[0].discoveries}
    right = kfuzz.fuzz(KERNELS / "reduce" / "warp_max_down.cu", device="cpu", cases=8)
    assert (right.exit_code, right.kernels[0].discoveries) == (0, ())
