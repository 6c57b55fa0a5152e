"""Poison in what torch.empty allocates, in a process that has not loaded torch's compiler: that takes seconds."""

import subprocess
import sys

import pytest

CALL = """
import sys
from kfuzz.callables.torch.arrays import poison_tensors
import torch
if {loads}:
    import torch._dynamo
with poison_tensors(0x7FC01234):
    made = torch.empty(4)
    torch.zeros(3) + 1
print(hex(made.view(torch.int32)[3].item()), "torch._dynamo" in sys.modules)
"""


LOADS = [pytest.param(False, marks=pytest.mark.slow(7)), pytest.param(True, marks=pytest.mark.soak)]


@pytest.mark.parametrize("loads", LOADS)
def test_a_call_under_poison_does_not_load_the_compiler(loads: bool) -> None:
    pytest.importorskip("torch")
    done = subprocess.run([sys.executable, "-c", CALL.format(loads=loads)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0x7fc01234", str(loads)]
