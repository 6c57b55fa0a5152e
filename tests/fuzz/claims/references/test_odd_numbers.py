"""Infinities in an input in which get_inputs makes none: a warning at most, and only where they count."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kfuzz.claims.references.running import frozen, sets_at, sets_of_run
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.oracle import Accuracy, Special, judge
from kfuzz.oracle.numbers.elements import F32
from kfuzz.oracle.op.answer_sets import Asked
from kfuzz.oracle.sets.reference_sets import Grade

torch = pytest.importorskip("torch")
TWINS = "kfuzz.claims.references.torch.twins"
Answered = pytest.importorskip(f"{TWINS}.three_runs").Answered
reference_sets = pytest.importorskip(f"{TWINS}.as_arrays").reference_sets
INFINITE = float("-inf")
REFERENCE = """\
import torch


def reference(x, mask):
    return torch.softmax(x + mask, -1)


def get_inputs():
    rows, cols = 4, 8
    mask = torch.zeros(rows, cols)
    mask[0, 1] = {value}
    return [torch.randn(rows, cols), mask]
"""


def kernel_of(folder: Path, value: str) -> Any:  # noqa: ANN401  a kernel
    """A kernel with a reference whose get_inputs puts this value into its mask."""
    (folder / "softmax.py").write_text(REFERENCE.replace("{value}", value))
    (folder / "answer.py").write_text(
        "import torch\n\n\ndef answer(x, mask):\n    return torch.softmax(x + mask, -1)\n"
    )
    return kernel_with(folder / "answer.py", Unclaimed(op="reference", reference=folder / "softmax.py"))


def grades_of_nan(kernel: Any, x: Any, mask: Any) -> list[set[int]]:  # noqa: ANN401  arrays
    """The grades of each row of an answer of nothing but NaN."""
    (one,) = sets_of_run(str(kernel.op), frozen({"x": x, "mask": mask}), "", "").values()
    return [set(map(int, row)) for row in one.grade(np.full(x.shape, np.nan), F32)]


@pytest.mark.slow
@pytest.mark.parametrize("value", ["0.5", "-torch.inf"])
def test_an_infinity_is_judged_where_get_inputs_makes_one_at_this_input(value: str, tmp_path: Path) -> None:
    """A softmax of blocks gave NaN for a row that begins with -inf, in a problem that has no mask: it was broken."""
    kernel = kernel_of(tmp_path, value)
    numbers, mask = np.random.default_rng(1).normal(size=(2, 8)).astype(np.float32), np.zeros((2, 8), np.float32)
    infinite = mask.copy()
    infinite[0, :4] = INFINITE
    assert grades_of_nan(kernel, numbers, mask) == [{Grade.BROKEN}] * 2
    assert grades_of_nan(kernel, numbers + infinite, mask) == [{Grade.SUSPECT}, {Grade.BROKEN}]
    first = Grade.SUSPECT if value == "0.5" else Grade.BROKEN
    assert grades_of_nan(kernel, numbers, infinite) == [{first}, {Grade.BROKEN}]


@pytest.mark.slow
def test_inputs_of_gigabytes_are_never_made_to_describe_a_reference(tmp_path: Path) -> None:
    """A ReLU of 4096 x 393216 was refused: to see that torch.rand is finite took the time that it has."""
    made = str(tmp_path / "made")
    is_made = "type(x) is torch.Tensor and not x.is_meta and x.numel() > 1 << 25"
    made = f"    if {is_made}:\n        open({made!r}, 'w').close()\n"
    softmax = "import torch\n\n\ndef {}(x):\n    return torch.softmax(x, -1)\n\n\n"
    inputs = f"def get_inputs():\n    x = torch.randn(4096, 16384)\n{made}    return [x]\n"
    (tmp_path / "softmax.py").write_text(softmax.format("reference") + inputs)
    (tmp_path / "answer.py").write_text(softmax.format("answer"))
    kernel = kernel_with(tmp_path / "answer.py", Unclaimed(op="reference", reference=tmp_path / "softmax.py"))
    assert 4096 in kernel.home.values()
    assert not (tmp_path / "made").exists()


@pytest.mark.slow
def test_a_nan_beside_an_odd_number_is_suspect_and_a_wrong_number_broken(tmp_path: Path) -> None:
    """An attention of blocks multiplied an infinity by a masked 0, and had NaN in a row that has no key: it was broken.

    So did x.cumsum(1) as the sum of all less that of the others, before an infinity.
    """
    kernel = kernel_of(tmp_path, "0.5")
    x, mask = np.zeros((2, 8), np.float32), np.zeros((2, 8), np.float32)
    x[0, :4] = INFINITE
    right = np.float32([[0] * 4 + [0.25] * 4, [0.125] * 8])
    for row, wrong, status in ((0, np.nan, "suspect"), (1, np.nan, "suspect"), (1, 0.25, "broken")):
        got = right.copy()
        got[row] = wrong
        assert judge(kernel.op, {"x": x, "mask": mask}, {"y": got}, Accuracy(), Special()).status == status
    for special, is_odd in ((Special(), True), (Special(nan="row"), False)):
        asked = Asked({"x": x, "mask": mask}, {"y": F32}, {}, Accuracy(), special)
        odd = sets_at(str(kernel.op), asked)["y"].enclosure.anything
        assert (odd is not None and bool(odd.any())) == is_odd


@pytest.mark.parametrize(
    "function",
    [
        torch.relu,
        lambda x: x.clamp(0, 1),
        lambda x: torch.where(x > 0, x, 0.0),
        lambda x: x.softmax(-1),
        lambda x: x.logsumexp(-1, keepdim=True).expand_as(x),
        lambda x: x.amax(-1, keepdim=True) > x,
        lambda x: x @ torch.ones(4, 4),
        lambda x: x.cummax(-1).values,
    ],
)
@pytest.mark.parametrize("value", [INFINITE, -INFINITE, float("nan")])
def test_an_infinity_counts_where_another_number_would_give_another_answer(function: Any, value: float) -> None:  # noqa: ANN401
    x = torch.arange(12.0).reshape(3, 4).cos()
    x[1, 0] = value
    (one,), (plain,) = (reference_sets(Answered(function, [x]), places) for places in ([0], []))
    assert plain.is_odd is None
    wrong = 1 - one.x if one.is_truth else np.full(one.x.shape, np.nan)
    assert one.grade(wrong, None)[1, 0] != Grade.BROKEN
    assert not one.is_odd[[0, 2]].any()
    assert (one.grade(wrong, None)[[0, 2]] == Grade.BROKEN).all()


def test_what_python_makes_of_an_infinity_is_odd_everywhere() -> None:
    def reference(x: Any) -> Any:  # noqa: ANN401  a tensor
        return x if float(x.max()) > 1 else -x

    (one,) = reference_sets(Answered(reference, [torch.tensor([1.0, float("inf")])]), [0])
    assert one.is_odd is None or one.is_odd.all()


VAST = """import torch

