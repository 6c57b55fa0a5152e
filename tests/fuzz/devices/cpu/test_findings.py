"""The cpu device finds, names and locates every planted bug, and reports nothing in correct code beside it."""

from dataclasses import replace

import numpy as np
import pytest
from planted_jobs import Value, entries, expected, floats, job_of, planted, reported, source

from kfuzz.devices import Finding, Job, Outcome, Probe, Run
from kfuzz.devices.cpu.abi import Status
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.cpu.experiments import CpuRun, Manner, examine
from kfuzz.devices.cpu.findings import Sight
from kfuzz.devices.cpu.options import Flavour
from kfuzz.kinds import Kind

CHECK = Probe(check=True, timeout=5.0)
FAST = Probe(timeout=5.0)


def job(name: str, **more: int) -> Job:
    """The planted kernel of this name, with arguments that bring out what is in it."""
    file, arguments, launch = JOBS[name]
    return planted(file, name, arguments, **{"block": 64, **launch, **more})


JOBS: dict[str, tuple[str, dict[str, Value], dict[str, int]]] = {
    "missing_barrier_in_loop": ("races", {"x": floats(256), "y": "f32[1]"}, {"block": 256}),
    "missing_barrier_after_load": ("races", {"x": floats(256), "y": "f32[1]"}, {"block": 256}),
    "lost_update": ("races", {"y": "f32[1]"}, {}),
    "last_warp": ("races", {"x": floats(64), "y": "f32[1]"}, {}),
    "array_used_again<256>": ("races", {"x": floats(256), "y": "f32[256]"}, {"block": 256}),
    "blocks_update_one_cell": ("races", {"y": np.zeros(1, np.float32)}, {"grid": 4, "block": 32}),
    "all_write_the_same": ("races", {"x": floats(1), "y": "f32[1]"}, {}),
    "all_write_another_third_word": ("races", {"x": floats(64), "y": "f32[4]"}, {}),
    "never_shows": ("races", {"x": floats(64), "y": "f32[64]"}, {}),
    "never_shows_between_blocks": (
        "races",
        {"x": floats(8), "part": "f32[8] = 0", "y": "f32[8]"},
        {"block": 1, "grid": 8},
    ),
    "ticket_without_fence": (
        "races",
        {"x": floats(8), "part": "f32[8]", "y": "f32[1]", "count": "u32[1] = 0"},
        {"grid": 8},
    ),
    "looks_without_a_barrier": ("races", {"y": "f32[1]", "count": "i32[1] = 0"}, {}),
    "bytes_of_one_word": ("races", {"y": "u32[64]"}, {}),
    "lanes_in_step": ("races", {"x": floats(64), "y": "f32[1]"}, {}),
    "half_warps_in_step": ("races", {"x": floats(64), "y": "f32[64]"}, {}),
    "a_read_then_two_reads": ("races", {"x": floats(32), "y": "f32[32]"}, {"block": 32}),
    "ticket": ("races", {"x": floats(8), "part": "f32[8]", "y": "f32[1]", "count": "u32[1] = 0"}, {"grid": 8}),
    "blocks_count_atomically": ("races", {"y": np.zeros(1, np.float32)}, {"grid": 8}),
    "locked": ("races", {"y": "f32[1]", "lock": "i32[1] = 0"}, {}),
    "waits_for_a_flag": ("races", {"y": "f32[1]", "flag": "i32[1] = 0"}, {}),
    "waits_for_a_shared_flag": ("races", {"y": "f32[1]"}, {}),
    "copies_a_struct_with_padding": ("races", {"y": "f32[64]", "x": floats(64)}, {}),
    "write_past_the_end": ("accesses", {"y": "f32[100]", "n": 100}, {"block": 128}),
    "read_past_the_end": ("accesses", {"x": floats(64), "y": "f32[64]"}, {}),
    "read_before_the_start": ("accesses", {"x": floats(64), "y": "f32[64]"}, {}),
    "unused_load_past_shared": ("accesses", {"x": floats(64), "y": "f32[64]"}, {"shared": 256}),
    "static_array_into_the_next": ("accesses", {"y": "f32[64]"}, {}),
    "far_away": ("accesses", {"y": "f32[4]"}, {"block": 4}),
    "through_null": ("accesses", {"y": floats(1)}, {"block": 1}),
    "misaligned_vector": ("accesses", {"x": floats(64), "y": "f32[1]", "start": 1}, {"block": 1}),
    "misaligned_pair": ("accesses", {"x": floats(64), "y": "f32[1]", "start": 1}, {"block": 1}),
    "tail_of_the_tile": ("accesses", {"x": floats(64), "y": "f32[64]", "n": 50}, {}),
    "adds_to_nothing": ("accesses", {"y": "f32[1]"}, {}),
    "reads_scratch_first": ("accesses", {"x": floats(64), "scratch": "f32[64]", "y": "f32[64]"}, {}),
    "every_other": ("accesses", {"y": "f32[65]", "n": 65}, {}),
    "scribbles_on_input": ("accesses", {"x": floats(64), "y": "f32[64]"}, {}),
    "loads_and_throws_away": ("accesses", {"x": floats(64), "y": "f32[64]", "n": 50}, {}),
    "fills_by_pieces": ("accesses", {"x": floats(64), "y": "f32[64]"}, {}),
    "remembers": ("accesses", {"x": floats(1), "y": "f32[1]"}, {"block": 1}),
    "barrier_in_both_branches": ("collectives", {"x": floats(64), "y": "f32[64]"}, {}),
    "returns_before_the_barrier": ("collectives", {"x": floats(64), "y": floats(64), "n": 50}, {}),
    "one_barrier_less": ("collectives", {"x": floats(64), "y": "f32[64]", "n": 20}, {}),
    "barrier_against_shuffle": ("collectives", {"x": floats(32), "y": "f32[32]"}, {"block": 32}),
    "shuffle_after_return": ("collectives", {"x": floats(32), "y": "f32[1]", "n": 20}, {"block": 32}),
    "shuffle_in_a_branch": ("collectives", {"x": floats(32), "y": "f32[32]"}, {"block": 32}),
    "shuffle_in_part_of_a_warp": ("collectives", {"x": floats(48), "y": "f32[48]"}, {"block": 48}),
    "mask_without_me": ("collectives", {"y": "f32[32]"}, {"block": 32}),
    "shuffles_and_throws_away": ("collectives", {"x": floats(16), "y": "f32[1]"}, {"block": 16}),
    "branches_with_their_own_masks": ("collectives", {"x": floats(64), "y": "f32[64]"}, {}),
    "scan_across_blocks": (
        "innocent",
        {"y": "f32[512]", "x": floats(512), "sums": "f32[8]", "ready": "i32[8] = 0", "ticket": "u32[1] = 0"},
        {"grid": 8},
    ),
    "arrays_of_one_name": ("innocent", {"y": "f32[64]", "x": floats(64)}, {}),
    "scan_in_two_buffers": ("innocent", {"y": "f32[64]", "x": floats(64)}, {}),
    "bools_and_chars": ("innocent", {"y": "i32[64]", "x": floats(64)}, {}),
    "one_array_in_three_widths": ("innocent", {"y": "f32[64]", "x": floats(256)}, {}),
    "one_atomic_a_warp": (
        "innocent",
        {"y": np.zeros(256, np.int32), "x": floats(256), "count": "i32[1] = 0"},
        {"grid": 4},
    ),
    "histogram": ("innocent", {"y": np.zeros(16, np.uint32), "x": floats(1000), "n": 1000}, {"grid": 4}),
    "rows_in_place": ("innocent", {"y": floats(120), "cols": 30}, {"grid": 4, "block": 32}),
    "ticket_in_a_device_variable": ("innocent", {"y": "f32[64]", "x": floats(64), "part": "f32[256]"}, {"grid": 4}),
    "atomics_of_its_own": ("innocent", {"y": np.zeros(5, np.float32), "x": floats(64)}, {"grid": 4}),
    "leaves_before_it_swaps": ("innocent", {"y": np.zeros(1, np.float32), "x": floats(256)}, {"grid": 4}),
    "beyond_the_last_block": ("innocent", {"y": "f32[100]", "x": floats(100), "n": 100}, {"grid": 2}),
}

