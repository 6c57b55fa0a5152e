"""compute-sanitizer's reports, as version 2025.3.1 wrote them for tests/data/planted/gpu_faults.cu on an H200.

Where all 37 or 64 threads complain alike, the report has the complaints of the first four.
"""

import time
from pathlib import Path

import numpy as np
import pytest
from paths import DATA
from planted_jobs import Mark, entries, expected, source

from benchmarks.detection.tools import Watching, job_of, verdict_of
from kfuzz.devices import Buffer, Finding, Job, Outcome
from kfuzz.devices.gpu.sanitizer import merge_findings, read_report, split_complaints
from kfuzz.oracle.numbers.elements import F32

HERE = DATA
PATH = HERE / "planted" / "gpu_faults.cu"
N = 37


def job(path: Path = PATH) -> Job:
    x = np.zeros(N, np.float32)
    return Job("k", path, "", (), 256, (Buffer("y", F32, (N,), is_output=True), Buffer("x", F32, (N,), x)), (), ())


def findings(entry: str, tool: str, path: Path = PATH) -> list[Finding]:
    report = (HERE / "sanitizer_reports" / f"{entry}.{tool}.txt").read_text(encoding="utf-8")
    return list(read_report(report, job(path)))


def mark_of(entry: str) -> Mark:
    """The finding that the lines of a kernel name."""
    (mark,) = expected(source("gpu_faults"), entry)
    return mark


def test_every_faulty_kernel_names_its_fault() -> None:
    assert [entry for entry in entries("gpu_faults") if not expected(source("gpu_faults"), entry)] == ["copies"]


@pytest.mark.parametrize(
    ("entry", "tool", "array", "index", "thread", "count"),
    [
        ("writes_after", "memcheck", "y", N, 37, 3),
        ("reads_a_vector_too_many", "memcheck", "x", 36, 9, 1),
        ("reads_misaligned", "memcheck", "x", 0, 0, 4),
        ("adds_to_its_output", "initcheck", "y", 0, 0, 4),
        ("reads_far_away", "memcheck", None, None, 0, 4),
        ("traps", "memcheck", None, None, 0, 4),
    ],
)
def test_a_complaint_is_read_with_its_line_array_and_first_thread(
    entry: str, tool: str, array: str | None, index: int | None, thread: int, count: int
) -> None:
    (found,) = findings(entry, tool)
    assert (found.severity, found.kind, found.line) == mark_of(entry)
    assert (found.array, found.index) == (array, index)
    assert (found.thread, found.block, found.count) == ((thread, 0, 0), (0, 0, 0), count)


def test_a_hazard_has_the_lines_of_both_accesses_and_is_a_warning() -> None:
    (found,) = findings("races", "racecheck")
    severity, kind, write = mark_of("races")
    assert (found.severity, found.kind, found.line, found.other_line) == (severity, kind, write, write + 1)
    assert found.message == "write and read of shared memory without a barrier between them"


def test_a_clean_report_has_no_findings() -> None:
    assert findings("copies", "memcheck") == []
    assert [
        record.head for record in split_complaints("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n")
    ]


def test_two_instructions_of_an_mbarrier_are_no_hazard() -> None:
    said = (
        "========= Warning: Race reported between Write access at void cuda::ptx::__4::mbarrier_init<void>()+0xf0 "
        "in mbarrier_init.h:19\n"
        "=========     and Read access at unsigned long cuda::ptx::__4::mbarrier_arrive_expect_tx<0>()+0x110 in {}:38 "
        "[384 hazards]\n"
    )
    assert list(read_report(said.format("mbarrier_arrive_expect_tx.h"), job())) == []
    assert [found.kind for found in read_report(said.format("mine.cu"), job())] == ["race"]


def test_lines_of_other_files_are_not_taken_for_lines_of_the_kernel() -> None:
    (found,) = findings("writes_after", "memcheck", HERE / "other.cu")
    assert found.line is None


def test_what_was_known_without_its_line_gets_it_and_what_is_new_is_added() -> None:
    known = Finding("out-of-bounds", "write beside y: element 37", array="y", index=37, step=0)
    seen = findings("writes_after", "memcheck") + findings("traps", "memcheck")
    first, second = merge_findings((known,), tuple(seen))
    assert (first.line, first.step, first.thread) == (seen[0].line, 0, (37, 0, 0))
    assert first.message.startswith(
        "write beside y: element 37; out-of-bounds write of 4 bytes of global memory, at y[37]"
    )
    assert second == seen[1]


def test_a_hazard_is_an_error_only_where_the_runs_differ_too() -> None:
    (hazard,) = findings("races", "racecheck")
    varies = Finding("nondeterministic", "the same input gave different bits", severity="warning")
    assert merge_findings((), (hazard,)) == (hazard,)
    assert [found.severity for found in merge_findings((varies,), (hazard,))] == ["warning", "error"]
    assert Outcome(findings=merge_findings((), (hazard,))).findings[0].severity == "warning"


def test_what_a_tool_says_is_put_down_to_the_program_whose_kernel_it_names(tmp_path: Path) -> None:
    one = Watching("racecheck", [], tmp_path, 0.0)
    one.read(
        "========= COMPUTE-SANITIZER\n"
        "========= Error: Race reported between Write access at pair_tree_sum_bug+0x80 in tree_sum.cu:12\n"
        "=========     and Read access at pair_tree_sum_bug+0x90 in tree_sum.cu:13 [4 hazards]\n"
        "========= Uninitialized __global__ memory read of size 4 bytes\n"
        "=========     at pair_row_sum_right(float *)+0x50 in a.cu:3\n"
        "========= RACECHECK SUMMARY: 1 hazard displayed\n"
    )
    assert one.told == {"pair_tree_sum_bug": {("race", True)}, "pair_row_sum_right": {("uninitialised", True)}}
    assert verdict_of("race", {("race", True)}) == "found"
    assert verdict_of("race", {("race", False), ("out-of-bounds", True)}) == "warned"
    assert verdict_of("race", {("out-of-bounds", True)}) == "missed"


@pytest.mark.slow
def test_a_process_that_does_not_end_is_ended_and_the_others_go_on_behind_its_job(tmp_path: Path) -> None:
    jobs = [job_of("tree_sum", has_bug, 64) for has_bug in (False, True)]
    one = Watching("racecheck", jobs, tmp_path, time.monotonic() + 1.0)
    assert one.last_of(["sh", "-c", "echo job 0; echo job 1; sleep 100"], 0) == 1
    assert list(one.seconds) == ["pair_tree_sum_right"]  # the other was not at its end
