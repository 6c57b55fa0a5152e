"""Whole PTX modules, written by hand: their values, and findings with the line of `.loc` or of the module."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from paths import DATA
from planted_jobs import job_of

from kfuzz.devices import Call, ClaimError, Job, Outcome, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.cpu.ptx.asm_text import AsmError
from kfuzz.devices.cpu.ptx.module import PtxLimits, read_module

ROWS, COLUMNS = 4, 100


def text_of(name: str) -> str:
    return (DATA / "ptx" / f"{name}.ptx").read_text(encoding="utf-8")


def job_of_module(text: str, block: int = 128) -> Job:
    """A job that adds rows of 0, 1, 2, ..."""
    x = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)
    arguments = {"y": f"f32[{ROWS}]", "x": x, "n": COLUMNS}
    job = job_of(text, ("row_sum",), "row_sum", arguments, block=block, grid=ROWS)
    return replace(job, path=Path("planted.ptx"), through="ptx")


def run(device: CpuDevice, text: str, block: int = 128, check: bool = True) -> Outcome:
    return device.run(job_of_module(text, block), Probe(check=check, timeout=30.0))


def found(outcome: Outcome) -> set[tuple[str, str, str, int | None]]:
    """Severity, kind, file and line of each finding."""
    return {(one.severity, one.kind, one.file, one.line) for one in outcome.findings}


@pytest.mark.slow
@pytest.mark.parametrize("check", [False, True])
def test_a_right_module_gives_its_values_and_no_finding(device: CpuDevice, check: bool) -> None:
    outcome = run(device, text_of("row_sum"), check=check)
    assert outcome.findings == ()
    first = np.arange(ROWS) * COLUMNS
    np.testing.assert_array_equal(outcome.runs[0].outputs["y"], COLUMNS * first + COLUMNS * (COLUMNS - 1) / 2)


EDITS = {
    "a deleted barrier": ("bar.sync 0;", "", {("error", "race", 13), ("error", "race", 16)}),
    "a missing bound": ("@%p1 bra STORE;", "", {("error", "out-of-bounds", 12)}),
    "a word that is never written": (
        "st.shared.f32 [%r7], %f1;",
        "@!%p1 st.shared.f32 [%r7], %f1;",
        {("error", "uninitialised", 16)},
    ),
    "a register without a value": (
        "st.shared.f32 [%r7], %f1;",
        "st.shared.f32 [%r7], %f4;",
        {("warning", "uninitialised", 13)},
    ),
    "a misaligned load": (
        "ld.global.f32 %f1, [%rd6];",
        "ld.global.f32 %f1, [%rd6+2];",
        {("error", "misaligned", 12)},
    ),
    "a row too far": ("mul.wide.u32 %rd5, %r3, 4;", "mul.wide.u32 %rd5, %r3, 8;", {("error", "out-of-bounds", 17)}),
}


@pytest.mark.slow(2)
@pytest.mark.parametrize("edit", EDITS)
def test_a_planted_bug_is_found_on_its_source_line(device: CpuDevice, edit: str) -> None:
    old, new, wanted = EDITS[edit]
    text = text_of("row_sum")
    assert text.count(old) == 1
    places = found(run(device, text.replace(old, new)))
    assert {(severity, kind, "row_sum.cu", line) for severity, kind, line in wanted} <= places


@pytest.mark.slow
def test_without_places_a_finding_names_the_line_of_the_module(device: CpuDevice) -> None:
    text = text_of("row_sum").replace("bar.sync 0;", "")
    text = "\n".join(line if ".loc" not in line else "" for line in text.split("\n"))
    store = next(number for number, line in enumerate(text.split("\n"), 1) if "st.shared" in line)
    outcome = run(device, text)
    assert ("error", "race", "", store) in found(outcome)
    assert not any("kfuzz tried it" in one.message for one in outcome.findings)  # it has no barrier of PTX to try


@pytest.mark.slow
def test_every_state_space_calls_and_branches_by_numbers(device: CpuDevice) -> None:
    x = np.array([7, 0, 0, 11], np.int32)
    call = Call("calls", ("y", "x", "n", "3.75f"), ("void *y", "void *x", "int n"))
    job = job_of(text_of("calls"), (), "calls", {"y": "i32[32]", "x": x, "n": 1000}, block=32, shared=128)
    steps = tuple(replace(one, entry=call) for one in job.steps)
    job = replace(job, path=Path("planted.ptx"), through="ptx", entries=(call,), steps=steps)
    outcome = device.run(job, Probe(check=True, timeout=30.0))
    assert outcome.findings == ()
    t = np.arange(32)
    which = t & 3
    wanted = np.array([2, 3, 5, 7])[which] * 2 * 1000000 + which**3 + np.array([100, 200, 300, 300])[which]
    np.testing.assert_array_equal(outcome.runs[0].outputs["y"], wanted + 10000 + (31 - t) + 18 + 3 * 1000)


@pytest.mark.slow
def test_a_thread_may_end_in_a_function_and_addresses_may_be_short(device: CpuDevice) -> None:
    call = Call("ends", ("y",), ("void *y",))
    job = job_of(text_of("ends"), (), "ends", {"y": np.zeros(32, np.int32)}, block=32)
    steps = tuple(replace(one, entry=call) for one in job.steps)
    buffers = tuple(replace(one, is_output=True) for one in job.buffers)
    job = replace(job, path=Path("planted.ptx"), through="ptx", entries=(call,), steps=steps, buffers=buffers)
    outcome = device.run(job, Probe(check=True, timeout=30.0))
    assert outcome.findings == ()
    t = np.arange(32)
    wanted = np.where(t % 2, 0, t * np.array([2, 3, 5, 7])[t & 3] + 1)
    np.testing.assert_array_equal(outcome.runs[0].outputs["y"], wanted)


ONE_WORD = """.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 last;
.visible .entry one_word(.param .u64 y)
{
  .reg .b32 %r<3>;
  mov.u32 %r1, %tid.x;
  OPERATION
  ret;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operation", "kinds"),
    [
        ("st.global.u32 [last], %r1;", {"race"}),
        ("atom.global.cta.exch.b32 %r2, [last], %r1;", {"race"}),
        ("atom.global.exch.b32 %r2, [last], %r1;", set()),
    ],
)
def test_a_variable_that_the_module_only_writes_is_checked(device: CpuDevice, operation: str, kinds: set[str]) -> None:
    """g++ would remove the stores; two blocks write, so the scope of a block is too small."""
    call, text = Call("one_word", ("y",), ("void *y",)), ONE_WORD.replace("OPERATION", operation)
    job = job_of(text, (), "one_word", {"y": "i32[2]"}, block=1, grid=2)
    steps = tuple(replace(one, entry=call) for one in job.steps)
    buffers = tuple(replace(one, is_output=False) for one in job.buffers)
    job = replace(job, path=Path("planted.ptx"), through="ptx", entries=(call,), steps=steps, buffers=buffers)
    outcome = device.run(job, Probe(check=True, timeout=30.0))
    assert {one.kind for one in outcome.findings} - {"unwritten"} == kinds