FOUND = [name for name, (file, _, _) in JOBS.items() if expected(source(file), name)]
"""The kernels whose lines carry the findings that must be reported: `//~ error: race`."""

BY_SWAPPING = {"atomics_of_its_own", "leaves_before_it_swaps"}
RELAXED = {"scan_across_blocks", *BY_SWAPPING, "waits_for_a_flag", "waits_for_a_shared_flag"}
"""Correct on every GPU, and data races by the letter of CUDA C++: flags polled by volatile, a plain read beside
atomicCAS. That is told as a warning where accesses are checked."""

RELAXED_RACE = ("race", "warning")

SILENT = [
    *(name for name, (file, _, _) in JOBS.items() if file == "innocent"),
    "bytes_of_one_word",
    "lanes_in_step",
    "half_warps_in_step",
    "a_read_then_two_reads",
    "ticket",
    "blocks_count_atomically",
    "locked",
    pytest.param("waits_for_a_flag", marks=pytest.mark.slow),  # spins for a second
    "waits_for_a_shared_flag",
    "copies_a_struct_with_padding",
    "fills_by_pieces",
    "remembers",
    "branches_with_their_own_masks",
]

SEEN_FAST = [
    # Bugs that show without a check of every access: by the result, by traces, or by a fault.
    ("missing_barrier_in_loop", "race"),
    ("missing_barrier_after_load", "race"),
    ("last_warp", "race"),
    ("array_used_again<256>", "race"),
    ("write_past_the_end", "out-of-bounds"),
    ("read_past_the_end", "out-of-bounds"),
    ("far_away", "illegal-address"),
    ("through_null", "illegal-address"),
    ("misaligned_vector", "misaligned"),
    ("tail_of_the_tile", "uninitialised"),
    ("adds_to_nothing", "uninitialised"),
    ("reads_scratch_first", "uninitialised"),
    ("every_other", "unwritten"),
    ("scribbles_on_input", "input-changed"),
    ("barrier_in_both_branches", "divergent-barrier"),
    ("returns_before_the_barrier", "divergent-barrier"),
    ("one_barrier_less", "divergent-barrier"),
    ("barrier_against_shuffle", "divergent-barrier"),
    ("shuffle_after_return", "inactive-lane"),
    ("shuffle_in_a_branch", "inactive-lane"),
    ("shuffle_in_part_of_a_warp", "inactive-lane"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND)
def test_the_check_flavour_reports_what_the_lines_say_and_nothing_else(device: CpuDevice, name: str) -> None:
    text = source(JOBS[name][0])
    assert reported(text, name, device.run(job(name), CHECK).findings) == expected(text, name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("//~ error: race", "//~ warning: race"),
        ("//~ error: race", ""),
        ("s = 0.0f;", "s = 0.0f;  //~ error: race"),
        ("//~ error: race", "//~ error: race //~ error: uninitialised"),
    ],
    ids=["another severity", "a finding without a mark", "a mark on another line", "a mark without a finding"],
)
def test_an_unexpected_finding_and_a_missing_one_are_noticed(device: CpuDevice, old: str, new: str) -> None:
    text = source("races").replace(old, new)
    marks = reported(text, "lost_update", device.run(job("lost_update"), CHECK).findings)
    assert marks != expected(text, "lost_update")


