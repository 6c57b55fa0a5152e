"""Runs of a small kernel on the cpu device, in both flavours."""

import numpy as np
import pytest
from numpy.typing import NDArray
from planted_jobs import Value, job_of

from kfuzz.devices import Probe
from kfuzz.devices.cpu.device import CpuDevice

EVERY = pytest.mark.parametrize("check", [False, True], ids=["fast", "check"])


def run(
    device: CpuDevice,
    text: str,
    arguments: dict[str, Value],
    check: bool = False,
    entry: str = "k",
    block: int = 32,
    grid: int = 1,
    shared: int = 0,
    flags: tuple[str, ...] = (),
) -> NDArray[np.generic]:
    """The output of a kernel that runs without a finding and the same way in every order."""
    job = job_of(text, (entry,), entry, arguments, block, grid, shared, flags=flags)
    outcome = device.run(job, Probe(check=check, timeout=5.0))
    assert outcome.findings == ()
    first = outcome.runs[0].outputs["y"]
    for other in outcome.runs[1:]:
        np.testing.assert_array_equal(first.view(np.uint32), other.outputs["y"].view(np.uint32))
    return first
