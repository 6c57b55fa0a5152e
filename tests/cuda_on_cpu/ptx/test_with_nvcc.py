"""nvcc accepts every instruction that the other tests run: what the cpu device understands is PTX."""

import shutil
import subprocess
from pathlib import Path

import pytest
from ptx_floats import every_conversion, every_float_row
from ptx_integers import every_integer_row
from ptx_kernels import ACCESSES, WARPS
from ptx_rows import kernel

NVCC = shutil.which("nvcc")
LATEST = "sm_100a"


def find_errors(text: str, folder: Path) -> str:
    """The errors of nvcc and ptxas about a file."""
    source = folder / "rows.cu"
    source.write_text(text)
    words = [NVCC or "nvcc", f"-arch={LATEST}", "-cubin", "-o", "/dev/null", str(source)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return "\n".join(line for line in (done.stderr + done.stdout).splitlines() if "error" in line)


def knows_latest() -> bool:
    if NVCC is None:
        return False
    asked = subprocess.run([NVCC, "--list-gpu-arch"], capture_output=True, text=True, check=False)
    return "compute_100" in asked.stdout


@pytest.mark.slow
@pytest.mark.skipif(not knows_latest(), reason="needs nvcc 12.8 or newer")
def test_ptxas_accepts_every_instruction(tmp_path: Path) -> None:
    rows = [*every_integer_row(), *every_float_row(), *every_conversion()]
    for text in (kernel(rows, "rows"), ACCESSES, WARPS):
        assert find_errors(text, tmp_path) == ""
    assert "later" in find_errors(ACCESSES.replace("ld.global.s8", "ld.global.later.s8"), tmp_path)
