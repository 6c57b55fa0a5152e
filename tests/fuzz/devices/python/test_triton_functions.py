"""What Triton computes by: its exp2 flushes denormals to zero, and so does its default claim."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kfuzz.devices.python.libraries import libraries

KERNEL = """
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def kernel(x, y):
    i = tl.arange(0, 32)
    tl.store(y + i, FUNCTION(tl.load(x + i)))


source = ASTSource(fn=kernel, signature={"x": "*fp32", "y": "*fp32"})
print(triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"])
"""


@pytest.mark.soak
def test_a_denormal_of_tritons_exp2_may_be_zero(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL.replace("FUNCTION", "tl.exp2"))
    own = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path), "TRITON_INTERPRET": "0"}
    made = subprocess.run([sys.executable, str(file)], env=own, capture_output=True, text=True, check=True, timeout=600)
    assert libraries()["triton"].arithmetic.ftz == ("ex2.approx.ftz.f32" in made.stdout)
