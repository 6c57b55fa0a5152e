"""Launches that repeat an earlier one, and that nothing could see, are not run; the program's answer stays the same."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from paths import DATA
from program_runs import built, server

from kfuzz.devices import Finding
from kfuzz.devices.cpu.abi import Assume
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.experiments import FINE, Manner
from kfuzz.devices.cpu.programs.build import load_program
from kfuzz.devices.cpu.programs.check import CheckedProgram
from kfuzz.devices.cpu.programs.sampling import BlockSampling
from kfuzz.devices.memory.layout import POISONS
from kfuzz.ui.reports.program import sampling_notes

pytestmark = pytest.mark.slow
SOURCE = DATA / "large_launches" / "measured_often.cu"
AT_ONCE = BlockSampling(accesses_in_full=0, sampled_from=64)
FORWARD = Manner(0, POISONS[0], seed=1)
NOT_YET = BlockSampling(accesses_in_full=1 << 40, sampled_from=64)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return load_program(built(tmp_path_factory.mktemp("often"), str(SOURCE)))


def run(
    program: Library, *words: str, sampling: BlockSampling | None = AT_ONCE
) -> tuple[CheckedProgram, Sequence[Finding]]:
    """The program after a run, and its findings."""
    given = ("often", *words)
    one = CheckedProgram(program, given, 60.0, server(), lambda _: None, sampling=sampling)
    findings = one.examine(1, seed=1).findings
    assert (one.stopped, one.refusal) == ("", "")
    return one, findings


def check(program: Library, *words: str, sampling: BlockSampling | None = AT_ONCE) -> tuple[str, int]:
    """What the program prints, and how many launches were not run, of a program without findings."""
    one, findings = run(program, *words, sampling=sampling)
    assert list(findings) == []
    return one.printed[0].output, one.sampled.skipped


def experiment(program: Library, manner: Manner, *words: str) -> tuple[str, int]:
    """What the program prints in one run of this manner, and how many launches were not run."""
    one = CheckedProgram(program, ("often", *words), 60.0, server(), lambda _: None, sampling=AT_ONCE)
    one.run_once("check", manner, 0.0)
    assert (one.stopped, one.refusal) == ("", "")
    return one.printed[0].output, one.sampled.skipped


def test_of_400_equal_launches_two_are_run(program: Library) -> None:
    assert check(program, "plain") == ("2 2\n", 398)


@pytest.mark.parametrize(
    ("words", "prints"),
    [
        (("adds",), "400 400\n"),
        (("frees its input",), "400 400\n"),
        (("counts",), "400\n"),
        (("counts by atomics",), "400 0\n"),
        (("draws",), "as expected\n"),
        (("reads a clock",), "done\n"),
        (("clears", "reads"), "1 1\n"),
        (("points elsewhere",), "0 0\n"),
        (("takes turns",), "1 1\n"),
        (("multiplies", "reads"), "800 0\n"),
        (("frees all", "twice"), "once\n"),
        (("workspaces", "reads"), "100 0\n"),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else None,
)
def test_a_launch_that_changes_what_is_read_is_run_each_time(
    program: Library, words: tuple[str, ...], prints: str
) -> None:
    assert check(program, *words) == (prints, 0)


@pytest.mark.parametrize(
    ("word", "prints", "skipped"),
    [
        ("reads nothing", "done\n", 399),
        ("reads half way", "400 400\n", 400),
        ("clears", "", 399),
        ("multiplies", "", 399),
        ("frees all", "", 399),
        ("workspaces", "", 198),
    ],
)
def test_a_launch_that_changes_what_nothing_reads_is_not_run(
    program: Library, word: str, prints: str, skipped: int
) -> None:
    assert check(program, word) == (prints, skipped)


@pytest.mark.soak
def test_workspaces_that_take_the_place_of_earlier_ones_wait_too(program: Library) -> None:
    assert check(program, "workspaces", "nothing", "1200") == ("", 2398)
    assert check(program, "workspaces", "reads", "1200") == ("1200 0\n", 0)


def test_after_another_change_of_memory_a_launch_is_run_again(program: Library) -> None:
    assert check(program, "copies") == ("2 6\n", 396)


def test_a_whole_run_and_one_with_pinned_memory_run_every_launch(program: Library) -> None:
    assert check(program, "reads nothing", sampling=None) == ("done\n", 0)
    assert check(program, "pinned") == ("2 2\n", 0)


@pytest.mark.parametrize(
    ("word", "prints"), [("reads nothing", "done\n"), ("clears", ""), ("multiplies", ""), ("frees all", "")]
)
def test_before_a_run_samples_eight_equal_launches_are_run(program: Library, word: str, prints: str) -> None:
    assert check(program, word, sampling=NOT_YET) == (prints, 392)


def test_before_a_run_samples_the_ninth_launch_is_compared(program: Library) -> None:
    assert check(program, "plain", sampling=NOT_YET) == ("2 2\n", 391)


@pytest.mark.soak
def test_before_a_run_samples_every_launch_that_changes_something_is_run(program: Library) -> None:
    assert check(program, "adds", sampling=NOT_YET) == ("400 400\n", 0)
    _, findings = run(program, "races", sampling=NOT_YET)
    assert "race" in {one.kind for one in findings if one.severity == "error"}


@pytest.mark.parametrize(
    "manner",
    [
        replace(FORWARD, late_writes=True),
        replace(FORWARD, preempt_one_in=FINE),
        replace(FORWARD, assume=Assume.atomics_release),
    ],
    ids=["late writes", "turns", "assumption"],
)
def test_an_experiment_leaves_out_what_nothing_sees_and_no_more(program: Library, manner: Manner) -> None:
    assert experiment(program, manner, "reads nothing") == ("done\n", 399)
    assert experiment(program, manner, "counts") == ("400\n", 0)


def test_an_experiment_that_does_not_end_leaves_the_program_at_its_end(program: Library, tmp_path: Path) -> None:
    words = ("often", "ends once", str(tmp_path / "made"))
    one = CheckedProgram(program, words, 0.1, server(), lambda _: None)
    findings = one.examine(1, seed=1).findings
    assert (one.stopped, one.refusal) == ("", "")
    assert {race.kind for race in findings} == {"race"}
    assert any("none that ended in time changes the result" in race.message for race in findings)


def test_a_launch_counts_as_known_that_ran_before_the_run_began_to_sample(program: Library) -> None:
    assert check(program, "reads nothing", sampling=BlockSampling(20_000, 64)) == ("done\n", 399)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("uses what it has freed",), "y[i] += x[i]"),
        (("frees what a table names",), "table[0][i] += x[i]"),
        (("workspaces", "freed"), "y[i] += x[i]"),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else None,
)
def test_a_launch_behind_a_free_is_run_and_its_use_of_the_array_found(
    program: Library, words: tuple[str, ...], line: str
) -> None:
    _, findings = run(program, *words)
    number = next(n for n, text in enumerate(SOURCE.read_text().splitlines(), 1) if line in text)
    assert {(one.kind, one.line) for one in findings if one.severity == "error"} == {("use-after-free", number)}


@pytest.mark.soak
def test_launches_that_waited_race_with_another_stream_only_if_nothing_orders_them(program: Library) -> None:
    assert check(program, "waits") == ("", 0)
    assert check(program, "records") == ("", 0)
    _, findings = run(program, "races")
    assert "race" in {one.kind for one in findings if one.severity == "error"}


def test_the_report_says_how_many_launches_were_not_run(program: Library) -> None:
    one, _ = run(program, "reads nothing")
    assert list(sampling_notes(one.sampled))[-1] == (
        "399 launches repeated an earlier one and were not run, since it left all memory as it was or nothing read "
        "what they would change; --whole runs all"
    )


def test_only_the_first_of_equal_launches_takes_turns(program: Library) -> None:
    printed, skipped = experiment(program, replace(FORWARD, preempt_one_in=FINE), "plain")
    assert (printed, skipped > 390) == ("2 2\n", True)
