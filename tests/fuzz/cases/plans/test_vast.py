"""Beyond 2^31 elements: an int index that overflows is found, on arrays that take no memory."""

import pickle
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from measured_case import peak_memory
from our_kernels import every_kernel
from seldom import is_seldom

from kfuzz.campaign import schedule
from kfuzz.campaign.minimizing.minimize import failure_of, minimize
from kfuzz.campaign.trials.trial import Trial, run_trial, unfit
from kfuzz.campaign.trials.unjudged import ONLY_ACCESSES
from kfuzz.cases import case_file
from kfuzz.cases.case import Origin, Record, case_of
from kfuzz.cases.errors import CaseError
from kfuzz.cases.plans.choose import seeded_choices
from kfuzz.cases.plans.vast import vast_size
from kfuzz.claims.blocks import is_by_block
from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.memory.vast import LEAST, choose_blocks, is_vast, make_unfilled
from kfuzz.ui.reports.repro import script

pytestmark = pytest.mark.slow

AT = next(index for index, what in schedule.LARGE.items() if what == "overflow")
EXHIBITS = {
    "int_overflow": ("x", "const int start = blockIdx.x * cols;", "const size_t start = size_t(blockIdx.x) * cols;"),
    "int_overflow_transpose": ("y", "y[col * rows + row]", "y[static_cast<size_t>(col) * rows + row]"),
}
RIGHT = [
    kernel
    for kernel in every_kernel()
    if kernel.broken is None and vast_size(kernel, schedule.BEYOND_INT, seeded_choices(1))
]


def tried(kernel: Kernel, device: CpuDevice, seed: int = 3) -> Trial:
    attempt = schedule.attempt_of(kernel, seed, AT)
    assert attempt.case.is_vast
    assert unfit(kernel, attempt.case) == ""
    return run_trial(kernel, attempt.case, attempt.tune, device, schedule.probe_of(kernel, seed, AT, 3, 10.0))


@pytest.mark.parametrize("name", EXHIBITS)
def test_an_index_that_overflows_an_int_is_found_and_one_of_64_bits_is_not_accused(
    name: str, tmp_path: Path, device: CpuDevice
) -> None:
    array, wrong, right = EXHIBITS[name]
    kernel = load(KERNELS / "broken" / f"{name}.cu")
    for seed in range(3):
        (defect,) = tried(kernel, device, seed).defects
        assert (defect.kind, defect.severity) == ("illegal-address", "error")
        assert defect.finding is not None
        assert defect.finding.array == array
        assert f"{array}[-" in defect.message
        assert "in an int of 32 bits" in defect.message
        assert wrong in defect.bucket or array in kernel.source.splitlines()[(defect.line or 0) - 1]
    fixed = kernel.source.replace(wrong, right)
    assert fixed != kernel.source
    confession = fixed[fixed.index("// [broken]") : fixed.index("// [[launch]]")]
    (tmp_path / f"{name}.cu").write_text(fixed.replace(confession, ""))
    again = tried(load(tmp_path / f"{name}.cu"), device)
    assert again.defects == ()
    assert (again.rows == 0) == (ONLY_ACCESSES in again.reasons)


TRIED = [pytest.param(kernel, id=kernel.name, marks=pytest.mark.soak if is_seldom(kernel) else ()) for kernel in RIGHT]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", TRIED)
def test_no_right_kernel_is_accused(kernel: Kernel, device: CpuDevice) -> None:
    assert tried(kernel, device).defects == ()


def test_most_kernels_can_be_tried_and_those_whose_blocks_have_to_do_with_one_another_are_not() -> None:
    names = {kernel.name for kernel in RIGHT}
    assert all(map(is_by_block, RIGHT))
    assert {"softmax/online_block", "transpose/tiled", "sgemm/tiled", "reduce/block_sum"} <= names
    assert not names & {"softmax/grid_three_launches", "reduce/max_sum_last_block", "reduce/max_sum_grid"}


