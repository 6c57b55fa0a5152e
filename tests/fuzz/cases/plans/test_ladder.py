"""Sizes near powers of two up to 2^32: each rung is tried once, and what begins there is found without a GPU."""

from math import prod
from pathlib import Path

import numpy as np
import pytest
from paths import DATA

from kfuzz.campaign import schedule
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.campaign.trials.vast import choose_vast_part
from kfuzz.cases.plans.choose import seeded_choices
from kfuzz.cases.plans.plan import plan, plan_rung
from kfuzz.cases.plans.vast import ELEMENTS, Rung, rungs
from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.devices import Circumstances, Job, Probe, Run
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu.vast import find_unwritten_in_rows
from kfuzz.devices.memory.layout import OUTPUT, POISONS
from kfuzz.devices.memory.vast import KINDS, LATE, alternate_rows
from kfuzz.devices.worker.worker import Worker

RIGHT = KERNELS / "softmax" / "three_pass_thread.cu"
BOTH = "    y += row * cols;\n    x += row * cols;\n"
EXHIBITS = {
    "__mul24": (
        BOTH.replace("row * cols", "__mul24(row, cols)"),
        ("illegal-address", Rung("rows", 23)),
        Rung("rows", 20),
    ),
    "a row number in a float": (
        BOTH.replace("x += row *", "x += static_cast<size_t>(static_cast<float>(row)) *"),
        ("numeric", Rung("rows", 24)),
        Rung("rows", 24, is_beyond=False),
    ),
    "bytes in an unsigned, read alone": (
        "    y += row * cols;\n"
        "    const unsigned at = 4 * row * cols;\n"
        "    x = reinterpret_cast<const float *>(reinterpret_cast<const char *>(x) + at);\n",
        ("numeric", Rung(ELEMENTS, 30)),
        Rung(ELEMENTS, 29),
    ),
    "elements in an unsigned": (
        "    const unsigned first = row * cols;\n    y += first;\n    x += first;\n",
        ("race", Rung(ELEMENTS, 32)),
        Rung(ELEMENTS, 31),
    ),
}
IN_THE_SUITE = ("__mul24", "elements in an unsigned")


def try_rung(kernel: Kernel, rung: Rung, device: CpuDevice) -> Trial:
    attempt = plan_rung(kernel, rung, seeded_choices(7))
    assert attempt is not None
    return run_trial(
        kernel, attempt.case, attempt.tune, device, schedule.probe_of(kernel, 1, schedule.RUNG_FIRST, 3, 30.0)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one in IN_THE_SUITE else pytest.mark.soak) for one in EXHIBITS]
)
def test_what_begins_beyond_a_power_of_two_is_found_there_and_not_before(
    name: str, tmp_path: Path, device: CpuDevice
) -> None:
    wrong, (kind, found_at), silent_at = EXHIBITS[name]
    source = RIGHT.read_text()
    assert BOTH in source
    (tmp_path / "wrong.cu").write_text(source.replace(BOTH, wrong))
    kernel = load(tmp_path / "wrong.cu")
    assert {found_at, silent_at} <= set(rungs(kernel))
    found, silent = (try_rung(kernel, rung, device) for rung in (found_at, silent_at))
    right = try_rung(load(RIGHT), found_at, device)
    assert {(defect.kind, defect.severity) for defect in found.defects} == {(kind, "error")}
    assert (silent.defects, right.defects) == ((), ())
    assert min(silent.rows, right.rows) > 0
    if kind == "race":
        assert "as an earlier block does" in found.defects[0].message


NARROW = {
    "scales by columns, several blocks a row": (
        "group_quantize/e4m3_group_warp",
        ("static_cast<size_t>(group) * GROUP;", "static_cast<unsigned short>(group) * GROUP;"),
        Rung("cols", 23),
    ),
    "bytes of two elements, scales in tiles": (
        "group_quantize/mxfp4_tiles",
        ("static_cast<size_t>(blockIdx.x)", "static_cast<unsigned short>(blockIdx.x)"),
        Rung(ELEMENTS, 29),
    ),
    "bytes of two elements, a row a block": (
        "rms_norm_quantize/e2m1_half_warp",
        ("static_cast<size_t>(blockIdx.x)", "static_cast<unsigned short>(blockIdx.x)"),
        Rung("rows", 16),
    ),
}


