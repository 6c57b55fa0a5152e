"""Programs whose host threads use CUDA: each call of the runtime is made alone, and what is right stays silent."""

from functools import partial
from pathlib import Path

import pytest
from paths import DATA
from program_runs import built, check_program

pytestmark = pytest.mark.slow
check = partial(check_program, runs=3)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("threads"), str(DATA / "threads" / "eight_streams.cu"))


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
