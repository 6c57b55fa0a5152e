"""A function that refuses most sizes is judged at the shape that it was written for, and near it."""

from collections import deque
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from row_sums import RowSums, sum_kernel

from kfuzz.campaign.campaign import run_campaign
from kfuzz.campaign.events import Event, Tried
from kfuzz.campaign.options import Options
from kfuzz.campaign.schedule import AGAIN, AT_HOME, NEAR_HOME, attempt_of
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Job, Outcome, Probe, Refusal

HOME = {"rows": 24, "cols": 48}


class PickySums(RowSums):
    """A device of a function that only takes rows of 48 elements; as all of a campaign, it accepts jobs ahead."""

    def __init__(self) -> None:
        self.taken: list[tuple[int, ...]] = []
        self._asked: deque[tuple[Job, Probe]] = deque()

    def seen(self, given: NDArray[np.float64]) -> NDArray[np.float64] | Outcome:
        if given.shape[-1] != HOME["cols"]:
            return Outcome(refusal=Refusal(f"ValueError: {given.shape[-1]} columns", 3))
        self.taken.append(given.shape)
        return given

    def ask(self, job: Job, probe: Probe) -> None:
        self._asked.append((job, probe))

    def answer(self) -> Outcome:
        return self.run(*self._asked.popleft())

    def forget(self) -> None:
        self._asked.clear()


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return sum_kernel(tmp_path, "# [call]\n# home = { rows = 24, cols = 48 }\n")


def test_each_trial_of_a_function_that_refuses_most_sizes_is_judged(kernel: Kernel) -> None:
    device, rows = PickySums(), []

    def listen(event: Event) -> None:
        if isinstance(event, Tried):
            rows.append(event.rows)

    (result,) = run_campaign([kernel], lambda: device, Options(seed=5, max_cases=12), listen).kernels
    assert result.progress.rows >= 12 * 24 // 2, rows
    assert {shape[0] for shape in device.taken} > {HOME["rows"]}, "other numbers of rows are tried, too"


def test_a_trial_near_home_has_at_least_one_size_of_home(kernel: Kernel) -> None:
    for index in range(20):
        near, home = (
            kernel.axes_of(attempt_of(kernel, 3, index + draw * AGAIN).case.arrays) for draw in (NEAR_HOME, AT_HOME)
        )
        assert home == HOME
        assert near.items() & HOME.items()