rows, cols = 4096, 393216


def reference(x, mask):
    return torch.relu(x) + mask


def get_inputs():
    if rows * cols > 1 << 24 and torch.empty(0).device.type == "cpu":
        raise MemoryError("12 GB")
    mask = torch.zeros(rows, cols)
    mask[:, 0] = -torch.inf
    return [torch.randn(rows, cols), mask]
"""


@pytest.mark.slow
def test_vast_inputs_are_looked_at_where_they_are_smaller(tmp_path: Path) -> None:
    """19_ReLU of KernelBench took 50 s for that, and was refused: to try its sizes took more than 20 s."""
    (tmp_path / "problem.py").write_text(VAST)
    asked = {"path": str(tmp_path / "problem.py"), "source": VAST, "reference": "reference", "inputs": {}, "task": ""}
    describing = pytest.importorskip("kfuzz.claims.references.torch.describing")
    answer = describing.described({**asked, "axes": {}, "title": "problem", "are_floats_free": True})
    assert answer["home"] == {"rows": 4096, "cols": 393216}, answer
    assert answer["run"]["finite"] == ["x"]


@pytest.mark.parametrize(
    "function",
    [
        torch.relu,
        lambda x: torch.sigmoid(torch.nn.functional.gelu(x)),
        lambda x: torch.nn.functional.hardtanh(16 * x * torch.sigmoid(16 * x)),
    ],
    ids=["neither", "gelu of an infinity", "overflow before a bound"],
)
def test_a_nan_that_torch_itself_gives_is_in_the_set(function: Any) -> None:  # noqa: ANN401  a function
    """gelu of an infinity is NaN in torch's vectors of float32, and 0 times what overflows is none in float64."""
    x = torch.tensor([-INFINITE, 0.5, -3e38]).repeat_interleave(64)
    own = function(x).double().numpy()
    (one,) = reference_sets(Answered(function, [x]))
    assert set(one.grade(own, F32)) <= {Grade.KEPT, Grade.UNJUDGED}
    wrong = one.grade(np.full(own.shape, np.nan), F32).reshape(3, 64)
    assert (wrong[1] == Grade.BROKEN).all()
