"""Programs whose host threads use CUDA: each call of the runtime is made alone, and what is right stays silent."""

from pathlib import Path

import pytest
from paths import DATA
from program_runs import server

from kfuzz.devices import Finding
from kfuzz.devices.cpu.programs.build import compile_source, link, load_program
from kfuzz.devices.cpu.programs.check import CheckedProgram
from kfuzz.devices.cpu.programs.command_line import parse

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("threads") / "program"
    command = parse([str(DATA / "threads" / "eight_streams.cu")])
    link([compile_source(one, command.flags).object for one in command.sources], command, made)
    return made


def check(program: Path, *arguments: str, runs: int = 3) -> tuple[CheckedProgram, list[Finding]]:
    one = CheckedProgram(load_program(program), (str(program), *arguments), 60.0, server(), lambda _: None)
    return one, list(one.examine(runs, seed=1).findings)


def test_eight_threads_with_a_stream_each_are_right(program: Path) -> None:
    one, findings = check(program, runs=8)
    assert findings == []
    assert {(each.exit_code, each.output) for each in one.printed} == {(0, "")}


@pytest.mark.parametrize(("wrong", "kind"), [("race", "race"), ("trap", "trap")])
def test_what_one_thread_does_wrong_is_found(program: Path, wrong: str, kind: str) -> None:
    assert kind in {one.kind for one in check(program, wrong)[1]}


def test_a_thread_may_end_the_program(program: Path) -> None:
    one, findings = check(program, "exit", runs=20)
    assert ([each.exit_code for each in one.printed], findings) == ([7] * 20, [])
