"""Programs whose host threads use CUDA: each call of the runtime is made alone, and what is right stays silent."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from paths import DATA

from kfuzz.devices import Finding
from kfuzz.programs.build import compile_source, link, load_program
from kfuzz.programs.check import CheckedProgram, Server
from kfuzz.programs.command_line import parse

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("threads") / "program"
    command = parse([str(DATA / "threads" / "eight_streams.cu")])
    link([compile_source(one, command.flags).object for one in command.sources], command, made)
    return made


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with closing(Server()) as server:
        yield server


def check(program: Path, server: Server, *arguments: str, runs: int = 3) -> tuple[CheckedProgram, list[Finding]]:
    one = CheckedProgram(load_program(program), (str(program), *arguments), 60.0, server, lambda _: None)
    return one, list(one.examine(runs, seed=1).findings)


def test_eight_threads_with_a_stream_each_are_right(program: Path, server: Server) -> None:
    one, findings = check(program, server, runs=8)
    assert findings == []
    assert {(each.exit_code, each.output) for each in one.printed} == {(0, "")}


@pytest.mark.parametrize(("wrong", "kind"), [("race", "race"), ("trap", "trap")])
def test_what_one_thread_does_wrong_is_found(program: Path, server: Server, wrong: str, kind: str) -> None:
    assert kind in {one.kind for one in check(program, server, wrong)[1]}


def test_a_thread_may_end_the_program(program: Path, server: Server) -> None:
    one, findings = check(program, server, "exit", runs=20)
    assert ([each.exit_code for each in one.printed], findings) == ([7] * 20, [])
