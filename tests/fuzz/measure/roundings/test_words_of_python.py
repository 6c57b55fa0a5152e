"""Options for a Python file without a claim: ops in files, and several values of an argument."""

from pathlib import Path

import pytest

from kfuzz.devices import ClaimError
from kfuzz.measure.roundings.guess_host import FunctionWords
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

OP = """
from kfuzz.oracle.systems.value import Quantity, System

INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows]"}


def formula(N: System, x: Quantity) -> Quantity:
    return N.sum(x, "sum")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: `ops/mine.py` is an op, and `code/f.py` a file of another folder."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("ops/mine.py", OP), ("code/f.py", "def f(x):\n    return x.sum(1)\n")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    return tmp_path


def test_an_op_in_a_file_lies_in_the_working_folder(folder: Path) -> None:
    kernel = kernel_with(Path("code/f.py"), Unclaimed("./ops/mine.py"))
    assert kernel.op == str(folder / "ops/mine.py")


@pytest.mark.parametrize("rest", ["", 'arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }\n'])
def test_an_op_of_a_claim_lies_beside_the_claim(rest: str, folder: Path) -> None:
    (folder / "ops/claim.toml").write_text(f"op = './mine.py'\n{rest}")
    kernel = kernel_with(Path("code/f.py"), Unclaimed(claim=Path("ops/claim.toml")))
    assert kernel.op == str(folder / "ops/mine.py")


def test_a_file_that_is_no_op_is_one_line(folder: Path) -> None:
    with pytest.raises(ClaimError, match=r"code/f.py: op='.*ops/none.py': no such file"):
        kernel_with(Path("code/f.py"), Unclaimed("ops/none.py"))


def test_an_argument_of_a_python_function_takes_negative_values_in_turn(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_text("def f(x, dim):\n    return x.sum(dim)\n")
    kernel = kernel_with(path, Unclaimed("row_sum", FunctionWords(arguments={"dim": ("1", "-1")})))
    assert kernel.tune == {"dim": (1, -1)}
