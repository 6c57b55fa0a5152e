"""Grids whose blocks wait for one another by grid.sync(): the findings in wrong ones, and none in right ones."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from planted_programs import job, program

from kfuzz.claims.kernel import load
from kfuzz.devices import Buffer, ClaimError, Finding, Job, Outcome, Probe, Step
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.measure.mutants.mutate import mutants
from kfuzz.measure.mutants.trials import ScoreOptions, control_of, score_of
from kfuzz.oracle.numbers.elements import F32

THREADS_HELD = 24_576

CROWD = """// Sums of rows by more threads than the cpu device holds at once, which all wait for one another.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..3", cols = "1..8" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
//
// [[launch]]
// entry       = "sums"
// grid        = 100
// cooperative = true
// block       = 512
// args        = ["y", "x", "rows", "cols"]
// ///
#include <cooperative_groups.h>

__global__ void sums(float *y, const float *x, int rows, int cols) {
    cooperative_groups::this_grid().sync();
    if (blockIdx.x < rows && threadIdx.x == 0) {
        float sum = 0.0f;
        for (int col = 0; col < cols; ++col) sum += x[blockIdx.x * cols + col];
        y[blockIdx.x] = sum;
    }
}
"""


def rounds(grid: int, threads: int = 64, shared: int = 0) -> Job:
    """Blocks that pass values around a ring, with one grid barrier per round."""
    one = job(replace(program("grid_rounds"), grid=grid), False, threads, 0)
    zeros = np.zeros(2 * grid * threads, np.float32)
    buffers = tuple(replace(each, shape=zeros.shape, content=zeros) for each in one.buffers)
    return replace(one, buffers=buffers, steps=(replace(one.steps[0], shared=shared),))


def run(device: CpuDevice, one: Job, seconds: float = 20.0) -> Outcome:
    return device.run(one, Probe(check=True, runs=1, seed=0, timeout=seconds))


def errors(device: CpuDevice, one: Job) -> list[Finding]:
    return [each for each in run(device, one).findings if each.severity == "error"]


def test_a_grid_that_is_not_cooperative_cannot_wait_for_itself(device: CpuDevice) -> None:
    one = job(program("grid_rounds"), False, 64, 0)
    assert errors(device, one) == []
    (found,) = errors(device, replace(one, steps=(replace(one.steps[0], cooperative=False),)))
    assert found.kind == "hang"
    assert "the launch is not cooperative" in found.message
    assert one.source.splitlines()[(found.line or 0) - 1].strip() == "cg::sync(grid);"


def test_blocks_that_wait_for_one_that_has_ended_are_counted(device: CpuDevice) -> None:
    (found,) = errors(device, job(program("grid_without_some"), True, 64, 0))
    assert found.message == "2 blocks wait in grid.sync() for others that ended without it"


@pytest.mark.slow
def test_no_current_gpu_holds_more_blocks_than_an_h200(device: CpuDevice) -> None:
    whole = 196_608  # bytes of shared memory: one block per multiprocessor
    assert errors(device, rounds(132, shared=whole)) == []
    (found,) = errors(device, rounds(133, shared=whole))
    assert found.kind == "hang"
    assert found.message == (
        "132 blocks wait in grid.sync() for one that cannot start: no more blocks fit on the GPU at once"
    )


def test_more_threads_than_this_device_holds_at_once_are_not_judged(device: CpuDevice) -> None:
    outcome = run(device, rounds(THREADS_HELD // 1024 + 1, threads=1024))
    assert [(one.kind, one.severity) for one in outcome.findings] == [("out-of-memory", "warning")]
    assert str(THREADS_HELD) in outcome.findings[0].message


@pytest.mark.slow
def test_a_grid_that_meets_again_and_again_does_not_hang(device: CpuDevice) -> None:
    source = """#include <cooperative_groups.h>
__global__ void k(float *y) {
    for (int round = 0; round < 1 << 30; round++) {
        cooperative_groups::this_grid().sync();
    }
    y[blockIdx.x] = 1.0f;
}
"""
    step = Step("k", (2, 1, 1), (32, 1, 1), 0, ("y",), cooperative=True)
    buffers = (Buffer("y", F32, (2,), is_output=True),)
    outcome = run(device, Job("k", Path("k.cu"), source, (), 256, buffers, (step,), ("k",)), 1.0)
    assert outcome.findings == ()
    assert any("too slow here" in note for note in outcome.notes)


PERSISTENT = """__global__ void k(float *y) {
    for (int i = 0; i < 1 << 20; i++) {
        volatile float held = 0;
        for (int again = 0; again < 100000; again++) {
            held = held + 1;
        }
        y[WHERE] = held;
    }
}
"""


@pytest.mark.parametrize(("where", "kinds"), [("i", []), ("i % 4", ["hang"])])
def test_a_block_that_writes_one_element_after_the_other_does_not_hang(
    device: CpuDevice, where: str, kinds: list[str]
) -> None:
    buffers = (Buffer("y", F32, (1 << 20,), is_output=True),)
    job = Job(
        "k",
        Path("k.cu"),
        PERSISTENT.replace("WHERE", where),
        (),
        256,
        buffers,
        (Step("k", (1, 1, 1), (1, 1, 1), 0, ("y",)),),
        ("k",),
    )
    outcome = run(device, job, 0.5)
    assert [one.kind for one in outcome.findings] == kinds
    assert any("too slow here" in note for note in outcome.notes) == (not kinds)


KERNEL = """// A whole grid.
//
// /// kernel
// op     = "row_sum"
// axes   = {{ rows = "1..100", cols = "1..100" }}
// arrays = {{ x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }}
//
// [[launch]]
// entry = "k"
// grid  = "rows"
// block = 32{said}
// args  = ["y", "x", "cols"]
// ///
__global__ void k(float *y, const float *x, int cols) {{}}
"""


@pytest.mark.parametrize(("said", "cooperative"), [("", False), ("\n// cooperative = true", True)])
def test_a_launch_is_cooperative_if_the_claim_says_so(tmp_path: Path, said: str, cooperative: bool) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL.format(said=said))
    bound = load(path).bind({"x": np.ones((2, 3), np.float32)}, {})
    assert bound.job.steps[0].cooperative == cooperative


def test_cooperative_is_true_or_false(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL.format(said='\n// cooperative = "rows"'))
    with pytest.raises(ClaimError, match=r"cooperative.*true or false is expected"):
        load(path)


def test_too_many_blocks_are_not_an_accusation_in_a_score(device: CpuDevice, tmp_path: Path) -> None:
    path = tmp_path / "crowd.cu"
    path.write_text(CROWD)
    kernel, options = load(path), ScoreOptions(seed=3, max_cases=2)
    bound = kernel.bind({"x": np.ones((1, 1), np.float32)}, {})
    assert [each.kind for each in run(device, bound.job).findings] == ["out-of-memory"]
    control = control_of(kernel, device, options)
    assert (control.trials, control.defects) == (2, ())
    assert score_of(mutants(kernel)[0], kernel, device, options, control).status == "survived"
