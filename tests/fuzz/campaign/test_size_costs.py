"""A callable that compiles for each size: a campaign stays with few sizes, and says so."""

import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from row_sums import RowSums, sum_kernel

from kfuzz.campaign.campaign import run_campaign
from kfuzz.campaign.events import Event, Found
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import Result
from kfuzz.campaign.schedule import attempt_of, number_at_sizes_of, source_of_sizes
from kfuzz.campaign.size_costs import SizeCosts
from kfuzz.cases.case import numbers_in
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Outcome
from kfuzz.ui.reports.summary import size_costs_text


class Compiling(RowSums):
    """A device that sleeps at each new size; negative numbers it leaves out if it is `wrong`."""

    def __init__(self, seconds: float, wrong: bool = False) -> None:
        self.seconds, self.wrong = seconds, wrong
        self.sizes: list[tuple[int, ...]] = []

    def seen(self, given: NDArray[np.float64]) -> NDArray[np.float64] | Outcome:
        if given.shape not in self.sizes:
            time.sleep(self.seconds)
        self.sizes.append(given.shape)
        return np.where(given < 0, 0, given) if self.wrong else given


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return sum_kernel(tmp_path)


def spend(seconds: float, new: float, known: float) -> SizeCosts:
    """The trials of so many seconds of a campaign, without the seconds."""
    costs, passed = SizeCosts(), 0.0
    while passed < seconds:
        is_known = costs.is_due(seconds)
        costs.add(len(costs.new) + len(costs.known), is_known, known if is_known else new)
        passed += known if is_known else new
    return costs


def test_new_sizes_get_half_of_the_time_if_they_cost_seconds() -> None:
    """Of 60 seconds at 3 a size: 20 trials become 10 sizes and thousands of trials."""
    costs = spend(60.0, 3.0, 0.01)
    assert 9 <= len(costs.new) <= 12
    assert 2000 < len(costs.known) < 3100


def test_sizes_that_cost_little_or_nothing_are_never_spared() -> None:
    assert not spend(60.0, 0.5, 0.01).known  # there is time for 120 of them
    same = spend(60.0, 3.0, 2.9)  # what is slow at each call
    assert len(same.known) == 4
    assert len(same.new) == 17


def test_the_number_of_a_trial_says_whose_sizes_it_has(kernel: Kernel) -> None:
    number = number_at_sizes_of(7, 23)
    assert source_of_sizes(number) == 7
    assert source_of_sizes(23) is None
    first, other, own = (attempt_of(kernel, 5, one).case for one in (7, number, 23))
    assert other.axes == first.axes != own.axes
    values, others = (numbers_in(one.arrays["x"]) for one in (other, first))
    assert not np.array_equal(values, others, equal_nan=True)
    assert np.array_equal(values, numbers_in(attempt_of(kernel, 5, number).case.arrays["x"]), equal_nan=True)


def run(
    kernel: Kernel, device: Compiling, seconds: float | None, cases: int | None = None
) -> tuple[Result, list[Event]]:
    events: list[Event] = []
    options = Options(seed=3, max_time=seconds, max_cases=cases)
    return run_campaign([kernel], lambda: device, options, events.append), events


def test_a_campaign_stays_with_few_sizes_that_cost_much(kernel: Kernel) -> None:
    device = Compiling(0.04)
    result, _ = run(kernel, device, 1.2)
    progress = result.kernels[0].progress
    costs = progress.size_costs
    assert costs["new"] > 0.04 > 4 * costs["known"]
    assert costs["trials"] > progress.trials / 2
    assert 2 * len({*device.sizes}) < progress.trials  # each would be of another size
    words = size_costs_text(costs, progress.trials)
    assert words.startswith(f"a new size costs {costs['new']:.2g} s and a known one {costs['known']:.2g} s: ")


def test_a_campaign_of_so_many_cases_does_not_look_at_the_time(kernel: Kernel) -> None:
    result, _ = run(kernel, Compiling(0.01), None, 12)
    assert not result.kernels[0].progress.size_costs


def test_a_finding_at_a_known_size_is_drawn_again_from_its_number(kernel: Kernel) -> None:
    result, events = run(kernel, Compiling(0.04, wrong=True), 0.8)
    found = [one.discovery for one in events if isinstance(one, Found)]
    assert found
    assert result.kernels[0].progress.size_costs
    for one in result.kernels[0].discoveries:
        case = attempt_of(kernel, 3, one.smallest_trial).case
        assert (case.elements, str(case)) == (one.defect.scene.elements, one.defect.scene.words)
