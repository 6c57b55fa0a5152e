"""Weights that are 1 or 0 by default are drawn, too: a submission that ignores them is found."""

from pathlib import Path
from types import ModuleType

import pytest

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import PythonCall, Refusal
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.oracle.judging.find_op import find
from kfuzz.ui.targets.judge_file import judge_file

FOLDER = Path(__file__).parents[3] / "data" / "weights"
MOST = 300
RIGHT_TRIALS = 6


def kernel_for(submission: Path, problem: Path = FOLDER / "problem.py") -> Kernel:
    return kernel_with(submission, Unclaimed(op="reference", reference=problem))


def trial_of(kernel: Kernel, device: PythonDevice, seed: int, index: int) -> Trial:
    attempt = attempt_of(kernel, seed, index, 1 << 12)
    return run_trial(kernel, attempt.case, attempt.tune, device, probe_of(kernel, seed, index, 2, 10.0))


def first_error(kernel: Kernel, device: PythonDevice, seed: int) -> Trial:
    trials = (trial_of(kernel, device, seed, index) for index in range(MOST))
    return next(trial for trial in trials if trial.errors)


def set_of(trial: Trial) -> int:
    return int(trial.case.arrays["weights"][0])


@pytest.mark.soak
@pytest.mark.parametrize("left_out", ["weight", "bias"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_submission_that_ignores_a_default_weight_is_found_from_every_seed(left_out: str, seed: int) -> None:
    pytest.importorskip("torch")
    kernel, device = kernel_for(FOLDER / f"wrong_without_{left_out}.py"), PythonDevice()
    try:
        first = first_error(kernel, device, seed)
    finally:
        device.close()
    assert set_of(first) > 0, "by its own weights it is right"


@pytest.mark.slow
def test_a_submission_is_judged_with_drawn_weights_if_it_has_those_of_its_problem(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = (FOLDER / "right.py").read_text()
    (tmp_path / "named.py").write_text(text.replace("self.norm", "self.group"))
    filled = "groups, 8)\n        self.norm.weight.data.fill_(1)"
    (tmp_path / "filled.py").write_text(text.replace("groups, 8)", filled))
    right, device = kernel_for(FOLDER / "right.py"), PythonDevice()
    try:
        first = first_error(kernel_for(FOLDER / "wrong_without_bias.py"), device, 1)
        assert f"with drawn weights, weights = {set_of(first)}: norm.weight, norm.bias" in first.errors[0].message
        trials = [trial_of(right, device, 1, index) for index in range(RIGHT_TRIALS)]
        assert {0} < {set_of(trial) for trial in trials} <= {0, 1, 2}
        assert not [defect for trial in trials for defect in trial.defects]
        assert all(sum(trial.elements for trial in trials if bool(set_of(trial)) is drawn) for drawn in (False, True))
        for name, lacks in (("named", "no norm.weight"), ("filled", "another norm.weight")):
            kernel = kernel_for(tmp_path / f"{name}.py")
            refusals = [f"ModelNew has {lacks}: kfuzz cannot draw its weights"]
            wanted, judged = set[int](), set[bool]()
            for index in range(RIGHT_TRIALS):
                trial = trial_of(kernel, device, 1, index)
                wanted.add(drawn := int(attempt_of(kernel, 1, index, 1 << 12).case.arrays["weights"][0]))
                words = [one.words for one in trial.reasons if isinstance(one, Refusal)]
                assert words == (refusals if drawn else [])
                assert set_of(trial) == 0
                judged |= {bool(drawn)} if trial.elements else set()  # of four numbers from 50 to -1e30 none is
                assert not trial.defects
            assert {0} < wanted
            assert judged == {False, True}, "it is judged with its own weights"
    finally:
        device.close()


@pytest.mark.slow
def test_an_answer_with_weights_of_other_names_is_kept_with_its_own_and_a_wrong_one_is_not(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = (FOLDER / "right.py").read_text().replace("self.norm", "self.group")
    texts = {"right": text, "wrong": text.replace("return ", "return 1.01 * ")}
    judged = {}
    for name, one in texts.items():
        (tmp_path / f"{name}.py").write_text(one)
        judged[name] = judge_file(tmp_path / f"{name}.py", FOLDER / "problem.py", sandbox=False)
    words = "with its own weights: ModelNew has no norm.weight: kfuzz cannot draw its weights"
    assert (judged["right"].status, judged["right"].finding) == ("kept", words)
    assert judged["wrong"].status == "broken"
    assert judged["wrong"].finding.endswith(f". It ran {words}.")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit_of_problem", "edit_of_answer", "sets"),
    [
        (("", ""), ("", ""), 3),
        (("nn.GroupNorm(groups, 8)", "nn.Identity()"), ("", ""), 0),  # no weight is 1 or 0
        (("", ""), ("class ModelNew(", "def forward(x):\n    return x\n\n\nclass Other("), 0),
    ],
)
def test_only_an_object_with_default_weights_has_drawn_ones(
    edit_of_problem: tuple[str, str], edit_of_answer: tuple[str, str], sets: int, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    text = (FOLDER / "problem.py").read_text()
    (tmp_path / "problem.py").write_text(text.replace(*edit_of_problem))
    (tmp_path / "answer.py").write_text((FOLDER / "right.py").read_text().replace(*edit_of_answer))
    kernel = kernel_for(tmp_path / "answer.py", tmp_path / "problem.py")
    assert len(find(kernel.op).weights.get("weights", ())) == sets
    assert ("weights" in kernel.roles.inputs) == bool(sets)
    call = kernel.launches[0].called
    assert isinstance(call, PythonCall)
    assert call.arguments == ("x",)


def test_a_model_with_many_weights_has_no_drawn_ones_beside_them() -> None:
    torch = pytest.importorskip("torch")
    declared = pytest.importorskip("kfuzz.claims.references.torch.declared")
    with_drawn_weights = pytest.importorskip("kfuzz.claims.references.torch.runnable").with_drawn_weights
    own = torch.nn.Linear(3000, 3000, device="meta")
    assert with_drawn_weights(ModuleType("problem"), "Model", own) == [own]
    with pytest.raises(declared.CannotError):  # the module has no Model of which it could make two more
        with_drawn_weights(ModuleType("problem"), "Model", torch.nn.Linear(2000, 2000, device="meta"))