DOUBLED = """
INPUTS = {"q": "grid[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}


def formula(N, q):
    return q + q
"""
DOUBLES = """
// /// kernel
// op     = "doubled.py"
// axes   = { rows = "1..8388608", cols = { min = 2, max = 64, multiple = 2 } }
// arrays = { q = "i8[rows, cols] -> q, stride 512", y = "f32[rows, cols] <- y, stride 96" }
//
// [[launch]]
// entry = "double_rows"
// grid  = "rows"
// block = "64"
// args  = ["y", "q", "cols"]
// ///
__global__ void double_rows(float *y, const signed char *q, int cols) {
  const int col = threadIdx.x, row = blockIdx.x;
  if (col < cols) y[(size_t)row * 96 + col] = 2.0f * q[row * 512 + col];
}
"""


def write_doubles(folder: Path, text: str = DOUBLES) -> Kernel:
    (folder / "doubled.py").write_text(DOUBLED)
    (folder / "doubles.cu").write_text(text)
    return load(folder / "doubles.cu")


@pytest.mark.slow
def test_an_index_that_overflows_in_rows_with_a_stride_is_found_and_rows_below_are_judged(tmp_path: Path) -> None:
    kernel = write_doubles(tmp_path)
    with CpuDevice() as device:
        silent, found = (try_rung(kernel, Rung(ELEMENTS, 31, beyond), device) for beyond in (False, True))
    assert silent.defects == ()
    assert silent.rows > 0
    assert {(defect.kind, defect.severity) for defect in found.defects} == {("illegal-address", "error")}
    assert ", which is " in found.defects[0].message


def vast_job(kernel: Kernel, rung: Rung) -> Job:
    attempt = plan_rung(kernel, rung, seeded_choices(7))
    assert attempt is not None
    bound = kernel.bind(kernel.stored(attempt.case.arrays), attempt.tune)
    return choose_vast_part(kernel, attempt.case, bound.job, 1)


def test_a_process_runs_the_next_job_after_one_that_took_all_its_addresses() -> None:
    kernel, worker = load(RIGHT), Worker("kfuzz.devices.cpu.backend")
    plain = plan(kernel, seeded_choices(1), 1 << 17, large="columns")
    jobs = vast_job(kernel, Rung(ELEMENTS, 31)), kernel.bind(plain.case.arrays, plain.tune).job
    try:
        huge = worker.run(jobs[0], Probe(False, 1, 1, 10.0))
        first = worker.pid
        small = worker.run(jobs[1], Probe(False, 1, 1, 10.0))
        assert (huge.untried, huge.ended, small.ended, len(small.runs)) == (None, False, False, 1)
        assert worker.pid == first
    finally:
        worker.close()


def test_alternating_rows_are_those_that_their_rule_names() -> None:
    for shape, axis in (((40, 12), 0), ((3, 40, 2), 1), ((5, 0), 0)):
        length, rows = (
            prod(shape) // shape[axis],
            [place for place in (0, 1, 2, 3, 4, 13, 38, 7) if place < shape[axis]],
        )
        made = np.moveaxis(alternate_rows(shape, axis, rows), axis, 0).reshape(len(rows), length)
        kinds = [row % KINDS for row in rows]
        assert made.tolist() == [[float((c + LATE[k]) % (2 + k) == 0) for c in range(length)] for k in kinds]


def test_no_row_is_judged_whose_input_lies_in_words_because_no_device_fills_these_by_element(tmp_path: Path) -> None:
    words = "i4x2[rows, cols / 2] -> q"
    packed = write_doubles(tmp_path, DOUBLES.replace("i8[rows, cols] -> q, stride 512", words))
    (tmp_path / "plain").mkdir()
    plain = write_doubles(tmp_path / "plain", DOUBLES.replace(", stride 512", ""))
    rung = Rung("rows", 20)
    most = [one.vast.most_rows for one in (vast_job(packed, rung), vast_job(plain, rung)) if one.vast]
    assert most[0] == 0 < most[1]


def test_what_lies_between_rows_is_not_unwritten(tmp_path: Path) -> None:
    job = vast_job(write_doubles(tmp_path), Rung("rows", 20))
    output = next(one for one in job.buffers if one.is_output)
    assert output.used is not None
    bits = [np.full((2, *output.shape[1:]), word + OUTPUT, np.uint32) for word in POISONS[:2]]
    runs = [Run(Circumstances(), {output.name: one.view(np.float32)}, rows=(0, 5)) for one in bits]
    for one in bits:
        one[:, : output.used] = 0
    assert list(find_unwritten_in_rows(job, runs)) == []
    for one, word in zip(bits, POISONS, strict=False):
        one[1, 1] = word + OUTPUT
    assert [found.count for found in find_unwritten_in_rows(job, runs)] == [1]


