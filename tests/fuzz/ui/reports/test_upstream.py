"""An issue for a library's authors stands alone: its program prints the wrong answer without kfuzz."""

import contextlib
import io
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kfuzz.campaign.trials.defect import Defect, Scene
from kfuzz.campaign.trials.replay import Replay
from kfuzz.cases import corpus
from kfuzz.cases.case import Record, case_of
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.oracle.numbers.verdict import Worst
from kfuzz.ui.commands.group import main
from kfuzz.ui.commands.upstream import prints
from kfuzz.ui.reports.upstream import issue_text, numbers_text

CLAIM = '# /// kernel\n# op = "l2_norm"\n# arrays = { x = "f16[rows, cols] -> x", y = "f16[rows] <- y" }\n# ///\n'
ONE_LINE = "import numpy as np\n\n\ndef norm(x):\n    return np.linalg.norm(x, axis=-1)\n"
LONGER = """import numpy as np

AXIS = -1


def norm(x):
    squares = x * x
    return np.sqrt(squares.sum(AXIS, dtype=x.dtype))
"""
RECORD = Record(case_of("l2_norm", {"x": np.array([[0.0] * 7 + [-256.0]], np.float32)}))


def kernel_of(text: str, folder: Path) -> Kernel:
    (folder / "norm.py").write_text(CLAIM + text)
    return load(folder / "norm.py")


def replayed(got: float = float("inf"), count: int = 1) -> Replay:
    scene = Scene("norm", "norm.py", "one number", 1, {}, {}, False)
    worst = Worst("y", (0,), got, 256.0, 256.0, 256.0, "", "")
    defect = Defect(scene, "special", "error", "norm: special, not finite", "any", "y[0] is inf", worst=worst)
    return Replay("norm", "broken", 3, 3, (defect,) * count, {})


def output_of(program: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out, np.errstate(all="ignore"):
        exec(program, {})  # noqa: S102  it is the text that is tested
    return out.getvalue().strip()


@pytest.mark.parametrize(("text", "most"), [(ONE_LINE, 3), (LONGER, 20)], ids=["one expression", "several lines"])
def test_its_program_prints_the_wrong_answer_without_kfuzz(text: str, most: int, tmp_path: Path) -> None:
    issue = issue_text(kernel_of(text, tmp_path), RECORD, replayed())
    (program,) = re.findall(r"```python\n(.*?)\n```", issue, re.DOTALL)
    assert "kfuzz" not in program
    assert len(program.splitlines()) <= most
    assert output_of(program) == "inf"
    assert "| the exact value | 256.0 |" in issue
    assert re.search(r"^- numpy \d", issue, re.MULTILINE)


HIDDEN = (
    "import numpy as np\nexec('import math')\n\n\ndef norm(x):\n    return np.linalg.norm(x * math.cos(0), axis=-1)\n"
)
UNKNOWN = "import numpy as np\nexec('axis = -1')\n\n\ndef norm(x):\n    return np.linalg.norm(x, axis=axis)\n"


@pytest.mark.parametrize(("text", "count"), [(HIDDEN, 3), (UNKNOWN, 9)], ids=["a hidden import", "an unknown name"])
def test_its_program_has_all_names_that_the_expression_uses(text: str, count: int, tmp_path: Path) -> None:
    issue = issue_text(kernel_of(text, tmp_path), RECORD, replayed())
    (program,) = re.findall(r"```python\n(.*?)\n```", issue, re.DOTALL)
    assert len(program.splitlines()) == count
    assert output_of(program) == "inf"


@pytest.mark.parametrize(
    ("library", "device", "array"),
    [
        ("numpy", "cpu", "np.array([[1.0]], ml_dtypes.bfloat16)"),
        ("jax", "cpu", "jnp.array([[1.0]], jnp.bfloat16)"),
        ("torch", "cpu", "torch.tensor([[1.0]], dtype=torch.bfloat16)"),
        ("torch", "gpu", "torch.tensor([[1.0]], dtype=torch.bfloat16, device='cuda')"),
    ],
)
def test_an_array_is_made_by_its_own_library_where_the_answer_was_wrong(
    library: str, device: str, array: str, tmp_path: Path
) -> None:
    head, body = CLAIM.replace("f16", "bf16").split("# ///\n")
    (tmp_path / "norm.py").write_text(f'{head}# [call]\n# library = "{library}"\n# ///\n{body}{ONE_LINE}')
    record = Record(case_of("l2_norm", {"x": np.array([[1.0]], np.float32)}))
    assert f"x = {array}" in issue_text(load(tmp_path / "norm.py"), record, replayed(), device)


def test_kfuzz_knows_whether_a_program_prints_the_number() -> None:
    assert prints(["x = 2.0", "print(x / 4)"], 0.5)
    assert prints(["print(float('nan'))"], float("nan"))
    assert not prints(["print(0.25)"], 0.5)
    assert not prints(["print(unknown)"], 0.5)


@pytest.mark.parametrize("target", ["norm.py", "norm.py:norm"])
def test_a_file_without_a_claim_computes_the_op_of_the_case(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`no front matter` was the answer to a file that `kfuzz fuzz --op l2_norm` had found broken."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "norm.py").write_text("import numpy as np\n\n\ndef norm(x):\n    return np.abs(x).sum(axis=-1)\n")
    path = corpus.save(tmp_path / "found", Record(case_of("l2_norm", {"x": np.array([[3.0, 4.0]], np.float32)})))
    done = CliRunner().invoke(main, ["upstream", str(path), target, "--device", "cpu"])
    assert (done.exit_code, "| the exact value | 5.0 |" in done.stdout) == (0, True), done.output


def test_a_right_answer_a_cuda_kernel_and_a_trap_are_no_issues(tmp_path: Path) -> None:
    kernel = kernel_of(ONE_LINE, tmp_path)
    with pytest.raises(CaseError, match="there is nothing to report"):
        issue_text(kernel, RECORD, replayed(count=0))
    with pytest.raises(CaseError, match="is no Python file"):
        issue_text(load(next(KERNELS.glob("softmax/*.cu"))), RECORD, replayed())


@pytest.mark.parametrize("numbers", [[], [1.0], [[0.0] * 9 + [1.0]], [[2.0, 2.0, float("-inf")]] * 6])
def test_numbers_are_written_as_python_with_runs_as_products(numbers: list[object]) -> None:
    assert eval(numbers_text(numbers)) == numbers  # noqa: S307  it is the text that is tested
