"""A kernel's own headers: found, translated, compiled and reported by their names, and carried by repro.py."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.case import Origin, Record, case_of
from kfuzz.claims.kernel import Kernel, load
from kfuzz.common.text.headers import rename_includes, sources
from kfuzz.devices import ClaimError, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.ui.reports.repro import script

pytestmark = pytest.mark.slow

KERNEL = """// Sums of rows.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..9", cols = "1..1024" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
//
// [[launch]]
// entry  = "sums"
// grid   = "rows"
// block  = 64
// shared = "4 * 64"
// args   = ["y", "x", "cols"]
// ///
#include "parts/block.cuh"
// #include "not/there.cuh"

__global__ void sums(float *y, const float *x, int cols) {
    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += 64) {
        sum += x[blockIdx.x * cols + col];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
"""
BLOCK = """#pragma once
#include "width.cuh"
#include "../parts/width.cuh"
extern __shared__ float cache[];

__device__ inline float block_sum(float value) {
    const int t = threadIdx.x;
    cache[t] = value;  // KEEPS
    __syncthreads();
    for (int step = WIDTH / 2; step > 0; step /= 2) {
        if (t < step) cache[t] += cache[t + step];  // ADDS
        __syncthreads();  // MEETS
    }
    return cache[0];
}

__device__ inline void traps() { asm("tld4;"); }
"""
WIDTH = """#ifndef WIDTH
#define WIDTH 64
#endif
"""
X = np.arange(1, 257, dtype=np.float32).reshape(2, 128)


def write_kernel(folder: Path, kernel: str = KERNEL, block: str = BLOCK) -> Kernel:
    (folder / "parts").mkdir(exist_ok=True)
    (folder / "parts" / "width.cuh").write_text(WIDTH)
    (folder / "parts" / "block.cuh").write_text(block)
    (folder / "sums.cu").write_text(kernel)
    return load(folder / "sums.cu")


def defects(kernel: Kernel, check: bool = True) -> tuple[Defect, ...]:
    with CpuDevice() as device:
        return run_trial(kernel, case_of("row_sum", {"x": X}), {}, device, Probe(check=check)).defects


def line_of(text: str, mark: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if f"// {mark}" in line)


def test_headers_are_found_each_once_in_the_order_of_their_use(tmp_path: Path) -> None:
    kernel = write_kernel(tmp_path)
    every = sources(kernel.path, kernel.source, (f"-I{tmp_path}",))
    assert [one.path.name for one in every] == ["sums.cu", "block.cuh", "width.cuh"]
    assert rename_includes(every[1], ["k", "b", "w"]).splitlines()[1:3] == ['#include "w"', '#include "w"']
    assert len(sources(kernel.path, kernel.source, ())) == 3  # the one by another way is the same file


def test_a_header_is_translated_and_what_is_not_reached_in_it_left_out(tmp_path: Path) -> None:
    assert defects(write_kernel(tmp_path)) == ()


def test_a_race_in_a_header_has_its_file_and_line(tmp_path: Path) -> None:
    racy = BLOCK.replace("        __syncthreads();  // MEETS\n", "")
    found = next(one for one in defects(write_kernel(tmp_path, block=racy)) if one.kind == "race")
    line = line_of(racy, "ADDS")
    assert (found.file, found.line) == (str(tmp_path / "parts" / "block.cuh"), line)
    assert found.where == f"{tmp_path}/parts/block.cuh:{line}"
    assert found.finding is not None
    assert found.other_file == found.file
    assert "if (t < step) cache[t] += cache[t + step];" in found.bucket


def test_a_barrier_in_a_header_that_not_all_reach_has_its_file_and_line(tmp_path: Path) -> None:
    kernel = KERNEL.replace("sum = block_sum(sum);", "if (threadIdx.x < 32) block_sum(sum); else __syncthreads();")
    every = defects(write_kernel(tmp_path, kernel))
    found = next(one for one in every if (one.kind, one.severity) == ("divergent-barrier", "error"))
    assert found.finding is not None
    places = {(found.file, found.line), (found.other_file, found.finding.other_line)}
    in_kernel = kernel.splitlines().index(next(one for one in kernel.splitlines() if "else __syncthreads" in one)) + 1
    assert {(Path(file).name, line) for file, line in places} == {("sums.cu", in_kernel), ("block.cuh", 9)}


def test_an_error_in_a_header_is_reported_by_the_name_of_the_header(tmp_path: Path) -> None:
    kernel = write_kernel(tmp_path, KERNEL.replace("sum = block_sum(sum);", "sum = block_sum(sum); traps();"))
    with pytest.raises(ClaimError, match=r"parts/block\.cuh:17: the cpu device does not have the PTX instruction tld4"):
        defects(kernel)
    kernel = write_kernel(tmp_path, block=BLOCK.replace("return cache[0];", "return cache[zero];"))
    with pytest.raises(ClaimError, match=r"parts/block\.cuh:14:\d+: error: .*zero"):
        defects(kernel)


def test_a_header_that_changes_is_compiled_again(tmp_path: Path) -> None:
    assert defects(write_kernel(tmp_path)) == ()
    assert [one.kind for one in defects(write_kernel(tmp_path, block=BLOCK.replace("+= cache", "-= cache")))] == [
        "numeric"
    ]


def test_a_race_between_a_header_and_the_kernel_file_says_which_line_is_of_which(tmp_path: Path) -> None:
    store = "    cache[63 - threadIdx.x] = sum;  // STORES\n"
    racy = KERNEL.replace("    sum = block_sum", f"{store}    sum = block_sum")
    found = [one.message for one in defects(write_kernel(tmp_path, racy)) if one.kind == "race"]
    stored, kept = line_of(racy, "STORES"), line_of(BLOCK, "KEEPS")
    both = f"line {stored} of the kernel file", f"line {kept} of block.cuh"
    assert any(f"between {one} and {other}" in found[0] for one, other in (both, both[::-1]))


def test_a_script_names_a_header_as_it_carries_it(tmp_path: Path) -> None:
    racy = BLOCK.replace("        __syncthreads();  // MEETS\n", "")
    kernel = write_kernel(tmp_path, block=racy)
    origin = Origin("sums", "sums: race", "race", "off", "cpu", {}, check=True)
    (tmp_path / "repro.py").write_text(script(kernel, Record(case_of("row_sum", {"x": X}), origin), "repro.py"))
    done = subprocess.run(
        [sys.executable, "repro.py", "cpu"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert f"where     1-block.cuh:{line_of(racy, 'ADDS')}" in done.stdout


@pytest.mark.soak
def test_repro_carries_the_headers(tmp_path: Path) -> None:
    wrong = BLOCK.replace("return cache[0];", "return 2.0f * cache[0];")
    kernel = write_kernel(tmp_path, block=wrong)
    origin = Origin("sums", "sums: numeric", "numeric", "off", "cpu", {})
    text = script(kernel, Record(case_of("row_sum", {"x": X}), origin), "repro.py")
    assert wrong.splitlines()[5] in text
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "repro.py").write_text(text)
    for name in ("sums.cu", "parts/block.cuh", "parts/width.cuh"):
        (tmp_path / name).unlink()
    done = subprocess.run(
        [sys.executable, "repro.py", "cpu"], cwd=elsewhere, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert "BROKEN" in done.stdout
