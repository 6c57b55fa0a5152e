"""A campaign of callables in several processes: small blocks for each, and the same trials as in one."""

import time
from collections import deque
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from row_sums import RowSums, sum_kernel

from kfuzz.campaign.blocks import BlockEnd, Experience, Orders, TrialEnd, run_block
from kfuzz.campaign.crew import Crew, run_in_processes
from kfuzz.campaign.events import ignore
from kfuzz.campaign.ledger import Ledger
from kfuzz.campaign.options import Options
from kfuzz.campaign.schedule import Block
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Entry, Finding, Outcome


class Ends(RowSums):
    """A device that ends its process for rows of some lengths."""

    def seen(self, given: NDArray[np.float64]) -> NDArray[np.float64] | Outcome:
        if given.shape[-1] % 5 == 4:
            return Outcome(findings=(Finding("trap", "it ended its process"),), ended=True)
        return given


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return sum_kernel(tmp_path)


def test_the_first_rounds_of_a_callable_are_divided_among_all_processes(kernel: Kernel) -> None:
    """Two trials that end let eight processes go on: a trial may take seconds."""
    ledger = Ledger((kernel,), Options(jobs=8, max_cases=62), ignore)
    blocks = ledger.blocks()
    assert [next(blocks) for _ in range(3)] == [Block(0, 0, 2), Block(0, 2, 6), None]
    ledger.progress[0].next = 6
    assert [next(blocks) for _ in range(6)] == [Block(0, first, first + 4) for first in range(6, 30, 4)]
    assert next(blocks) is None


def numbers_with(kernel: Kernel, jobs: int) -> list[tuple[int, int]]:
    """Index and number of each trial, if so many processes have as many blocks at once as there are."""
    ledger, device, found = Ledger((kernel,), Options(seed=2, jobs=jobs, max_cases=80), ignore), Ends(), []
    orders, waiting = Orders((kernel,), 2), deque[Block]()
    for block in ledger.blocks():
        waiting.extend([block] if block else [])
        while waiting and (block is None or len(waiting) == jobs):
            for end in run_block(orders, device, waiting.popleft(), Experience()):
                if isinstance(end, BlockEnd):
                    ledger.end(end)
                else:
                    ledger.take(end)
                    found.append((end.index, end.number))
            if block is None:
                break
    return found


@pytest.mark.slow
def test_a_callable_that_ends_its_process_has_the_same_trials_in_any_number_of_processes(kernel: Kernel) -> None:
    alone, together = numbers_with(kernel, 1), numbers_with(kernel, 8)
    assert len(together) > 40
    assert any(index != number for index, number in alone)  # what crashes is avoided
    assert alone[: len(together)] == together


class Late(RowSums):
    """A device that is there at once in one process, and in the others after the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def import_early(self, entries: Sequence[Entry]) -> None:
        """Nothing to import."""

    def prepare(self, entries: Sequence[Entry]) -> None:
        """Wait, except in the first process."""
        try:
            (self.folder / "first").touch(exist_ok=False)
        except FileExistsError:
            time.sleep(600)


@pytest.mark.soak
@pytest.mark.slow(3)
def test_a_process_whose_device_has_started_need_not_wait_for_the_others(kernel: Kernel, tmp_path: Path) -> None:
    ledger = Ledger((kernel,), Options(seed=2, jobs=3, max_cases=30), ignore)
    crew = Crew(Orders((kernel,), 2), partial(Late, tmp_path), ledger.blocks(), 3, "cpu")
    with closing(run_in_processes([crew])) as ends:
        for _, end in ends:
            ledger.take(end) if isinstance(end, TrialEnd) else ledger.end(end)
    assert ledger.trials == 30
