"""Helion without a GPU: the Triton that it writes runs on the cpu device, and findings name the user's lines."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from small_callables import trial_of

from kfuzz.devices.python.device import PythonDevice

pytestmark = [pytest.mark.slow(10), pytest.mark.skipif(find_spec("helion") is None, reason="helion is not installed")]
ROW_SUM = """import helion
import helion.language as hl
import torch


@helion.kernel({options})
def _add_up(x, columns):
    y = torch.empty([x.size(0)], dtype=x.dtype, device=x.device)
    for rows in hl.tile(x.size(0)):
        total = hl.zeros([rows], dtype=torch.float32)
        for part in hl.tile(columns.size(0)):
            total += x[rows, columns[part]].sum(-1)
        y[rows] = total
    return y


def row_sum(x):
    assert x.is_cuda
    return _add_up(x.cuda(), torch.arange(x.shape[1], device=x.device) + {more})
"""


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "options",
    ["", "static_shapes=False", "configs=[helion.Config(block_sizes=[2, 4]), helion.Config(block_sizes=[1, 2])]"],
)
def test_a_kernel_runs_with_a_configuration_that_nothing_has_measured(
    device: PythonDevice, tmp_path: Path, options: str
) -> None:
    tried = trial_of(tmp_path, f"right{len(options)}", ROW_SUM.format(options=options, more=0), device)
    assert [one.message for one in tried.defects] == []
    assert tried.elements == 3


def test_an_access_out_of_bounds_names_the_users_line(device: PythonDevice, tmp_path: Path) -> None:
    tried = trial_of(tmp_path, "past", ROW_SUM.format(options="", more=1), device)
    assert {one.line for one in tried.errors if one.kind == "out-of-bounds"} == {15}