@pytest.mark.parametrize("file", sorted({file for file, _, _ in JOBS.values()}))
def test_every_mark_lies_in_a_kernel_that_runs(file: str) -> None:
    text = source(file)
    run = {line for name, (one, _, _) in JOBS.items() if one == file for _, _, line in expected(text, name)}
    assert run == {number for number, line in enumerate(text.splitlines(), 1) if "//~ " in line}


@pytest.mark.parametrize("seeds", [3, pytest.param(250, marks=pytest.mark.soak)])
@pytest.mark.parametrize("check", [True, False], ids=["check", "fast"])
@pytest.mark.parametrize("name", SILENT)
def test_correct_kernels_have_no_findings(device: CpuDevice, name: str, check: bool, seeds: int) -> None:
    for seed in range(seeds):
        outcome = device.run(job(name), Probe(check=check, runs=4, seed=seed, timeout=2.0))
        assert not [one for one in outcome.findings if name not in RELAXED or (one.kind, one.severity) != RELAXED_RACE]
        assert len(outcome.runs) == 4


@pytest.mark.parametrize("name", sorted(RELAXED))
def test_accesses_that_only_the_hardware_orders_are_one_warning(device: CpuDevice, name: str) -> None:
    (found,) = device.run(job(name), CHECK).findings
    assert (found.kind, found.severity) == RELAXED_RACE
    assert ("volatile" in found.message) == (name not in BY_SWAPPING)


