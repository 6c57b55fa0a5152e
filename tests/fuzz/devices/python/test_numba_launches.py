"""Numba without a GPU, in a file whose arrays are torch's: a launch takes tensors as it takes Numba's own arrays."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from small_callables import trial_of

from kfuzz.devices import Refusal
from kfuzz.devices.python.device import PythonDevice

pytestmark = pytest.mark.slow(3)
pytest.importorskip("torch")
pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")

ROW_SUM = """import torch
from numba import cuda


@cuda.jit
def kernel(y, x):
    row = cuda.grid(1)
    if row < x.shape[0]:
        total = y[row] * 0
        for c in range(x.shape[1]):
            total += x[row, c]
        y[row] = total


def forward(x):
    y = torch.zeros(x.shape[0], device=x.device)
    kernel[1, 32]({y}, x)
    return y
"""


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


@pytest.mark.parametrize("y", ["y", "cuda.as_cuda_array(y)"])
def test_a_launch_takes_tensors_of_torch(device: PythonDevice, tmp_path: Path, y: str) -> None:
    """The file's arrays are torch's: Numba was left as it is without a GPU, and a right function was accused."""
    tried = trial_of(tmp_path, f"mine{len(y)}", ROW_SUM.format(y=y), device)
    assert [one.message for one in tried.defects] == []
    assert tried.elements == 3


def test_a_launch_of_no_blocks_is_a_refusal_of_these_sizes(device: PythonDevice, tmp_path: Path) -> None:
    """A program for multiples of 256 elements launches none for fewer, which CUDA refuses."""
    text = ROW_SUM.format(y="y").replace("kernel[1, 32]", "kernel[x.shape[0] // 256, 32]")
    tried = trial_of(tmp_path, "none", text, device)
    assert tried.defects == ()
    (words,) = {one.words for one in tried.reasons if isinstance(one, Refusal)}
    assert words.startswith("a launch of no blocks: ")


def test_a_name_of_another_release_is_one_line(device: PythonDevice, tmp_path: Path) -> None:
    tried = trial_of(tmp_path, "old", ROW_SUM.format(y="y").replace("kernel[1, 32]", "cuda.old_kernel[1, 32]"), device)
    assert tried.defects == ()
    (words,) = {one.words for one in tried.reasons if isinstance(one, Refusal)}
    assert words.startswith("numba ")
    assert words.endswith(" has no numba.cuda.old_kernel")
