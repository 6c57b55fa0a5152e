"""Launches that repeat an earlier one and change nothing are not run again; the program's answer stays the same."""

from contextlib import closing
from pathlib import Path

import pytest
from paths import DATA

from kfuzz.programs.build import compile_source, link, load_program
from kfuzz.programs.check import CheckedProgram, Server
from kfuzz.programs.command_line import parse
from kfuzz.programs.sampling import BlockSampling
from kfuzz.views.program import sampling_notes

pytestmark = pytest.mark.slow
AT_ONCE = BlockSampling(accesses_in_full=0, sampled_from=64)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("often") / "program"
    command = parse([str(DATA / "large_launches" / "measured_often.cu")])
    link([compile_source(one, command.flags).object for one in command.sources], command, made)
    return made


def check(program: Path, what: str, sampling: BlockSampling | None = AT_ONCE) -> tuple[str, int]:
    """What the program prints, and how many launches were not run."""
    with closing(Server()) as server:
        words = (str(program), what)
        one = CheckedProgram(load_program(program), words, 60.0, server, lambda _: None, sampling=sampling)
        assert list(one.examine(1, seed=1).findings) == []
    return one.printed[0].output, one.sampled.skipped


def test_of_400_equal_launches_two_are_run(program: Path) -> None:
    assert check(program, "plain") == ("2 2\n", 398)


def test_a_launch_that_changes_memory_is_run_each_time(program: Path) -> None:
    assert check(program, "adds") == ("400 400\n", 0)


def test_after_another_change_of_memory_a_launch_is_run_again(program: Path) -> None:
    assert check(program, "copies") == ("2 6\n", 396)


def test_a_whole_run_and_one_with_pinned_memory_run_every_launch(program: Path) -> None:
    assert check(program, "plain", None) == ("2 2\n", 0)
    assert check(program, "pinned") == ("2 2\n", 0)


def test_the_report_says_how_many_launches_were_not_run(program: Path) -> None:
    with closing(Server()) as server:
        one = CheckedProgram(
            load_program(program), (str(program), "plain"), 60.0, server, lambda _: None, sampling=AT_ONCE
        )
        one.examine(1, seed=1)
    notes = list(sampling_notes(one.sampled))
    assert (
        notes[-1]
        == "398 launches repeated an earlier one that left all memory as it was, and were not run; --whole runs all"
    )
