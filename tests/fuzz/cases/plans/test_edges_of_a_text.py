"""The numbers in a text are edges of its sizes: each one is met within a hundred trials, whatever the seed."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from paths import KERNELS

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.plans.edges import numbers_in_text
from kfuzz.claims.kernel import load
from kfuzz.devices.python.device import PythonDevice

TRIALS, SEEDS = 100, (1, 2, 3)
SUM = """# /// kernel
# op = "row_sum"
# ///
import numpy as np

{constants}


def forward(x):
    rows, cols = x.shape
    y = x.sum(1, dtype=np.float64).astype(np.float32)
    if {condition}:
        y[-1] = 1e30
    return y
"""
EXHIBITS: dict[str, tuple[str, str, Callable[[int, int], bool]]] = {
    "a product of two constants": ("A, B = 160, 128", "cols > A * B", lambda _, cols: cols > 20480),
    "a power": ("", "cols == 2**13 - 5", lambda _, cols: cols == 8187),
    "one product": ("UNROLL, WIDTH = 7, 192", "cols == UNROLL * WIDTH", lambda _, cols: cols == 1344),
    "many rows": ("", "rows > 37 * 41", lambda rows, _: rows > 1517),
    "rows and columns": ("", "rows > 48 and cols > 300", lambda rows, cols: rows > 48 and cols > 300),
    "a remainder": ("", "cols > 500 and cols % 96 == 95", lambda _, cols: cols > 500 and cols % 96 == 95),
    "all elements": ("LIMIT = 3 * 1000", "x.size > LIMIT and rows < 3", lambda rows, cols: rows * cols > 3000),
}
"""An edge: the constants, when an answer is wrong, and whether sizes reach it."""


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


@pytest.mark.parametrize("name", EXHIBITS)
def test_an_edge_in_the_text_is_met_within_a_hundred_trials(name: str, device: PythonDevice, tmp_path: Path) -> None:
    constants, condition, is_beyond = EXHIBITS[name]
    (tmp_path / "mine.py").write_text(SUM.format(constants=constants, condition=condition))
    kernel = load(tmp_path / "mine.py")
    for seed in SEEDS:
        attempts = ((index, attempt_of(kernel, seed, index)) for index in range(TRIALS))
        met = [(index, one) for index, one in attempts if is_beyond(*one.case.arrays["x"].shape)]
        assert met, seed
    found = (run_trial(kernel, one.case, one.tune, device, probe_of(kernel, seed, index, 2, 3.0)) for index, one in met)
    assert any(trial.defects for trial in found)


@pytest.mark.parametrize(
    "text",
    [
        "constexpr int A = 160, B = 128;\nconst int LIMIT = A * B;",
        "#define LIMIT (160 * 128)",
        "const int a = 5 << 12;",
    ],
)
def test_a_cuda_texts_constants_are_edges(text: str, tmp_path: Path) -> None:
    right = (KERNELS / "softmax" / "three_pass_thread.cu").read_text()
    (tmp_path / "mine.cu").write_text(f"{right}\n{text}\n")
    kernel = load(tmp_path / "mine.cu")
    for seed in SEEDS:
        assert any(attempt_of(kernel, seed, index).case.arrays["x"].shape[1] == 20481 for index in range(TRIALS))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("int f() { return 16 * 1024 + 8; }", {16, 1024, 8, 16384, 16392}),
        ("// 77\n#define STEP 12\ntemplate <int T = 5> void g() { h(T * STEP, 3.5f); }", {12, 5, 60}),
        ("enum { A = 3, B = 1 << 4 };\nint x = f(A - 1) * (B % 5);", {3, 1, 4, 16, 2, 5}),
        ("A = B = 7\nC: int = 0x20\nf(n=A * C, m=2**5 // 3)", {7, 32, 224, 2, 5, 3, 10}),
        ('K = """__global__ void k() { int i = 37 * 41; }"""', {37, 41, 1517}),
        ("x = 1.5 + 1e3", set()),
        ("y = 9 ** 9 ** 9 ** 9 + (1 << 99)", {9, 1, 99, 9**9}),
    ],
)
def test_the_numbers_of_a_text_are_its_literals_and_what_it_makes_of_them(text: str, numbers: set[int]) -> None:
    assert numbers_in_text(text) - {0} == numbers
