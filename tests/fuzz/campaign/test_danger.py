"""Kernels that end their process: the crash is reported, later trials avoid it, and no later finding is lost."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path

import pytest

from kfuzz.campaign.blocks import End, TrialEnd
from kfuzz.campaign.campaign import run_campaign
from kfuzz.campaign.children import MakeDevice
from kfuzz.campaign.danger import MOST_FATAL, Fatal, checkpoint, draw_number, features_of, is_free, rules_of
from kfuzz.campaign.errand import Errand
from kfuzz.campaign.events import Event, Tried
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import KernelResult
from kfuzz.campaign.schedule import AGAIN, rounds
from kfuzz.cases.plans.scale import BUDGET
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import Outcome
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu.device import GpuDevice

TEXT = """// Ends its process where a row is no multiple of 4, and leaves out the last element where it is none of 8.
//
// /// kernel
// op       = "row_sum"
// axes     = { rows = "1..1000", cols = "1..64" }
// arrays   = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// accuracy = { adds = "cols" }
// launch   = [{ entry = "deadly_sum", grid = "ceil_div(rows, 64)", block = 64, args = ["y", "x", "rows", "cols"] }]
// ///
#include <unistd.h>

__global__ void deadly_sum(float *y, const float *x, int rows, int cols) {
    // y is (rows), x is (rows, cols)
    if (WHEN) {
#ifdef __NVCC__
        *reinterpret_cast<volatile float *>(16) = 1.0f;
#else
        _exit(3);
#endif
    }
    const int row = blockIdx.x * blockDim.x + threadIdx.x;  // may pass rows - 1
    float sum = 0.0f;
    for (int col = 0; row < rows && col < cols - (cols % 8 == 4); ++col) {
        sum += x[static_cast<size_t>(row) * cols + col];
    }
    if (row < rows) {
        y[row] = sum;
    }
}
"""


def deadly(folder: Path, when: str) -> Kernel:
    path = folder / "deadly.cu"
    path.write_text(TEXT.replace("WHEN", when))
    return load(path)


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return deadly(tmp_path, "cols % 4 != 0")


class CountingDevice(CpuDevice):
    """Knows how many trials it was waited for."""

    answers = 0

    def answer(self) -> Outcome:
        CountingDevice.answers += 1
        return super().answer()


def text_of(one: KernelResult) -> str:
    return repr(replace(one.progress, seconds={}))


def check_both_are_found(kernel: Kernel, device: MakeDevice, cases: int) -> KernelResult:
    (one,) = run_campaign([kernel], device, Options(seed=1, max_cases=cases, timeout=2.0)).kernels
    kinds = [found.defect.kind for found in one.discoveries if found.is_error]
    assert "numeric" in kinds
    assert {"trap", "illegal-address"} & set(kinds)
    assert 0 < len(one.progress.fatal) < MOST_FATAL
    assert (one.progress.retired, one.progress.next) == ("", cases)  # where no draw keeps clear, there is no trial
    return one


@pytest.mark.slow
def test_a_crash_is_kept_clear_of_and_the_second_defect_is_found(kernel: Kernel) -> None:
    check_both_are_found(kernel, CpuDevice, 60)


@pytest.mark.soak
def test_what_is_kept_clear_of_depends_on_no_process_and_no_interruption(kernel: Kernel) -> None:
    alone = check_both_are_found(kernel, CpuDevice, 100)
    options = Options(seed=1, max_cases=100, timeout=2.0, jobs=2, out=kernel.path.parent / "out")

    def stop(event: Event) -> None:
        if isinstance(event, Tried) and event.total == 21:
            raise KeyboardInterrupt

    assert run_campaign([kernel], CpuDevice, options, stop).stop_reason == "interrupted"
    assert text_of(run_campaign([kernel], CpuDevice, options).kernels[0]) == text_of(alone)


@pytest.mark.gpu
def test_on_a_gpu_it_is_kept_clear_of_too(kernel: Kernel) -> None:
    check_both_are_found(kernel, GpuDevice, 300)


@pytest.mark.soak
def test_a_kernel_that_always_crashes_is_given_up_with_a_message(tmp_path: Path) -> None:
    CountingDevice.answers = 0
    (one,) = run_campaign([deadly(tmp_path, "true")], CountingDevice, Options(seed=1, max_cases=100)).kernels
    assert one.progress.retired == f"{MOST_FATAL} trials have ended their process; it is not tried further"
    assert one.progress.trials == CountingDevice.answers  # its block is not run to its end
    assert one.progress.trials == MOST_FATAL
    assert [found.defect.kind for found in one.discoveries] == ["trap"]


@pytest.mark.slow
def test_what_was_done_ahead_of_a_kernel_that_was_given_up_is_not_waited_for(tmp_path: Path) -> None:
    """Somebody does ten blocks before the first is told: those after the end of the kernel are not asked for."""
    done, reported = [], []

    def as_fatal(end: End) -> End:
        return replace(end, fatal="trap") if isinstance(end, TrialEnd) and end.index >= 70 else end

    def spread(
        streams: Sequence[Iterator[Errand | None]], _: float | None
    ) -> Generator[tuple[int, Sequence[End]], None, None]:
        with closing(CpuDevice()) as device:
            while ahead := list(islice(takewhile(lambda one: one is not None, streams[0]), 10)):
                results = [[as_fatal(end) for end in one.work(device, one.task)] for one in ahead if one]
                done.extend(results)
                for ends in results:
                    reported.append(ends)
                    yield 0, ends

    options = Options(seed=1, max_cases=800)
    (one,) = run_campaign([deadly(tmp_path, "false")], CpuDevice, options, spread=spread).kernels
    assert one.progress.retired.startswith(f"{MOST_FATAL} trials")
    assert one.progress.next == 70 + MOST_FATAL
    assert len(reported) < len(done)


def test_what_the_crashes_have_in_common_is_found_and_kept_clear_of(kernel: Kernel) -> None:
    columns = {index: features_of(kernel, 1, index, BUDGET)["cols"] for index in range(14)}
    odd: Fatal = tuple((index, "trap") for index, cols in columns.items() if cols % 4)
    assert list(map(str, rules_of(kernel, 1, BUDGET, odd))) == ["cols not a multiple of 4"]
    rules = rules_of(kernel, 1, BUDGET, odd)
    numbers = [draw_number(kernel, 1, index, BUDGET, rules) for index in range(14, 40)]
    drawn = [number for number in numbers if number is not None]
    assert all(number is None or number % AGAIN == 14 + place for place, number in enumerate(numbers))
    assert 2 * len(drawn) > len(numbers)  # a size beside a number in the text is the same in each draw
    assert all(features_of(kernel, 1, number, BUDGET)["cols"] % 4 == 0 for number in drawn)
    assert any(number >= AGAIN for number in drawn)


def test_where_most_trials_crash_there_is_no_rule(kernel: Kernel) -> None:
    every: Fatal = tuple((index, "trap") for index in range(6))
    assert rules_of(kernel, 1, BUDGET, every) == ()
    assert draw_number(kernel, 1, 9, BUDGET, ()) == 9
    assert is_free(15, every[:3])
    assert not is_free(14, every[:3])
    assert not is_free(15, every)


def test_a_block_waits_for_those_before_it_at_first_and_later_for_none_that_is_near() -> None:
    firsts = [block.first for blocks in rounds([600]) for block in blocks]
    assert sorted({checkpoint(first) for first in firsts}) == [0, 2, 6, 14, 30, 62, 126, 254]
    assert [checkpoint(first) for first in (0, 2, 6, 14, 30)] == [0, 2, 6, 14, 30]
    assert all(checkpoint(first) <= first // 2 for first in firsts if first > 30)
    assert [checkpoint(first, 0) for first in (0, 2, 6, 14, 30, 62)] == [0, 0, 2, 6, 14, 30]  # of a callable
