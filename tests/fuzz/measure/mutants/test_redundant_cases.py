"""A corpus made smaller: no kill is lost, and a case without mutants stays."""

import contextlib
import io
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kfuzz.cases import corpus
from kfuzz.cases.case import Origin, Record, case_of
from kfuzz.measure.mutants.redundant_cases import redundant_cases
from kfuzz.ui.commands.group import main
from kfuzz.ui.commands.options import show_progress


def test_a_case_goes_whose_kills_the_others_make() -> None:
    assert redundant_cases({"a": {0, 1}, "b": {1}, "c": {2}}, lambda place: 0) == {0}


def test_of_two_that_do_the_same_the_large_one_goes() -> None:
    assert redundant_cases({"a": {0, 1}}, lambda place: (9, 4)[place]) == {0}
    assert redundant_cases({"a": {0, 1}}, lambda place: (4, 9)[place]) == {1}


def test_a_case_that_kills_nothing_stays() -> None:
    assert redundant_cases({"a": {0, 1}, "b": set()}, lambda place: 0) == {0}
    assert redundant_cases({}, lambda place: 0) == set()


def test_the_last_killer_of_a_mutant_stays_whatever_goes_before_it() -> None:
    killers = {"a": {0, 1, 2}, "b": {0, 1}, "c": {1, 2}, "d": {0, 2}}
    gone = redundant_cases(killers, lambda place: 0)
    assert all(cases - gone for cases in killers.values())
    assert gone


@pytest.mark.soak
def test_the_command_names_redundant_cases_and_deletes_only_on_request(tmp_path: Path) -> None:
    for count in (3, 30):
        x = np.arange(1, 2 * count + 1, dtype=np.float32).reshape(2, count)
        origin = Origin("transpose/naive", f"mine: numeric, {count}", "numeric", "wrong", "cpu", {"height": 8})
        corpus.save(tmp_path, Record(case_of("transpose", {"x": x}), origin))
    command = ["cmin", str(tmp_path), "--kernel", "transpose/naive", "--device", "cpu"]
    reported = CliRunner().invoke(main, command)
    assert (reported.exit_code, reported.stderr) == (0, ""), reported.output
    assert len(list(tmp_path.glob("*/*.json"))) == 2
    before = reported.output.splitlines()[-1]
    done = CliRunner().invoke(main, [*command, "--delete"])
    left = len(list(tmp_path.glob("*/*.json")))
    again = CliRunner().invoke(main, command).output.splitlines()[-1]
    assert done.exit_code == 0
    assert again.partition(";")[0] == before.partition(";")[0] != "", "no kill is lost"
    assert before.endswith("; 1 of 2 cases redundant")
    assert again.endswith("; 0 of 1 case redundant")
    assert left >= 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_progress_is_shown_on_a_terminal_alone(kind: type[io.StringIO], monkeypatch: pytest.MonkeyPatch) -> None:
    """35 texts stood on one line of a pipe."""
    monkeypatch.setenv("TERM", "xterm")
    with contextlib.redirect_stderr(kind()) as stream, show_progress("planting the first bugs") as show:
        show("3 planted bugs tried, at [mine]")
    said = stream.getvalue()
    assert "3 planted bugs tried, at [mine]" in said if kind is Terminal else said == ""


def test_a_folder_without_cases_is_one_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["cmin", str(tmp_path)])
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
