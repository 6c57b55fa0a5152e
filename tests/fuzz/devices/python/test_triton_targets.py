"""The code of a Triton file for two targets: a finding names both, and a right kernel is right on both."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from paths import DATA
from small_callables import X

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.case import case_of
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import Job, MissingError, Outcome, Probe
from kfuzz.devices.python.device import PythonDevice
from kfuzz.devices.targets import TargetOptions
from kfuzz.kinds import Kind

pytest.importorskip("torch")
pytest.importorskip("triton.language.target_info")
pytestmark = pytest.mark.slow(5)
TRITON = DATA / "callables" / "triton"
TRIALS = 40
COMPILED: Kind = "compiled-otherwise"
COMPARING = Probe(runs=2, options=(TargetOptions(compares=True),))
RIGHT = (
    "softmax_of_two_targets",
    "softmax",
    "matmul",
    "row_sum_by_own_descriptors",
    "row_sum_by_locks",
    "gluon_row_sum",
)
ROW_SUM = """import torch
import triton
import triton.language as tl

{at_import}


@triton.jit
def kernel(y, x, cols, more, N: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * cols + j, mask=j < cols, other=0.0)
    tl.store(y + row, tl.sum(v) + more)


def forward(x):
    y, more = torch.empty(x.shape[0]), 0.0
    capability = torch.cuda.get_device_capability()
    {in_call}
    kernel[(x.shape[0],)](y, x, x.shape[1], more, 16)
    return y
"""


class Noting(PythonDevice):
    """Notes for which targets the code has run, and which it had no answer for."""

    def __init__(self) -> None:
        super().__init__()
        self.ran, self.refused = list[str](), list[str]()

    def run(self, job: Job, probe: Probe) -> Outcome:
        outcome = super().run(job, probe)
        if job.through:
            (self.ran if outcome.runs else self.refused).append(job.through)
        return outcome


@pytest.fixture(scope="module")
def opened() -> Iterator[Noting]:
    device = Noting()
    yield device
    device.close()


@pytest.fixture
def device(opened: Noting) -> Noting:
    opened.ran, opened.refused = [], []
    return opened


def compared_trials(kernel: Kernel, device: PythonDevice, seed: int) -> Iterator[Trial]:
    """Those of a campaign that run the code for a second target."""
    for index in range(TRIALS):
        probe = probe_of(kernel, seed, index, 3, 3.0)
        if probe.option(TargetOptions).compares:
            attempt = attempt_of(kernel, seed, index)
            yield run_trial(kernel, attempt.case, attempt.tune, device, probe)


def trial_of(folder: Path, device: PythonDevice, in_call: str = "pass", at_import: str = "") -> Trial:
    path = folder / "mine.py"
    text = ROW_SUM.format(in_call=in_call, at_import=at_import)
    path.write_text(f'# /// kernel\n# op = "row_sum"\n# call = {{ entry = "forward" }}\n# ///\n{text}')
    try:
        return run_trial(load(path), case_of("row_sum", {"x": X}), {}, device, COMPARING)
    except MissingError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("when", "wrong"), [("before", "sm_80"), ("since", "sm_90")])
def test_what_is_wrong_on_one_target_is_found_from_any_seed(when: str, wrong: str, seed: int, device: Noting) -> None:
    kernel = load(TRITON / f"wrong_softmax_of_halves_{when}_sm_90.py")
    right = {"sm_80": "sm_90", "sm_90": "sm_80"}[wrong]
    for trial in compared_trials(kernel, device, seed):
        for one in (one for one in trial.errors if one.kind == COMPILED):
            assert f"; the code for {right} gives " in one.message
            assert f", which is right; that for {wrong} gives " in one.message
            return
    pytest.fail("nothing was found")


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_is_right_on_both_targets(name: str, device: Noting) -> None:
    found = list(compared_trials(load(TRITON / f"{name}.py"), device, 1))
    assert [defect.bucket for trial in found for defect in trial.defects] == []
    other = "sm_100" if name == "gluon_row_sum" else "sm_80"  # an A100 has no TMA, and Gluon writes no other code
    assert set(device.ran) == {other}
    assert len(device.ran) >= 4  # of six, as what is not judged says nothing of either


BEFORE_9 = {
    "in the call": ("if capability < (9, 0):\n        more = 1.0", ""),
    "when it is imported": (
        "more = MORE",
        "MORE = float(triton.runtime.driver.active.get_current_target().arch < 90)",
    ),
}


@pytest.mark.parametrize("when", BEFORE_9)
def test_what_a_file_does_by_its_gpu_is_to_be_right(when: str, device: Noting, tmp_path: Path) -> None:
    found = trial_of(tmp_path, device, *BEFORE_9[when])
    assert [(one.severity, one.kind) for one in found.defects] == [("error", COMPILED)]
    assert device.ran == ["sm_80", "sm_80", "sm_90", "sm_90"]


REFUSALS = {
    "an argument": "if capability != (9, 0):\n        raise ValueError('Hopper alone')",
    "an assertion": "assert capability == (9, 0)",
    "an error": "if capability != (9, 0):\n        raise RuntimeError('no code for this GPU')",
    "the end of the process": "if capability != (9, 0):\n        import os; os._exit(1)",
    "an answer without a launch": "if capability != (9, 0):\n        return torch.ones(x.shape[0])",
}


@pytest.mark.parametrize("how", REFUSALS)
def test_a_refusal_on_other_targets_says_nothing(how: str, device: Noting, tmp_path: Path) -> None:
    found = trial_of(tmp_path, device, f"{REFUSALS[how]}\n    more = float(capability != (9, 0))")
    assert (found.defects, found.elements) == ((), 3)
    assert device.refused == ["sm_80", "sm_100"] or device.ran == ["sm_80", "sm_100"]


def test_code_that_is_not_for_an_older_gpu_runs_for_a_newer_one(device: Noting, tmp_path: Path) -> None:
    cut = "assert capability != (8, 0)\n    more = float(capability == (10, 0))"
    found = trial_of(tmp_path, device, cut)
    assert [one.kind for one in found.defects] == [COMPILED]
    assert "; the code for sm_90 gives " in found.defects[0].message
    assert ", which is right; that for sm_100 gives " in found.defects[0].message


def test_a_run_for_another_target_changes_nothing_for_later_calls(tmp_path: Path) -> None:
    (tmp_path / "counted.py").write_text("CALLS = []\n")
    path = tmp_path / "mine.py"
    path.write_text(
        '# /// kernel\n# op = "row_sum"\n# ///\nimport counted\nimport numpy as np\n\n\ndef f(x):\n'
        "    counted.CALLS.append(1)\n    return np.full(len(x), len(counted.CALLS), np.float32)\n"
    )
    job = load(path).bind(case_of("row_sum", {"x": X}).arrays, {}).job

    def answers(*ways: str) -> list[float]:
        opened = PythonDevice()
        try:
            outcomes = [opened.run(replace(job, through=way), Probe(runs=1)) for way in ways]
        finally:
            opened.close()
        return [float(np.asarray(one.runs[0].outputs["y"])[0]) for one in outcomes]

    first, apart, second, apart_again = answers("", "sm_80", "", "sm_80")
    assert first == apart == 1.0
    assert min(second, apart_again) > 1.0