def test_sizes_and_launch_go_together_as_the_claim_says() -> None:
    kernel = load(KERNELS / "softmax" / "lanes_a_row.cu")
    found = vast_size(kernel, schedule.BEYOND_INT, seeded_choices(3))
    assert found
    assert not kernel.where.broken({**found[0], **found[1]})


def test_arrays_of_8_gigabytes_take_hardly_any_memory_and_time() -> None:
    kernel = load(KERNELS / "softmax" / "online_block.cu")
    with CpuDevice() as device:
        run_trial(
            kernel,
            case_of("softmax", {"x": np.zeros((2, 3), np.float32)}),
            {"threads": 32},
            device,
            schedule.probe_of(kernel, 1, 2, 3, 10.0),
        )
        pid = device._worker.pid
        assert pid is not None
        before, began = peak_memory(pid), time.process_time()
        case = tried(kernel, device).case
        assert case.elements > 1 << 31
        assert peak_memory(pid) - before < 256 << 20
        assert time.process_time() - began < 5


def test_the_case_is_a_small_file_that_comes_back_the_same(tmp_path: Path) -> None:
    case = schedule.attempt_of(load(KERNELS / "broken" / "int_overflow.cu"), 3, AT).case
    record = Record(case, Origin("broken/int_overflow", "b", "illegal-address", "m", "cpu", {"threads": 32}))
    case_file.write(tmp_path / "case.json", record)
    assert (tmp_path / "case.json").stat().st_size < 2000
    again = case_file.read(tmp_path / "case.json")
    assert (again.case, again.case.is_vast, again.origin) == (case, True, record.origin)
    assert len(pickle.dumps(case)) < 2000  # as it is sent to another process
    assert pickle.loads(pickle.dumps(case)) == case  # noqa: S301  written just now
    sizes = f"rows={case.axes['rows']} cols={case.axes['cols']}"
    assert str(case) == f"softmax {sizes}; x: 0 and 1, seven kinds of row in turns"
    text = (tmp_path / "case.json").read_text()
    for before, after in (("kfuzz-turns/2", "kfuzz-turns/3"), (f"[{case.axes['rows']},", "[0,")):
        (tmp_path / "odd.json").write_text(text.replace(before, after))
        with pytest.raises(CaseError, match="in_turns"):
            case_file.read(tmp_path / "odd.json")


def test_it_is_as_small_as_it_gets_and_a_script_shows_it(tmp_path: Path, device: CpuDevice) -> None:
    kernel = load(KERNELS / "broken" / "int_overflow.cu")
    attempt = schedule.attempt_of(kernel, 3, AT)
    record = Record(attempt.case, Origin(kernel.name, "b", "illegal-address", "m", "cpu", dict(attempt.tune)))
    failure = failure_of(record, kernel, device)
    assert failure is not None
    done = minimize(failure, device)
    assert (done.stop, done.failure.subject.case) == ("smallest", attempt.case)
    (tmp_path / "repro.py").write_text(script(kernel, record, "repro.py"))
    run = subprocess.run([sys.executable, "repro.py", "cpu"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (run.returncode, "in an int of 32 bits" in run.stdout) == (1, True), run.stderr


def test_zeros_take_no_memory_and_the_last_blocks_always_run() -> None:
    assert is_vast(make_unfilled((1 << 20, 1 << 20)))
    assert not is_vast(make_unfilled((2, LEAST // 4)))
    assert not is_vast(np.zeros(3, np.float32))
    for seed in range(20):
        assert {0, 1, 1000, 999_999} < set(choose_blocks((1000, 1000, 1), seed)) < set(range(1_000_000))
    assert set(choose_blocks((3, 1, 1), 1)) <= {0, 1, 2}


def test_beyond_an_int_one_trial_in_eight_thousand_is_and_so_it_is_of_trials_that_are_drawn_again() -> None:
    found = [index for index in range(20_000) if schedule.large_of(index) == "overflow"]
    assert found == [AT, AT + schedule.OVERFLOW_EVERY, AT + 2 * schedule.OVERFLOW_EVERY]
    assert schedule.large_of(AT + schedule.AGAIN) == "overflow"
    assert schedule.large_of(AT + schedule.LARGE_EVERY + schedule.AGAIN) is None
