"""Which version of Triton is taken without a GPU: any whose interpreter answers as kfuzz's changes to it should."""

import os
import subprocess
import sys

import pytest

WATCH = "import kfuzz.devices.python.triton.programs"
WITHOUT_ROUNDING = f"""
from kfuzz.devices.python.triton import bfloat16
bfloat16.install = lambda: None
{WATCH}
"""
UNKNOWN = f"""
from triton.runtime import interpreter
del interpreter.InterpreterBuilder.create_fp_to_fp
{WATCH}
"""


def run(text: str) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("triton", reason="triton is not installed")
    own = {**os.environ, "TRITON_INTERPRET": "1"}
    return subprocess.run([sys.executable, "-c", text], env=own, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_installed_triton_is_taken() -> None:
    """3.7, 3.8 and 3.9 were refused by their numbers."""
    done = run(WATCH)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (WITHOUT_ROUNDING, "fails kfuzz's check of its interpreter (bfloat16); without a GPU"),
        (UNKNOWN, "has an interpreter that kfuzz does not know (AttributeError: "),
    ],
)
def test_another_interpreter_is_refused_with_what_to_install(text: str, reported: str) -> None:
    done = run(text)
    assert done.returncode == 1
    assert reported in done.stderr
    assert "install triton 3.6 to 3.9" in done.stderr