@pytest.mark.parametrize(("name", "kind"), SEEN_FAST)
def test_the_fast_flavour_sees_traces(device: CpuDevice, name: str, kind: str) -> None:
    outcome = device.run(job(name), FAST)
    assert kind in {one.kind for one in outcome.findings}, outcome.findings


def test_an_unwritten_local_holds_the_same_in_every_run(device: CpuDevice) -> None:
    """It must not hold a value of another kernel, on which the findings of a campaign would then depend."""
    text = """__global__ void fills(float *y) {
                  volatile float deep[512];
                  for (int i = 0; i < 512; ++i) deep[i] = 1.5f;
                  y[threadIdx.x] = deep[threadIdx.x];
              }
              __global__ void forgets(float *y) {
                  volatile float local[64];
                  local[threadIdx.x % 2] = 2.5f;
                  y[threadIdx.x] = local[threadIdx.x];
              }"""
    entries = ("fills", "forgets")
    for before in entries:
        for entry in (before, "forgets"):
            outcome = device.run(job_of(text, entries, entry, {"y": "f32[32]"}, block=32, grid=1), FAST)
        for run in outcome.runs:
            assert set(run.outputs["y"][2:].tolist()) == {np.float32(-1.6947395e38)}


def test_a_finding_names_thread_block_array_and_index(device: CpuDevice) -> None:
    found = device.run(job("write_past_the_end", block=32, grid=4), CHECK).findings[0]
    assert (found.array, found.index, found.thread, found.block, found.step) == ("y", 100, (4, 0, 0), (3, 0, 0), 0)


def test_an_index_before_the_array_is_negative(device: CpuDevice) -> None:
    found = device.run(job("read_before_the_start"), CHECK).findings[0]
    assert (found.array, found.index, found.thread) == ("x", -1, (0, 0, 0))


def test_a_race_between_blocks_that_changes_the_result_is_an_error(device: CpuDevice) -> None:
    text = "__global__ void last_wins(float *y) { y[0] = blockIdx.x; }"
    outcome = device.run(job_of(text, ("last_wins",), "last_wins", {"y": "f32[1]"}, block=1, grid=3), CHECK)
    assert {(one.kind, one.severity) for one in outcome.findings} >= {("race", "error")}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("runs", [1, 3])
def test_a_read_before_the_first_of_two_equal_writes_is_an_error_in_any_order(
    device: CpuDevice, runs: int, seed: int
) -> None:
    text = """
    __global__ void k(float *y, int *flag) {
        if (blockIdx.x == 0) {
            if (threadIdx.x == 0) y[0] = flag[0];
            __syncthreads();
            if (threadIdx.x == 32) flag[0] = 1;  // behind the read
        } else if (threadIdx.x == 5) {
            flag[0] = 1;  // whenever it likes
        }
    }
    """
    job = job_of(text, ("k",), "k", {"y": "f32[1]", "flag": "i32[1] = 0"}, grid=2)
    found = device.run(job, Probe(check=True, runs=runs, seed=seed, timeout=5.0)).findings
    assert ("race", "error", 4, 8) in {(one.kind, one.severity, one.line, one.other_line) for one in found}, found


