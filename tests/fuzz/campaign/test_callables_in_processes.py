"""A campaign of callables in several processes: small blocks for each, and the same result as in one."""

from functools import partial
from pathlib import Path

import pytest

from kfuzz.campaign.campaign import run_campaign
from kfuzz.campaign.events import ignore
from kfuzz.campaign.ledger import Ledger
from kfuzz.campaign.options import Options
from kfuzz.campaign.schedule import Block
from kfuzz.claims.kernel import Kernel, load
from kfuzz.find.device import open_device

ENDS = """# /// kernel
# op = "row_sum"
# ///
import os
import numpy as np


def f(x):
    if x.shape[1] % 5 == 4:
        os._exit(3)
    return x.sum(1)
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    path = tmp_path / "ends.py"
    path.write_text(ENDS)
    return load(path)


def test_the_first_rounds_of_a_callable_are_divided_among_all_processes(kernel: Kernel) -> None:
    """Two trials that end let eight processes go on: a trial may take seconds."""
    ledger = Ledger((kernel,), Options(jobs=8, max_cases=62), ignore)
    blocks = ledger.blocks()
    assert [next(blocks) for _ in range(3)] == [Block(0, 0, 2), Block(0, 2, 6), None]
    ledger.progress[0].next = 6
    assert [next(blocks) for _ in range(6)] == [Block(0, first, first + 4) for first in range(6, 30, 4)]
    assert next(blocks) is None


@pytest.mark.slow
def test_a_callable_that_ends_its_process_has_the_same_result_in_any_number_of_processes(kernel: Kernel) -> None:
    make = partial(open_device, "cpu", share=3, family="a")
    alone, together = (
        run_campaign([kernel], make, Options(seed=2, max_cases=40, jobs=jobs), ignore).kernels[0].progress
        for jobs in (1, 3)
    )
    assert alone.fatal
    assert alone.fatal == together.fatal
    assert (alone.tried, alone.smallest, alone.largest) == (together.tried, together.smallest, together.largest)
    assert {*alone.discoveries} == {*together.discoveries}
