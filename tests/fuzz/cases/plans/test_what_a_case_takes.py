"""No case of a campaign needs more than 2 GB or 10 s of a processor: the largest of every kernel, measured."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from our_kernels import every_kernel
from paths import TESTS

from kfuzz.claims.kernel import KERNELS, Kernel

MOST_BYTES, MOST_SECONDS = 2_000_000_000, 10.0
MEASURED = TESTS / "helpers" / "measured_case.py"
RIGHT = [kernel for kernel in every_kernel() if kernel.broken is None]
WIDE = ('rows = "1..2147483647", cols = "1..1073741824"', 'rows = "1..65535", cols = "1024..65536"')
"""Of softmax/online_block, and a claim without small rows: 67 million elements where the rows are many."""


def measure_cases(path: Path, ballast: int = 0) -> list[dict[str, float]]:
    """What each large case of a kernel takes."""
    command = [sys.executable, str(MEASURED), str(path), str(ballast)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def beyond(cases: list[dict[str, float]], most_bytes: float, most_seconds: float) -> list[dict[str, float]]:
    return [one for one in cases if max(one["judge"], one["worker"]) > most_bytes or one["seconds"] > most_seconds]


@pytest.mark.soak
@pytest.mark.parametrize("kernel", RIGHT, ids=lambda kernel: kernel.name)
def test_no_large_case_of_a_kernel_takes_too_much(kernel: Kernel) -> None:
    cases = measure_cases(kernel.path)
    assert len(cases) > 3
    assert beyond(cases, MOST_BYTES, MOST_SECONDS) == []


@pytest.mark.soak
def test_a_claim_of_wide_rows_alone_takes_no_more(tmp_path: Path) -> None:
    text = (KERNELS / "softmax" / "online_block.cu").read_text()
    assert text.count(WIDE[0]) == 1
    (tmp_path / "wide.cu").write_text(text.replace(*WIDE))
    assert beyond(measure_cases(tmp_path / "wide.cu"), MOST_BYTES, MOST_SECONDS) == []


@pytest.mark.soak
def test_what_is_held_meanwhile_is_in_the_figures() -> None:
    path = KERNELS / "reduce" / "warp_max_down.cu"
    plain, heavy = measure_cases(path), measure_cases(path, 300_000_000)
    assert beyond(plain, 250_000_000, MOST_SECONDS) == []
    assert len(beyond(heavy, 250_000_000, MOST_SECONDS)) == len(heavy)
    assert len(beyond(plain, MOST_BYTES, 0.0)) == len(plain)