@pytest.mark.parametrize(
    ("name", "array"), [("all_lanes_write_their_sum", "f32[1]"), ("all_lanes_write_their_double_sum", "f64[1]")]
)
def test_lanes_that_all_write_a_nan_write_the_same(device: CpuDevice, name: str, array: str) -> None:
    x = floats(32)
    x[[3, 9, 25]] = np.nan, np.inf, -np.inf  # on a CPU nan + (inf - inf) has the sign of whichever comes first
    found = device.run(planted("races", name, {"x": x, "y": array}, block=32), CHECK)
    assert {one.severity for one in found.findings if one.kind == "race"} == {"warning"}, found.findings
    assert {one.severity for one in found.findings} == {"warning"}


def test_arrays_have_the_alignment_that_the_claim_allows_and_mostly_not_a_better_one(device: CpuDevice) -> None:
    text = """
    __global__ void k(int *y, const float *x) {
        y[0] = static_cast<int>(reinterpret_cast<size_t>(x) % 256);
    }"""
    for align, allowed in ((4, range(0, 256, 4)), (16, range(0, 256, 16)), (256, [0])):
        job = job_of(text, ("k",), "k", {"y": "i32[1]", "x": floats(4)}, block=1, align=align)
        found = {int(run.outputs["y"][0]) for seed in range(12) for run in device.run(job, Probe(seed=seed)).runs}
        assert found <= set(allowed)
        assert 0 in found
        assert align == 256 or any(one % (2 * align) for one in found)


def test_unwritten_elements_are_reported_even_beside_written_ones(device: CpuDevice) -> None:
    (found,) = device.run(job("every_other"), FAST).findings
    assert (found.kind, found.array, found.index, found.count) == ("unwritten", "y", 1, 32)


def test_the_write_explains_an_overwritten_guard(device: CpuDevice) -> None:
    found = [one for one in device.run(job("write_past_the_end"), FAST).findings if one.kind == "out-of-bounds"]
    assert [(one.line, one.index) for one in found] == [
        (next(iter(expected(source("accesses"), "write_past_the_end")))[2], 100)
    ]


def test_a_device_variable_has_its_initial_value_in_every_run(device: CpuDevice) -> None:
    for check in (False, True):
        outcome = device.run(job("remembers"), Probe(check=check))
        assert [float(one.outputs["y"][0]) for one in outcome.runs] == [7.0, 7.0, 7.0]


SLOW = """
__global__ void k(float *y, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += __int_as_float(0x3f800000 + (i & 7));
    }
    y[blockIdx.x] = sum;
}"""


def test_a_kernel_that_is_only_slow_does_not_hang(device: CpuDevice) -> None:
    arguments: dict[str, Value] = {"y": "f32[20000]", "n": 2_000_000}
    outcome = device.run(job_of(SLOW, ("k",), "k", arguments, block=1, grid=20_000), Probe(timeout=0.3))
    assert outcome.findings == ()
    assert "too slow" in outcome.notes[0]


@pytest.mark.parametrize("is_first", [False, True])
def test_only_the_runs_of_the_trial_can_hang(is_first: bool) -> None:
    """A run with every access checked that does not end in the remaining time is slow, but does not hang."""
    hang = Sight(Finding("hang", "thread 0 was running when time was up", line=3), None, True)

    def run_once(flavour: Flavour, manner: Manner, seconds: float) -> CpuRun:
        if flavour == "check" or is_first:
            return CpuRun(manner, None, (hang,), Status.timed_out, seconds, seconds, "")
        y = np.array([1.0 + manner.schedule], np.float32)  # in another order of threads another sum
        return CpuRun(manner, Run(manner.circumstances, {"y": y}), (), Status.finished, 0.1, 0.0, "")

    job = planted("races", entries("races")[0], {"y": "f32[1]"})
    kinds = {finding.kind for finding in examine(job, Probe(), run_once, set()).findings}
    assert kinds == ({"hang"} if is_first else {"nondeterministic"})


