"""`--torch` without torch or without a GPU: one line that says what is missing, and exit code 2."""

import subprocess
import sys
from pathlib import Path

import pytest
from paths import DATA

from kfuzz.devices import DeviceError
from kfuzz.devices.python.real_torch import check_torch

RIGHT = DATA / "extensions" / "bare" / "row_sum_atomics.cu"


def why_not() -> str:
    try:
        check_torch()
    except DeviceError as error:
        return str(error)
    return ""


@pytest.mark.skipif(not why_not(), reason="torch and a GPU are here")
@pytest.mark.slow
def test_without_torch_or_a_gpu_it_is_a_line_and_exit_code_2(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kfuzz", "fuzz", str(RIGHT), "--op", "row_sum", "--torch", "--max-cases", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == why_not()
    assert why_not().startswith("--torch")
