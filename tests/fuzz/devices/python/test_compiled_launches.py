"""torch.compile without a GPU: what inductor writes for one runs on the cpu device, from lines of the user's file."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from small_callables import trial_of

from kfuzz.devices import ClaimError
from kfuzz.devices.python.device import PythonDevice

pytestmark = [
    pytest.mark.slow(10),
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
    pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed"),
]
WITH_WEIGHTS = """import torch


class _Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.ones = torch.nn.Parameter(torch.ones(4))

    def forward(self, x):
        assert x.is_cuda
        return (x * self.ones).sum(1)


made = torch.compile(_Net())


def row_sum(x):
    y = made(x.cuda())
    {then}
    return y.detach()
"""
ROW_SUM = """import torch


@torch.compile
def _add_up(x, columns):
    every = x + 0
    {then}
    return every[:, columns].sum(1)


def row_sum(x):
    return _add_up(x, torch.arange(x.shape[1], device=x.device) + {more})
"""


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


def test_a_module_with_weights_runs_on_the_gpu_that_it_asks_for(device: PythonDevice, tmp_path: Path) -> None:
    tried = trial_of(tmp_path, "right", WITH_WEIGHTS.format(then="assert y.requires_grad"), device)
    assert [one.message for one in tried.defects] == []
    assert tried.elements == 3


def test_a_gradient_is_refused_in_one_line(device: PythonDevice, tmp_path: Path) -> None:
    with pytest.raises(ClaimError, match=r"a gradient of what torch\.compile makes for a GPU"):
        trial_of(tmp_path, "gradient", WITH_WEIGHTS.format(then="y.sum().backward()"), device)


def test_an_assertion_of_its_kernel_names_the_line_that_it_was_written_for(
    device: PythonDevice, tmp_path: Path
) -> None:  # fmt: skip
    tried = trial_of(tmp_path, "past", ROW_SUM.format(then="pass", more=1), device)
    assert {(one.kind, one.line) for one in tried.errors} == {("trap", 11)}


def test_a_function_that_does_not_compile_as_a_whole_runs_as_it_is(device: PythonDevice, tmp_path: Path) -> None:
    tried = trial_of(tmp_path, "whole", ROW_SUM.format(then="print(end='')", more=0), device)
    assert [one.message for one in tried.defects] == []
    assert tried.elements == 3
