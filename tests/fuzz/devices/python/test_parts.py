"""A mean over a part of a sample is found, though the means of parts of plain noise hardly differ."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.case import Case
from kfuzz.cases.plans.home import home_of
from kfuzz.cases.plans.plan import plan_at
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Probe
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

FOLDER = Path(__file__).parents[3] / "data" / "parts"
TRIALS = 8
ONCE = Probe(runs=1, timeout=60.0)


def kernel_of(name: str) -> Kernel:
    return kernel_with(FOLDER / f"{name}.py", Unclaimed(op="reference", reference=FOLDER / "problem.py"))


def cases_at_home(kernel: Kernel) -> Iterator[Case]:
    for seed in range(TRIALS):
        yield plan_at(kernel, home_of(kernel), {}, random.Random(seed).randint).case  # noqa: S311  values, nothing secret


@pytest.mark.slow(10)
def test_a_mean_over_a_part_of_a_sample_is_found_at_home() -> None:
    pytest.importorskip("torch")
    wrong, right, device = kernel_of("wrong_mean_per_feature"), kernel_of("right"), PythonDevice()
    try:
        found = (run_trial(wrong, case, {}, device, ONCE) for case in cases_at_home(wrong))
        first = next(trial for trial in found if trial.errors)
        kept = run_trial(right, first.case, {}, device, ONCE)
    finally:
        device.close()
    assert kept.elements == first.elements
    assert not kept.defects
