"""An answer may reuse memory where its reference does, which may go by sizes; and it may be a number of numpy."""

from pathlib import Path

import pytest

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.guess_host import FunctionWords
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

pytestmark = pytest.mark.slow
REPEATED = """import torch


def repeated(x, y):
    return torch.cat([x] * y.shape[0]) if y.shape[0] > 1 else x


def always(x, y):
    return torch.cat([x] * y.shape[0]).clone() if y.shape[0] > 1 else x.clone()


def get_inputs():
    return [torch.randn(1, 6), torch.randn(3, 6)]
"""
MEAN = """import numpy as np
import torch


def mean(x):
    return np.mean(x.numpy())


def get_inputs():
    return [torch.rand(32)]
"""


def trials_of(folder: Path, text: str, entry: str, reference: str, count: int = 8) -> list[Trial]:
    """The first trials of a function beside another one of the same file."""
    pytest.importorskip("torch")
    for name in ("mine.py", "problem.py"):
        (folder / name).write_text(text, encoding="utf-8")
    problem = Path(f"{folder}/problem.py:{reference}")
    kernel = kernel_with(folder / "mine.py", Unclaimed("reference", FunctionWords(entry), reference=problem))
    device = PythonDevice()
    try:
        attempts = [attempt_of(kernel, 1, index) for index in range(count)]
        return [run_trial(kernel, one.case, one.tune, device, probe_of(kernel, 1, index, 2, 20.0))
                for index, one in enumerate(attempts)]  # fmt: skip
    finally:
        device.close()


@pytest.mark.parametrize(("entry", "reference", "kinds"), [
    ("repeated", "repeated", set()), ("repeated", "always", {"aliased"}),
])  # fmt: skip
def test_memory_that_the_reference_reuses_at_some_sizes_is_reused_rightly_there(
    tmp_path: Path, entry: str, reference: str, kinds: set[str]
) -> None:
    found = {defect.kind for one in trials_of(tmp_path, REPEATED, entry, reference) for defect in one.defects}
    assert found == kinds


def test_a_number_of_numpy_is_an_answer_of_one_element(tmp_path: Path) -> None:
    every = trials_of(tmp_path, MEAN, "mean", "mean", 4)
    assert all(not one.defects for one in every)
    assert sum(one.elements for one in every)
