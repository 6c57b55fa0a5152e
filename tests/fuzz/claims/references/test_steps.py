"""`kfuzz show problem.py`: the steps of one run of a torch reference, and which of them moves the answer most."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from kfuzz.ui.commands.show import show
from kfuzz.ui.reports.show_steps import steps_text

pytestmark = pytest.mark.slow
PROBLEM = """import torch


def reference(x, w):
    scale = 0.25
    y = torch.relu(x) * scale
    y[:, 0] = 1.0
    return {last}


def get_inputs():
    return [torch.randn(8, 16), torch.randn(16, 12)]
"""


def shown(tmp_path: Path, last: str) -> list[str]:
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(PROBLEM.replace("{last}", last))
    made = CliRunner().invoke(show, [str(tmp_path / "problem.py")])
    assert made.exit_code == 0, made.output
    return made.output.splitlines()


def test_each_step_has_its_line_its_radius_and_how_far_it_moves_the_answer(tmp_path: Path) -> None:
    lines = shown(tmp_path, "y @ w + 1.0")
    steps = [line for line in lines if line.startswith("problem.py:")]
    assert [line.split()[0] for line in steps] == ["problem.py:6"] * 2 + ["problem.py:7"] + ["problem.py:8"] * 2
    assert all("exact" in line for line in steps[:3])
    assert all("exact" not in line and "float32[8, 12]" in line for line in steps[3:])
    assert "comes from problem.py:8 y @ w" in lines[-1]


def test_of_a_reference_that_rounds_nothing_no_step_is_named(tmp_path: Path) -> None:
    assert shown(tmp_path, "y")[-1] == "no step rounds anything"


@pytest.mark.parametrize(
    ("last", "words"),
    [("y.to('meta')", "y is on the device meta"), ("y * __import__('random').random()", "draws random numbers out")],
)
def test_a_reference_that_can_never_be_judged_has_no_steps(last: str, words: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(PROBLEM.replace("{last}", last))
    assert words in str(CliRunner().invoke(show, [str(tmp_path / "problem.py")]).exception)


def test_a_file_without_a_reference_is_asked_for_its_claim(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("def softmax(x):\n    return x\n")
    assert "no front matter" in str(CliRunner().invoke(show, [str(tmp_path / "plain.py")]).exception)


def test_a_long_expression_is_cut() -> None:
    step = {"place": "p.py:1", "text": "x + " * 40, "operation": "add", "result": "float32[1]", "moves": 1.0}
    assert "..." in steps_text("it", [{**step, "least": 0.0, "greatest": 1.0, "radius": 1e-7}])