@pytest.mark.parametrize(("needs", "kinds", "known"), [(2.0, [], ()), (5.0, ["hang"], ()), (2.0, ["hang"], ("hang",))])
def test_a_run_that_ends_in_several_times_its_time_does_not_hang(
    needs: float, kinds: list[str], known: tuple[Kind, ...]
) -> None:
    hang = Sight(Finding("hang", "thread 0 was running when time was up", line=3), None, True)

    def run_once(flavour: Flavour, manner: Manner, seconds: float) -> CpuRun:
        if flavour == "check" or seconds < needs:
            return CpuRun(manner, None, (hang,), Status.timed_out, seconds, seconds, "")
        run = Run(manner.circumstances, {"y": np.ones(1, np.float32)})
        return CpuRun(manner, run, (), Status.finished, needs, 0.0, "")

    job = planted("races", entries("races")[0], {"y": "f32[1]"})
    outcome = examine(job, Probe(timeout=1.0, fatal=known), run_once, set())
    assert [one.kind for one in outcome.findings] == kinds
    assert kinds or "too slow here" in outcome.notes[0]


@pytest.mark.slow
@pytest.mark.parametrize("end", ["", "__syncthreads();"], ids=["returns", "barrier"])
def test_a_block_whose_threads_are_only_slow_does_not_hang(device: CpuDevice, end: str) -> None:
    slow = SLOW.replace("y[blockIdx.x]", f"{end} y[threadIdx.x]")
    arguments: dict[str, Value] = {"y": "f32[1024]", "n": 4_000_000}
    outcome = device.run(job_of(slow, ("k",), "k", arguments, block=1024), Probe(timeout=0.5))
    assert outcome.findings == ()
    assert "too slow" in outcome.notes[0]


def test_a_job_that_is_too_large_is_reported_and_not_judged(device: CpuDevice) -> None:
    outcome = device.run(job_of(SLOW, ("k",), "k", {"y": "f32[300000000]", "n": 1}, block=1), Probe(check=True))
    assert [(one.kind, one.severity) for one in outcome.findings] == [("out-of-memory", "warning")]


def test_a_job_that_is_too_large_to_check_runs_unchecked(device: CpuDevice) -> None:
    job = job_of(SLOW, ("k",), "k", {"y": "f32[1] = 0", "t": "f32[70000000]", "n": 1}, block=1)
    assert device.run(replace(job, steps=(replace(job.steps[0], args=("y", 1)),)), Probe(check=True)).notes == (
        "accesses were not checked: the arrays are too large for that",
    )


UNSET = """__global__ void k(float *y, const float *x, int n) {
    float sum;
    for (int i = 0; i < n; ++i) {
        sum += x[i];
    }
    y[threadIdx.x] = sum;
}
"""
USED_AT_ONCE = UNSET.replace("    for", "    sum += x[0];\n    for").replace("i = 0", "i = 1")
SET_LATER = """__global__ void k(float *y, const float *x, int n) {
    float sum;
    if (n > 0) {
        sum = 10.0f;
    }
    y[threadIdx.x] = n > 0 ? sum : 1.0f;
}
"""


def of_one_local(text: str, check: bool) -> Outcome:
    job = job_of(text, ("k",), "k", {"y": "f32[4]", "x": floats(4), "n": 4}, block=4)
    with CpuDevice() as device:
        return device.run(job, Probe(check=check))


@pytest.mark.parametrize("check", [False, True])
def test_a_local_variable_that_is_used_without_a_value_is_reported(check: bool) -> None:
    found = of_one_local(USED_AT_ONCE, check).findings
    assert [(one.kind, one.severity, one.line) for one in found] == [("uninitialised", "warning", 3)]


@pytest.mark.slow
@pytest.mark.parametrize("check", [False, True])
def test_a_local_variable_that_is_used_with_a_value_is_not_reported(check: bool) -> None:
    for text in (UNSET.replace("float sum;", "float sum = 0.0f;"), SET_LATER):
        outcome = of_one_local(text, check)
        assert outcome.findings == ()
        assert outcome.runs[0].outputs["y"].tolist() == [10.0] * 4


def test_a_local_variable_without_a_value_is_not_always_zero() -> None:
    """g++ -O2 lets it be 0, which makes this sum right; where accesses are checked, it is not 0."""
    assert not (of_one_local(UNSET, check=True).runs[0].outputs["y"] == 10.0).any()
