"""Of a large launch a sample of blocks is checked in full: what is found in the others, and what only --whole finds."""

import re
from dataclasses import replace

import pytest
from paths import DATA
from program_runs import built, server

from kfuzz.devices import Finding
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.programs.build import load_program
from kfuzz.devices.cpu.programs.check import CheckedProgram
from kfuzz.devices.cpu.programs.sampling import BlockSampling, SampledShare
from kfuzz.ui.reports.program import sampling_notes

SOURCE = DATA / "large_launches" / "blocks.cu"
AT_ONCE = BlockSampling(accesses_in_full=0, sampled_from=64)
"""Every launch of 64 blocks or more is sampled."""
BLOCKS, IN_SAMPLE = 4096, 32

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The program, built once."""
    return load_program(built(tmp_path_factory.mktemp("built"), str(SOURCE)))


def check(
    library: Library, what: str, blocks: int = BLOCKS, sampling: BlockSampling | None = AT_ONCE, runs: int = 1
) -> tuple[CheckedProgram, list[Finding]]:
    """The program after its runs, and their errors and warnings."""
    words = ("blocks", str(blocks), what)
    one = CheckedProgram(library, words, 60.0, server(), lambda _: None, sampling=sampling)
    findings = list(one.examine(runs, seed=1).findings)
    assert one.stopped == ""
    return one, findings


def line_of(mark: str) -> int:
    """The line of the source with this mark."""
    return next(n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if re.search(rf"// {mark}$", line))


def test_a_right_program_of_100000_blocks_has_no_finding(library: Library) -> None:
    done, findings = check(library, "right", blocks=100_000)
    assert findings == []
    assert (done.sampled.launches, done.sampled.blocks) == (3, 300_000)
    assert done.sampled.in_full <= 3 * (IN_SAMPLE + 1)


def test_a_launch_of_few_blocks_is_sampled_once_the_run_has_made_more_accesses(library: Library) -> None:
    for sampling, sampled in (
        (AT_ONCE, SampledShare()),
        (BlockSampling(0, 64, accesses_before_few=0), SampledShare(launches=3, blocks=96, in_full=6)),
    ):
        done, findings = check(library, "right", blocks=32, sampling=sampling)
        assert (findings, replace(done.sampled, in_part=0)) == ([], sampled)
    assert check(library, "right", blocks=7, sampling=BlockSampling(0, 64, 0))[0].sampled == SampledShare()


def test_a_sampled_program_prints_the_same_in_every_order(library: Library) -> None:
    done, findings = check(library, "right", runs=3)
    assert findings == []
    assert {(one.exit_code, one.output) for one in done.printed} == {(0, "0.75 1\n")}
    assert done.sampled.launches == 3


@pytest.mark.parametrize("sampling", [None, BlockSampling()], ids=["whole", "small"])
def test_a_small_program_is_checked_whole(library: Library, sampling: BlockSampling | None) -> None:
    done, findings = check(library, "right", sampling=sampling)
    assert (findings, done.sampled) == ([], SampledShare())


def test_a_launch_is_sampled_once_the_run_has_made_its_accesses_in_full(library: Library) -> None:
    done, _ = check(library, "right", sampling=BlockSampling(accesses_in_full=200_000, sampled_from=64))
    assert done.sampled.launches == 3
    assert 500 < done.sampled.in_full < BLOCKS


@pytest.mark.parametrize(
    ("what", "kind", "mark", "thread"),
    [
        ("first", "race", "IN-SHARED", None),
        ("last", "race", "IN-SHARED", None),
        pytest.param("shares", "race", "SHARED-WRITTEN", None, marks=pytest.mark.soak),
        ("peeks", "race", "SHARED-READ", None),
        ("outside", "out-of-bounds", "OUTSIDE", "thread 7 "),
        pytest.param("outside-shared", "out-of-bounds", "OUTSIDE-SHARED", "thread 31 ", marks=pytest.mark.soak),
        pytest.param("null", "illegal-address", "NULL", "thread 9 ", marks=pytest.mark.soak),
        ("unwritten", "uninitialised", "UNWRITTEN", None),
        ("stops", "trap", "TRAP", "thread "),
    ],
)
def test_a_bug_in_the_sample_or_met_by_it_or_of_bounds_is_found(
    library: Library, what: str, kind: str, mark: str, thread: str | None
) -> None:
    done, findings = check(library, what)
    reported = [one for one in findings if one.kind == kind and one.line == line_of(mark)]
    assert reported, findings
    assert thread is None or thread in reported[0].message
    assert done.sampled.in_full < BLOCKS


def test_only_whole_finds_a_race_within_a_block_that_is_not_in_the_sample(library: Library) -> None:
    assert check(library, "hidden")[1] == []
    _, findings = check(library, "hidden", sampling=None)
    assert ("race", line_of("IN-SHARED")) in {(one.kind, one.line) for one in findings}


@pytest.mark.parametrize("runs", [1, pytest.param(3, marks=pytest.mark.soak)])
def test_blocks_that_wait_for_others_are_checked_whole(library: Library, runs: int) -> None:
    done, findings = check(library, "waits", blocks=512, runs=runs)
    assert findings == []
    assert 512 <= done.sampled.in_full < 2 * 512


@pytest.mark.parametrize(
    ("share", "reported"),
    [
        (SampledShare(), []),
        (SampledShare(1, 100, 100, 0), []),
        (
            SampledShare(3, 1_048_576, 412, 9),
            [
                "of 1,048,576 blocks of 3 launches 412 were checked in full, 9 where they access the same memory, and "
                "all for their bounds; --whole checks all in full"
            ],
        ),
    ],
)
def test_the_report_says_how_many_blocks_were_checked_in_full(share: SampledShare, reported: list[str]) -> None:
    assert list(sampling_notes(share)) == reported
