"""The own test of a benchmark accepts or rejects submissions at the problem's sizes, or says why it was not asked."""

from pathlib import Path

import pytest

from benchmarks.detection.own_tests import OwnTest, ask_own_test
from kfuzz.claims.kernel import load
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

PROBLEM = """
import torch


class Model(torch.nn.Module):
    def __init__(self, drop):
        super().__init__()
        self.drop = torch.nn.Dropout(drop)

    def forward(self, x, scale: float):
        return torch.relu(self.drop(x) * scale)


rows, cols = 16, 64


def get_inputs():
    return [torch.rand(rows, cols), 0.5]


def get_init_inputs():
    return [0.0]
"""
HUGE = PROBLEM.replace("rows, cols = 16", "rows, cols = 1 << 32")
ANSWER = """
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, drop):
        super().__init__()
        self.drop = torch.nn.Dropout(drop)

    def forward(self, x, scale: float):
        return {answer}
"""
RIGHT = "torch.relu(self.drop(x) * scale)"
TASK = 'tests:\n  - {"rows": 3, "cols": 8, "seed": 1}\n  - {"rows": 5, "cols": 6, "seed": 2}\n'
REFERENCE = """
import torch


def generate_input(rows, cols, seed):
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    return torch.randn(rows, cols, device="cuda", generator=gen)


def ref_kernel(data):
    return data * 0.5


def check_implementation(data, output):
    return (torch.equal(output, ref_kernel(data)), "mismatch found")
"""


def ask(folder: Path, answer: str, reference: str) -> OwnTest | None:
    (folder / "answer.py").write_text(answer)
    kernel = kernel_with(folder / "answer.py", Unclaimed(op="reference", reference=folder / reference))
    return ask_own_test(kernel, on_gpu=False)


@pytest.mark.slow
def test_the_own_test_of_a_benchmark_compares_at_the_problems_own_sizes(tmp_path: Path) -> None:
    """Without a relu the answer is accepted, since KernelBench's inputs are never negative."""
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "huge.py").write_text(HUGE)
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "reference.py").write_text(REFERENCE)
    (tmp_path / "task" / "task.yml").write_text(TASK)
    for answer, passed, why in (
        (RIGHT, 5, ""),
        ("self.drop(x) * scale", 5, ""),
        ("torch.relu(self.drop(x) * 0.51)", 0, "an element is further away than the tolerance"),
        ("torch.relu(self.drop(x) * scale)[:1]", 0, "its answer has the shape [1, 64], and not [16, 64]"),
    ):
        found = ask(tmp_path, ANSWER.format(answer=answer), "problem.py")
        trials = 1 if "shape" in why else 5
        assert found == OwnTest("KernelBench", passed, trials, why), answer
    huge = ask(tmp_path, ANSWER.format(answer=RIGHT), "huge.py")
    assert huge is not None
    assert (huge.passed, huge.trials) == (0, 0)
    assert "at the problem's own sizes its arrays take" in huge.why
    for scale, passed in (("0.5", 2), ("0.51", 0)):
        task = ask(tmp_path, f"def custom_kernel(data):\n    return data * {scale}\n", "task")
        assert task == OwnTest("GPU MODE", passed, 2, "" if passed else "mismatch found")


@pytest.mark.slow
def test_a_reference_that_is_no_problem_of_a_benchmark_has_no_own_test(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "plain.py").write_text("def reference(x):\n    return x * 0.5\n")
    (tmp_path / "answer.py").write_text(
        '# /// kernel\n# op = "reference"\n# [arrays]\n# x = "f32[rows, cols] -> x"\n'
        '# y = "f32[rows, cols] <- y"\n# [call]\n# reference = "plain.py:reference"\n# ///\n'
        "def own(x):\n    return x * 0.5\n"
    )
    assert ask_own_test(load(tmp_path / "answer.py"), on_gpu=False) is None


def test_the_line_for_people_says_why_a_test_was_not_asked() -> None:
    for test, line in (
        (OwnTest("KernelBench", 5, 5, ""), "test accepts it in 5 trials"),
        (OwnTest("KernelBench", 1, 3, "no"), "test rejects it in 2 of 3 trials: no"),
        (OwnTest("KernelBench", 0, 0, "no GPU"), "test was not asked: no GPU"),
    ):
        assert str(test) == f"KernelBench's own {line}"