TAKEN = """
INPUTS = {{"x": "float[rows, cols]", "at": "int[rows, cols] < {below}"}}
OUTPUTS = {{"y": "float[rows, cols]"}}


def formula(N, x, at):
    return N.where(at == 1, x, 0.0)
"""
TAKES = """
// /// kernel
// op     = "taken.py"
// axes   = { rows = "1..1024", cols = "1..4194304" }
// arrays = { x = "f32[rows, cols] -> x", at = "i32[rows, cols] -> at", y = "f32[rows, cols] <- y" }
//
// [[launch]]
// entry = "take"
// grid  = "ceil_div(rows * cols, 128)"
// block = "128"
// args  = ["y", "x", "at", "rows", "cols"]
// ///
__global__ void take(float *y, const float *x, const int *at, int rows, int cols) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (size_t)rows * cols) y[i] = at[i] == 1 ? x[i] : 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if "tiles" in one else pytest.mark.soak) for one in NARROW]
)
def test_an_index_of_sixteen_bits_is_found_in_arrays_of_words_and_other_layouts(
    name: str, tmp_path: Path, device: CpuDevice
) -> None:
    kernel, (right, wrong), rung = NARROW[name]
    source = (KERNELS / f"{kernel}.cu").read_text()
    assert right in source
    folder = tmp_path / "kernels" / "any"
    folder.mkdir(parents=True)
    for header in KERNELS.glob("*.cuh"):
        (folder.parent / header.name).write_text(header.read_text())
    (folder / "wrong.cu").write_text(source.replace(right, wrong))
    found = try_rung(load(folder / "wrong.cu"), rung, device)
    kept = try_rung(load(KERNELS / f"{kernel}.cu"), rung, device)
    assert [(defect.kind, defect.severity) for defect in found.defects] == [("race", "error")]
    assert "as an earlier block does" in found.defects[0].message
    assert kept.defects == ()


def test_a_ladder_has_the_rungs_that_the_claim_reaches_those_beyond_first() -> None:
    every = rungs(load(RIGHT))
    assert len(set(every)) == len(every) <= schedule.MOST_RUNGS
    assert Rung("cols", 29) in every
    assert Rung("cols", 31) not in every
    beyond = [one.is_beyond for one in every]
    assert beyond == sorted(beyond, reverse=True)
    assert rungs(load(KERNELS / "softmax" / "grid_three_launches.cu")) == ()  # its blocks pass data to each other


def test_each_rung_has_one_trial_of_a_campaign_and_no_other_large_one() -> None:
    kernel = load(RIGHT)
    indices = range(
        schedule.RUNG_FIRST, schedule.RUNG_FIRST + schedule.RUNG_EVERY * schedule.MOST_RUNGS, schedule.RUNG_EVERY
    )
    assert [rung for index in range(4096) if (rung := schedule.rung_of(kernel, index))] == list(rungs(kernel))
    assert {schedule.large_of(index) for index in indices} == {"rung"}
    assert not {index % schedule.LARGE_EVERY for index in indices} & set(schedule.LARGE)
    assert schedule.attempt_of(kernel, 1, schedule.RUNG_FIRST).rung == rungs(kernel)[0]


def test_no_rung_gives_a_uniform_input_the_number_1() -> None:
    """A right dropout was accused in trial 105: its numbers were 1 on the device, and below 1 for the oracle."""
    kernel = load(DATA / "properties" / "dropout_by_given_numbers.cu")
    assert rungs(kernel) == ()
    assert plan_rung(kernel, Rung(ELEMENTS, 16), seeded_choices(1)) is None


@pytest.mark.parametrize(("below", "is_tried"), [("1", False), ("2", True), ("rows", True)])
def test_no_rung_gives_an_integer_below_1_the_number_1(below: str, is_tried: bool, tmp_path: Path) -> None:
    (tmp_path / "taken.py").write_text(TAKEN.format(below=below))
    (tmp_path / "taken.cu").write_text(TAKES)
    kernel = load(tmp_path / "taken.cu")
    assert (plan_rung(kernel, Rung("cols", 20), seeded_choices(1)) is not None) is is_tried
