"""A model is judged in the mode in which its problem leaves it: KernelBench's train, since nothing calls eval()."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import ClaimError, PythonCall
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

FOLDER = Path(__file__).parents[3] / "data" / "train_mode"
TRIALS = 4
PROBLEM = (FOLDER / "problem.py").read_text(encoding="utf-8")


def kernel_for(submission: Path, problem: Path) -> Kernel:
    return kernel_with(submission, Unclaimed(op="reference", reference=problem))


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    """One device for all tests: its process imports torch."""
    pytest.importorskip("torch")
    made = PythonDevice()
    yield made
    made.close()


def kinds_of(kernel: Kernel, device: PythonDevice) -> set[str]:
    """The kinds of defects of a few trials."""
    attempts = [(index, attempt_of(kernel, 3, index, 1 << 12)) for index in range(TRIALS)]
    found = [run_trial(kernel, one.case, one.tune, device, probe_of(kernel, 3, index, 2, 10.0))
             for index, one in attempts]  # fmt: skip
    assert sum(trial.elements for trial in found) > 0
    return {defect.kind for trial in found for defect in trial.defects}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("submission", "is_eval", "is_wrong"),
    [("right", False, False), ("wrong_by_running_values", False, True), ("wrong_by_running_values", True, False)],
)
def test_a_batch_norm_uses_its_batch_unless_the_problem_calls_eval(
    submission: str, is_eval: bool, is_wrong: bool, tmp_path: Path, device: PythonDevice
) -> None:
    (tmp_path / "problem.py").write_text(
        PROBLEM.replace("Dropout(p=0.0)\n", "Dropout(p=0.5)\n        self.eval()\n") if is_eval else PROBLEM
    )
    kernel = kernel_for(FOLDER / f"{submission}.py", tmp_path / "problem.py")
    assert bool(kinds_of(kernel, device)) == is_wrong


@pytest.mark.slow
def test_a_submission_stays_in_train_mode_and_an_object_under_an_op_does_not(
    tmp_path: Path, device: PythonDevice
) -> None:  # fmt: skip
    file = tmp_path / "own.py"
    file.write_text(
        "from torch import nn\nclass ModelNew(nn.Module):\n"
        "    def __init__(self, *sizes):\n        super().__init__()\n        self.drop = nn.Dropout(0.5)\n"
        "    def forward(self, x):\n        assert not self.training\n        return nn.functional.silu(self.drop(x))\n"
    )
    kernel = kernel_with(file, Unclaimed(op="silu"))
    assert kinds_of(kernel, device) == set()
    call = kernel_for(file, FOLDER / "problem.py").launches[0].called
    assert isinstance(call, PythonCall)
    assert call.as_made


@pytest.mark.slow
def test_a_problem_that_draws_is_refused_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(PROBLEM.replace("p=0.0", "p=0.5"))
    with pytest.raises(ClaimError) as refused:
        kernel_for(FOLDER / "right.py", tmp_path / "problem.py")
    assert re.search(r"Model in .*: not judged: .* draws random numbers \(torch's \w+\), so its", str(refused.value))
    assert "\n" not in str(refused.value)


def replaced(torch: Any) -> Any:  # noqa: ANN401  a module
    """A layer whose drawn weights are replaced, as in a task of GPU MODE."""
    made = torch.nn.Linear(4, 4)
    made.weight, made.bias = torch.nn.Parameter(torch.eye(4)), torch.nn.Parameter(torch.zeros(4))
    return made


DRAWS: dict[str, Callable[[Any, Any], Any]] = {
    "bernoulli_": lambda torch, x: torch.nn.functional.dropout(x),
    "randint": lambda torch, x: x[torch.randint(0, 2, (2,))],
    "randn": lambda torch, x: x + torch.randn(4),
    " ": lambda torch, x: replaced(torch)(x),
    "": lambda torch, x: torch.nn.functional.dropout(x, 0.5, training=False) + torch.nn.functional.dropout(x, 0.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("op", DRAWS)
def test_a_run_that_draws_is_refused_at_its_line(op: str) -> None:
    torch = pytest.importorskip("torch")
    twins = pytest.importorskip("kfuzz.claims.references.torch.twins.three_runs")
    declared = pytest.importorskip("kfuzz.claims.references.torch.declared")
    try:
        _ = twins.Answered(lambda x: (DRAWS[op](torch, x),), [torch.ones(3, 4)], __file__).sets
    except declared.DrawsError as error:
        assert f"{Path(__file__).name}:" in str(error)  # noqa: PT017  without an operation there is no error
        assert f"torch's {op})" in str(error)  # noqa: PT017
    else:
        assert not op.strip()


@pytest.mark.slow
def test_what_is_unknown_for_its_size_does_not_follow_from_drawn_weights_that_are_replaced() -> None:
    torch = pytest.importorskip("torch")
    twins = pytest.importorskip("kfuzz.claims.references.torch.twins.three_runs")
    x = torch.tensor([[1.0, 2.0, 3e38, 4.0]])
    (made,) = twins.Answered(lambda x: (replaced(torch)(x) * 2.0,), [x], __file__).sets
    assert made.proved.isinf().tolist() == [[False, False, True, False]]


@pytest.mark.slow
def test_a_batch_norm_begins_each_call_with_its_own_running_values() -> None:
    torch = pytest.importorskip("torch")
    declared = pytest.importorskip("kfuzz.claims.references.torch.declared")
    model = declared.forgetful(torch.nn.BatchNorm1d(3))
    model(torch.arange(6.0).reshape(2, 3))
    assert model.training
    assert model.running_mean.tolist() == [0.0] * 3
    assert model.num_batches_tracked == 0
