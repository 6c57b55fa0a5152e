"""Correct kernels as people write them, none of ours, are kept; one small change that makes each wrong is found."""

from pathlib import Path

import pytest
from paths import DATA

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices.cpu.device import CpuDevice

RIGHT = DATA / "right"
TRIALS = 16
WRONG = {
    "carved_softmax": ("float *wmax = cache + cols;", "float *wmax = cache + cols - 1;"),
    "cg_softmax": ("if (row >= rows) return;", "if (row > rows) return;"),
    "float4_tail_sum": ("i = head + n4 * 4 + threadIdx.x", "i = n4 * 4 + threadIdx.x"),
    "gemm_by_tensor_maps": ("CU_TENSOR_MAP_SWIZZLE_128B", "CU_TENSOR_MAP_SWIZZLE_64B"),
    "lse_merge": ("(cols + 3) / 4", "cols / 4"),
    "odd_mask_sum": ("((mask >> (lane + off)) & 1)", "true"),
    "pair_softmax": ("(hi.m == -INFINITY ? 0.f : hi.d)", "hi.d + lo.d * expf(lo.m - hi.m)"),
    "rows_by_tensor_map": ("corner[2] = {box * COLUMNS, first_row};", "corner[2] = {0, first_row};"),
    "tcgen05_gemm": ("wait(&over, 0);", ""),
    "torch_e4m3_token": ("/ 448.0f", "/ 240.0f"),
    "torch_int8_token": ("rintf(x[i] * inverse)", "x[i] * inverse"),
    "torch_mxfp8": ("scale[group] =", "scale[group / 2] ="),
}


def chosen(name: str) -> object:
    """An extension for torch takes 5 s to compile: of three, one is looked at in each run of the tests.

    A trial of tensor cores takes up to 1 s.
    """
    is_dear = name.startswith(("torch_", "tcgen05_", "gemm_by_")) and name != "torch_int8_token"
    return pytest.param(name, marks=pytest.mark.soak if is_dear else ())


def first_error(kernel: Kernel, device: CpuDevice, trials: int) -> int | None:
    """The first of so many trials that finds an error."""
    for index in range(trials):
        attempt = attempt_of(kernel, 3, index, budget=1 << 12)
        if run_trial(kernel, attempt.case, attempt.tune, device, probe_of(kernel, 3, index, 2, 5.0)).errors:
            return index
    return None


def test_every_file_has_a_wrong_partner() -> None:
    assert sorted(WRONG) == sorted(path.stem for path in RIGHT.glob("*.cu"))


@pytest.mark.slow
@pytest.mark.parametrize("trials", [TRIALS, pytest.param(10 * TRIALS, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", [*map(chosen, sorted(WRONG))])
def test_a_right_kernel_is_not_accused(name: str, trials: int, cpu: CpuDevice) -> None:
    assert first_error(load(RIGHT / f"{name}.cu"), cpu, trials) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", [*map(chosen, sorted(WRONG))])
def test_a_step_from_it_is_a_wrong_one(name: str, cpu: CpuDevice, tmp_path: Path) -> None:
    text, path = (RIGHT / f"{name}.cu").read_text(encoding="utf-8"), tmp_path / f"{name}.cu"
    assert WRONG[name][0] in text
    path.write_text(text.replace(*WRONG[name]))
    assert first_error(load(path), cpu, 3 * TRIALS) is not None
