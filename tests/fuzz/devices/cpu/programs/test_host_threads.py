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


SIGNALLED = """
#include <csignal>
#include <ctime>
int main() {
  int device, *memory;
  cudaMalloc(&memory, 1 << 30);  // from here on the runtime looks
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGRTMAX - 3;  // as the runtime's own look at memory, but twenty times as often
  timer_t timer;
  itimerspec every = {{0, 500000}, {0, 500000}};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &every, nullptr);
  for (clock_t start = clock(); clock() - start < 2 * CLOCKS_PER_SEC;)
    for (int i = 0; i < 1000; i++) cudaGetDevice(&device);
  return 3;
}
"""


def test_a_signal_between_the_steps_of_a_call_is_handled_once(tmp_path: Path) -> None:
    """A thread that leaves a call passed the signal to itself, for ever: it took itself for another one in a call."""
    (tmp_path / "own.cu").write_text(SIGNALLED)
    one, findings = check(built(tmp_path, str(tmp_path / "own.cu")), runs=1)
    assert [each.exit_code for each in one.printed] == [3] * len(one.printed)
    assert (one.refusal, findings) == ("", [])