@pytest.mark.slow
@pytest.mark.parametrize("meets", [True, False])
def test_a_grid_meets_by_the_device_runtime_and_a_block_knows_its_shared_memory(device: CpuDevice, meets: bool) -> None:
    """Numba's `grid.sync()`, and its shared arrays whose size a launch gives."""
    call, text = Call("grid_meets", ("y", "x"), ("void *y", "void *x")), text_of("grid_meets")
    text = text if meets else text.replace("call.uni (done)", "// call.uni (done)")
    job = job_of(text, (), "grid_meets", {"y": "i32[2]", "x": "i32[2]"}, block=1, grid=2, shared=48)
    steps = tuple(replace(one, entry=call, cooperative=True) for one in job.steps)
    job = replace(job, path=Path("planted.ptx"), through="ptx", entries=(call,), steps=steps)
    outcome = device.run(job, Probe(check=True, timeout=30.0))
    assert ("race" in {one.kind for one in outcome.findings}) is not meets
    if meets:
        assert outcome.findings == ()
        np.testing.assert_array_equal(outcome.runs[0].outputs["y"], [49, 48])


@pytest.mark.slow
def test_what_has_no_row_is_one_line(device: CpuDevice) -> None:
    text = text_of("row_sum").replace("add.f32 %f2, %f2, %f3;", "sust.b.1d.b32 [%rd1], {%r1};")
    with pytest.raises(ClaimError) as error:
        run(device, text)
    wanted = "row_sum.cu:16: the PTX instruction sust.b.1d.b32, which runs on the GPU alone"
    assert str(error.value) == wanted


