"""The line that stored a wrong answer, and a kernel's own output: reported by campaigns, replays and repro.py."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kfuzz.campaign.minimizing.minimize import failure_of, minimize
from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.locating import locate
from kfuzz.campaign.trials.replay import replay
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.case import Origin, Record, case_of
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.ui.reports.failure import replay_texts
from kfuzz.ui.reports.repro import script

pytestmark = pytest.mark.slow

KERNEL = """// Sums of rows, the last column of a long row twice.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..9", cols = "1..1024" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// launch = [{ entry = "sums", grid = "rows", block = 1, args = ["y", "x", "cols"] }]
// ///
__global__ void sums(float *y, const float *x, int cols) {
    float sum = 0.0f;
    for (int col = 0; col < cols; ++col) sum += x[blockIdx.x * cols + col];
    y[blockIdx.x] = sum;  // RIGHT
    if (blockIdx.x == 2) {
        printf("row %d, %d columns\\n", blockIdx.x, cols);
        y[blockIdx.x] = sum + x[blockIdx.x * cols + cols - 1];  // WRONG
    }
}
"""
X = np.arange(1, 41, dtype=np.float32).reshape(4, 10)
CASE = case_of("row_sum", {"x": X})
RECORD = Record(CASE, Origin("sums", "sums: numeric, wrong sum", "numeric", "off", "cpu", {}))


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    (tmp_path / "sums.cu").write_text(KERNEL)
    return load(tmp_path / "sums.cu")


def line_of(mark: str) -> int:
    return next(number for number, line in enumerate(KERNEL.splitlines(), 1) if f"// {mark}" in line)


def find_defect(kernel: Kernel, device: CpuDevice, check: bool = False) -> Defect:
    (defect,) = run_trial(kernel, CASE, {}, device, Probe(check=check)).defects
    assert defect.kind == "numeric"
    return defect


@pytest.mark.parametrize("check", [False, True])
def test_a_finding_names_the_line_that_stored_the_worst_element(kernel: Kernel, check: bool, device: CpuDevice) -> None:
    defect = find_defect(kernel, device, check)
    assert defect.line is None
    assert locate(defect, kernel, CASE, device, Probe()).where == f"sums.cu:{line_of('WRONG')}"


def test_no_line_is_named_for_an_element_that_no_line_stored(kernel: Kernel, tmp_path: Path, device: CpuDevice) -> None:
    """Of the output that the host fills; and the partner: of another element it is the line of that one's store."""
    (tmp_path / "sums.cu").write_text(
        KERNEL.replace("] <- y", "] = 0 <- y").replace("{\n    float", "{\n    if (!blockIdx.x) return;\n    float")
    )
    silent = load(tmp_path / "sums.cu")
    defects = run_trial(silent, case_of("row_sum", {"x": X[:2]}), {}, device, Probe()).defects
    (defect,) = (one for one in defects if one.kind == "numeric")
    assert locate(defect, silent, case_of("row_sum", {"x": X[:2]}), device, Probe()) == defect
    job = kernel.bind(CASE.arrays, {}).job
    assert device.find_store(job, Probe(), "y", 3) == ("", line_of("RIGHT"))


def test_a_replay_tells_the_line_and_what_the_kernel_printed(kernel: Kernel, device: CpuDevice) -> None:
    again = replay(RECORD, kernel, device)
    assert again.status == "broken"
    text = "\n".join(replay_texts(again, RECORD, None))
    assert f"where     sums.cu:{line_of('WRONG')}" in text
    assert "  note      the kernel printed: row 2, 10 columns" in text


def test_a_smaller_case_tells_the_line(kernel: Kernel, device: CpuDevice) -> None:
    failure = failure_of(RECORD, kernel, device)
    assert failure is not None
    assert minimize(failure, device, most_runs=20).failure.defect.line == line_of("WRONG")


@pytest.mark.slow
def test_repro_tells_the_line_and_what_the_kernel_printed(kernel: Kernel, tmp_path: Path) -> None:
    (tmp_path / "repro.py").write_text(script(kernel, RECORD, "repro.py"))
    command = [sys.executable, "repro.py", "cpu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert f"sums.cu:{line_of('WRONG')}" in done.stdout
    assert "the kernel printed: row 2, 10 columns" in done.stdout
