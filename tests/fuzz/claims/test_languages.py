"""The languages of kernel files: found by the endings of names, and each with a device that runs it."""

from pathlib import Path

import pytest

from kfuzz.campaign.device import OPENERS
from kfuzz.claims.kernel import load
from kfuzz.claims.language.languages import FILES, ending_of, endings_in_words, language_of, languages

CUDA_IN_PYTHON = '''\
"""# /// kernel in a docstring would be none."""
# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..64", cols = "1..64" }
# arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
#
# [[launch]]
# entry = "row_sum"
# grid  = "rows"
# block = "1"
# args  = ["x", "y", "cols"]
# ///
from cupy import RawKernel

kernel = RawKernel(r"""
extern "C" __global__ void row_sum(const float *x, float *y, int cols) {
    float sum = 0;
    for (int i = 0; i < cols; i++) sum += x[blockIdx.x * cols + i];
    y[blockIdx.x] = sum;
}
""", "row_sum")
'''


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("mine.cu", "cuda"),
        ("mine.ptx", "ptx"),
        ("mine.py", "python"),
        ("mypkg.softmax:forward", "python"),
        ("mine.cuh", "cuda"),  # a file that somebody names is taken for CUDA
    ],
)
def test_the_ending_of_a_name_tells_the_language(name: str, language: str) -> None:
    assert language_of(Path(name)).name == language


@pytest.mark.parametrize("ending", FILES)
def test_a_language_has_the_name_of_its_file_and_a_device(ending: str) -> None:
    language = languages()[ending]
    assert language.name == FILES[ending]
    assert ending_of(language) == ending
    assert language.runner in OPENERS


def test_the_endings_are_a_part_of_a_sentence() -> None:
    assert endings_in_words() == ".cu, .ptx or .py"


def test_a_claim_of_a_kernel_in_a_python_file_is_of_cuda(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(CUDA_IN_PYTHON)
    kernel = load(path)
    assert kernel.front.language.name == "cuda"
    source = kernel.front.source
    assert source.startswith("\n// /// kernel\n")
    assert kernel.front.language.constants(source, ()) == ([source], set())