@pytest.mark.slow
def test_a_launch_that_the_module_forbids_is_refused(device: CpuDevice) -> None:
    with pytest.raises(ClaimError, match=r"at most 128 threads \(\.maxntid\); block = 256$"):
        run(device, text_of("row_sum"), block=256)
    text = text_of("row_sum").replace(".maxntid 128, 1, 1", ".reqntid 64")
    with pytest.raises(ClaimError, match=r"blocks of \(64, 1, 1\) \(\.reqntid\); block = \(128, 1, 1\)$"):
        run(device, text)


def test_a_module_is_read() -> None:
    module = read_module(text_of("calls"))
    assert [one.name for one in module.entries] == ["calls"]
    assert [(one.space, one.name, one.bytes) for one in module.variables] == [
        ("const", "factors", 16),
        ("global", "added", 8),
        ("shared", "buffer", 0),
    ]
    twice = module.function("twice")
    assert twice is not None
    assert twice.body is not None  # and not the declaration before it
    assert module.entries[0].limits == PtxLimits(exact_block=(32, 1, 1))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nonsense", "the PTX text nonsense"),
        (".visible .entry f(.param .u64 y) {", "f, whose brace stays open"),
        (".visible .entry f(.param .u99 y) { ret; }", r"the declaration .param .u99 y"),
    ],
)
def test_what_is_no_module_is_one_line(text: str, why: str) -> None:
    with pytest.raises(AsmError, match=why) as error:
        read_module(f".version 8.0\n.target sm_90\n{text}\n")
    assert error.value.line == 3


INLINED = """.version 8.0
.file 1 "mine.cu"
.file 2 "/usr/local/cuda-13.0/include/cuda_fp16.hpp"
.file 3 "helper.cuh"
.visible .entry f()
{
    .loc 1 10 5
    ret;
    .loc 2 900 3, function_name $L1, inlined_at 3 7 1
    .loc 3 7 1, function_name $L2, inlined_at 1 12 5
    ret;
    .loc 2 900 3, function_name $L1, inlined_at 3 7 1
    ret;
    .loc 2 900 3, function_name $L1, inlined_at 1 20 5
    ret;
    .loc 1 0 5
    ret;
}
"""


COMMENTED = """.version 8.0
.file 1 "/home/me/tile.py"
.file 2 "/lib/python3.11/site-packages/triton/language/standard.py"
.visible .entry f()
{
    .loc 1 10 5                             // tile.py:10:5
    ret;
    .loc 2 170 27                           // standard.py:170:27 @[ standard.py:191:40 @[ tile.py:12:29 ] ]
    ret;
    .loc 2 170 27                           // standard.py:170:27 @[ unknown.py:191:40 ]
    ret;
}
"""


def test_a_call_that_only_a_comment_names_counts_as_a_call() -> None:
    """LLVM writes it so for Triton: a race in `tl.sum` was one of Triton's own file."""
    lines = read_module(COMMENTED).places.lines
    assert [(lines[number].file, lines[number].line) for number in (7, 9, 11)] == [(1, 10), (1, 12), (2, 170)]


def test_a_line_is_the_innermost_of_the_users_own_files() -> None:
    places = read_module(INLINED).places
    assert {number: (one.file, one.line) for number, one in places.lines.items()} == {
        8: (1, 10),
        11: (3, 7),
        13: (3, 7),  # and not the header's
        15: (1, 20),  # the same line of it, inlined at another call
    }
