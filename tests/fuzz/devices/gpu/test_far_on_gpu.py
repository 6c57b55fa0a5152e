"""Writes 1 MB, 64 MB and 1 GB beyond an array on a real GPU: each is named, and the same without the write is not."""

import importlib.util
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from paths import DATA

from kfuzz.campaign.properties.checks.far_writes import EVERY
from kfuzz.campaign.trials.trial import prepare, run_trial
from kfuzz.cases.case import Case
from kfuzz.cases.plans.choose import seeded_choices
from kfuzz.cases.plans.plan import plan
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import Outcome, Probe
from kfuzz.devices.gpu.device import GpuDevice
from kfuzz.devices.memory.far import FarOptions
from kfuzz.devices.python.device import PythonDevice

pytestmark = pytest.mark.gpu

PROPERTIES = DATA / "properties"
DISTANCES = {"1 MB": 1 << 20, "64 MB": 64 << 20, "1 GB": 1_000_000_000}
FAR = Probe(seed=EVERY, runs=1, options=(FarOptions(is_far=True),))
IN_A_ROW = 20

TRITON = """# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..64", cols = "1..64" }
# arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
# ///
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(y, x, cols, rows, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, WIDTH)
    tl.store(y + row, tl.sum(tl.load(x + row * cols + at, mask=at < cols, other=0.0)))
    if row == 0:
        tl.store(y + rows + DISTANCE, 1.5)


def forward(x):
    y = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
    kernel[(x.shape[0],)](y, x, x.shape[1], x.shape[0], WIDTH=64)
    return y
"""


FAR_STORE = "    if row == 0:\n        tl.store(y + rows + DISTANCE, 1.5)\n"
assert FAR_STORE in TRITON


@pytest.fixture(scope="module")
def gpu() -> Iterator[GpuDevice]:
    device = GpuDevice()
    yield device
    device.close()


def case_for(kernel: Kernel, seed: int = 5) -> tuple[Case, dict[str, int]]:
    attempt = plan(kernel, seeded_choices(seed), 4096, 1 << 20, None)
    assert attempt
    return attempt.case, dict(attempt.tune)


def in_field(kernel: Kernel, device: GpuDevice | PythonDevice, seed: int = 5) -> Outcome:
    """One run in a field; where another process has one, again."""
    case, tune = case_for(kernel, seed)
    job = replace(prepare(kernel, case, tune, FAR).job, earlier=())
    for _ in range(100):
        outcome = device.run(job, FAR)
        if not outcome.untried:
            return outcome
        time.sleep(0.1)
    pytest.skip(outcome.untried.value)


def edited(folder: Path, base: str, old: str, distance: int) -> Kernel:
    """A right kernel, and a write so many bytes beyond its sums."""
    text = (PROPERTIES / base).read_text()
    assert old in text
    many = f"if (threadIdx.x + blockIdx.x == 0) y[gridDim.x + {distance // 4}u] = 1.5f; {old}"
    (folder / base).write_text(text.replace(old, many))
    return load(folder / base)


@pytest.mark.parametrize("base", ["threads_by_length.cu", "strided_row_sum.cu"])
@pytest.mark.parametrize("distance", DISTANCES.values(), ids=DISTANCES)
def test_a_write_far_beyond_an_array_names_it_the_distance_and_the_value(
    base: str, distance: int, gpu: GpuDevice, tmp_path: Path
) -> None:
    old = "__shared__ float part[128];" if base.startswith("threads") else "float sum = 0;"
    outcome = in_field(edited(tmp_path, base, old, distance), gpu)
    print(base, distance, [one.message for one in outcome.findings])
    assert [one.kind for one in outcome.findings] == ["out-of-bounds"]
    assert f"write far away: 0x3fc00000, {distance} bytes after" in outcome.findings[0].message


@pytest.mark.parametrize("base", ["threads_by_length.cu", "strided_row_sum.cu", "rows_from_a_queue.cu"])
def test_a_right_kernel_writes_nothing_far_away(base: str, gpu: GpuDevice) -> None:
    kernel = load(PROPERTIES / base)
    began = time.perf_counter()
    for _ in range(IN_A_ROW):
        assert in_field(kernel, gpu).findings == ()
    print(base, f"{(time.perf_counter() - began) / IN_A_ROW * 1000:.1f} ms a field")


def test_bytes_that_a_function_allocates_itself_are_no_writes_far_away(gpu: GpuDevice) -> None:
    """A tensor of 3 bytes ends within a painted word."""
    kernel = load(DATA / "right" / "torch_mxfp8.cu")
    assert [one.message for seed in range(IN_A_ROW) for one in in_field(kernel, gpu, seed).findings] == []


@pytest.mark.parametrize("distance", [0, *DISTANCES.values()], ids=["right", *DISTANCES])
@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
def test_a_callable_that_writes_far_beyond_its_tensor_is_found(distance: int, tmp_path: Path) -> None:
    path = tmp_path / "sums.py"
    wrong = TRITON.replace("DISTANCE", str(distance // 4))
    path.write_text(
        wrong if distance else TRITON.replace("    if row == 0:\n        tl.store(y + rows + DISTANCE, 1.5)\n", "")
    )
    device = PythonDevice("gpu")
    try:
        outcome = in_field(load(path), device)
    finally:
        device.close()
    print(distance, [one.message for one in outcome.findings])
    assert [one.kind for one in outcome.findings] == ["out-of-bounds"] * bool(distance)
    assert not distance or f"0x3fc00000, {distance} bytes after a tensor of shape" in outcome.findings[0].message


def test_a_trial_looks_at_a_field_and_says_that_it_held(gpu: GpuDevice) -> None:
    kernel = load(PROPERTIES / "threads_by_length.cu")
    case, tune = case_for(kernel)
    trials = [run_trial(kernel, case, tune, gpu, Probe(seed=number * EVERY)) for number in range(8)]
    looks = [one.is_held for trial in trials for one in trial.looks if one.name == "far_writes"]
    if not looks:
        pytest.skip("others had the fields, or little memory is free")
    assert all(looks)
