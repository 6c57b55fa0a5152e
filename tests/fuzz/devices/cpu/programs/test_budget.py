"""A check ends in time with a verdict on what ran, whatever the program does meanwhile."""

import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from program_runs import built, line_of, server

from kfuzz.devices.cpu.experiments import Manner
from kfuzz.devices.cpu.programs.ahead import RunsAhead, writes_no_files
from kfuzz.devices.cpu.programs.build import load_program
from kfuzz.devices.cpu.programs.check import CheckedProgram
from kfuzz.devices.cpu.programs.messages import ProgramEnd, ProgramRun
from kfuzz.devices.cpu.programs.sampling import NOTHING_SAMPLED, CheckedShare
from kfuzz.devices.cpu.programs.server import NOT_BEGUN, OutOfMemoryError, Printed, Server
from kfuzz.devices.memory.layout import POISONS
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.commands.group import main
from kfuzz.ui.reports.program import ProgramReport, share_notes, verdict

pytestmark = pytest.mark.slow

SOURCE = """
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <unistd.h>
__global__ void fill(int *a) { a[blockIdx.x * 64 + threadIdx.x] = 1; }
__global__ void everyone(int *a) { a[0] = threadIdx.x; }
__global__ void wait(volatile int *a) { while (!a[0]) {} }
__global__ void work(int *a, long n) { for (long i = 0; i < n; i++) a[i % 64] += i; }
bool meets(const std::string &folder) {
  fclose(fopen((folder + "/" + std::to_string(getpid())).c_str(), "w"));
  auto count = [&] { return std::distance(std::filesystem::directory_iterator(folder), {}); };
  for (int tries = 0; count() < 2 && tries < 600; tries++) usleep(100000);
  return count() > 1;
}
int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "ends";
  int *a;
  cudaMalloc(&a, 2048);
  cudaMemset(a, 0, 2048);
  fill<<<2, 64>>>(a + 64);
  if (strchr(what, '!')) everyone<<<1, 64>>>(a);
  cudaDeviceSynchronize();
  if (strstr(what, "spins")) for (volatile int i = 0;; i = i + 1) {}
  if (strstr(what, "forks")) { fork(); for (;;) pause(); }
  if (strstr(what, "prints")) for (;;) puts("again and again");
  if (strstr(what, "dies")) raise(SIGKILL);
  if (strstr(what, "waits")) wait<<<1, 1>>>(a);
  if (strstr(what, "works")) work<<<1, 1>>>(a, 1l << 40);
  if (strstr(what, "sleeps")) sleep(2);
  if (strstr(what, "rests")) sleep(5);
  if (strstr(what, "meets")) return !meets(argv[2]);
  if (strstr(what, "often")) for (;;) fill<<<4, 64>>>(a + 64), cudaDeviceSynchronize();
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built once."""
    folder = tmp_path_factory.mktemp("budget")
    (folder / "own.cu").write_text(SOURCE)
    return built(folder, str(folder / "own.cu"))


def check(
    program: Path, what: str, seconds: float, runs: int = 1, timeout: float = 60.0
) -> tuple[CheckedProgram, set[str]]:
    """The program after a check that ends in so many seconds, and the kinds of its errors."""
    library = load_program(program)
    server().run(
        ProgramRun(library, Manner(0, POISONS[0]), 60.0), (str(program),)
    )  # a new process begins in its own time
    began = time.monotonic()
    one = CheckedProgram(*(library, (str(program), what), timeout, server(), lambda _: None), deadline=began + seconds)
    findings = one.examine(runs, seed=1).findings
    assert time.monotonic() - began < seconds + 5  # ending the processes of a busy machine takes its time
    return one, {found.kind for found in findings if found.severity == "error"}


@pytest.mark.parametrize(
    ("what", "place"),
    [
        ("spins", "it was in host code after launch 1 ("),
        pytest.param("forks", "it was in host code after launch 1 (", marks=pytest.mark.soak),
        pytest.param("prints", "it was in host code after launch 1 (", marks=pytest.mark.soak),
        pytest.param("works", "it was in launch 2 (", marks=pytest.mark.soak),
        pytest.param("often", "it was in ", marks=pytest.mark.soak),
    ],
)
def test_a_program_that_does_not_end_is_judged_by_what_it_has_done(program: Path, what: str, place: str) -> None:
    one, kinds = check(program, what, seconds=6)
    assert kinds == set()
    assert f"a run did not end in time: {place}" in one.stopped or what == "often"
    assert one.refusal == ""
    assert one.ended == 0
    assert one.share.launches >= 1
    assert one.share.in_full >= 2


@pytest.mark.parametrize("what", ["!spins", "!dies", pytest.param("!works", marks=pytest.mark.soak)])
def test_what_was_found_before_counts(program: Path, what: str) -> None:
    one, kinds = check(program, what, seconds=6, runs=3)
    assert kinds == {"race"}
    assert [found.kind for found in one.certain] == ["race"]
    assert ("SIGKILL" in one.refusal) == ("dies" in what)


def test_a_hang_needs_more_than_the_time_of_one_run(program: Path) -> None:
    one, kinds = check(program, "waits", seconds=60, timeout=0.3)
    assert kinds == {"hang"}
    one, kinds = check(program, "waits", seconds=1.5, timeout=60)
    assert kinds == set()
    assert one.stopped


def test_a_later_run_begins_only_if_enough_time_is_left(program: Path) -> None:
    one, kinds = check(program, "rests", seconds=9, runs=3)
    assert (kinds, one.ended, one.asked, len(one.printed)) == (set(), 1, 3, 1)
    assert one.stopped == ""


def test_runs_side_by_side_show_what_runs_in_turn_show(program: Path, tmp_path: Path) -> None:
    words = (str(program), "! meets", str(tmp_path))
    one = CheckedProgram(load_program(program), words, 60.0, server(), lambda _: None, side_by_side=2)
    found = one.examine(3, seed=1).findings
    assert {printed.exit_code for printed in one.printed} == {0}  # the first has met the second
    in_turn, kinds = check(program, "!", seconds=60, runs=3)
    assert {each.kind for each in found if each.severity == "error"} == kinds == {"race"}
    assert (one.ended, one.share) == (in_turn.ended, in_turn.share)


def test_a_run_ahead_gives_way_where_memory_is_short(program: Path) -> None:
    request = ProgramRun(load_program(program), Manner(0, POISONS[0]), 10.0)
    with closing(Server(reserve_one_in=1, gives_way=True)) as short, pytest.raises(OutOfMemoryError):
        short.run(request, (str(program), "sleeps"))
    with closing(Server(reserve_one_in=1 << 40)) as ample:
        end, _ = ample.run(request, (str(program), "sleeps"))
    assert end.exit_code == 0


@pytest.mark.parametrize(
    ("line", "is_so"),
    [
        pytest.param('printf("%d\\n", a);', True, marks=pytest.mark.soak),  # C++ has more symbols than C
        ("std::cout << a << std::endl;", True),
        ('if (a > 9) std::ofstream("made") << a;', False),
        pytest.param('if (a > 9) fputs("made", fopen("made", "w"));', False, marks=pytest.mark.soak),
        ('if (a > 9) system("touch made");', False),
    ],
)
def test_programs_that_can_write_files_have_no_runs_side_by_side(line: str, is_so: bool, tmp_path: Path) -> None:
    (tmp_path / "own.cu").write_text(
        "#include <cstdio>\n#include <cstdlib>\n#include <fstream>\n#include <iostream>\n"
        f"__global__ void k() {{}}\nint main(int a, char **) {{ k<<<1, 1>>>(); {line} }}\n"
    )
    assert writes_no_files(load_program(built(tmp_path, str(tmp_path / "own.cu"))).path) == is_so


def test_runs_ahead_of_a_short_program_do_not_begin() -> None:
    begun: list[Manner] = []

    def run(_server: Server, manner: Manner) -> tuple[ProgramEnd, Printed]:
        begun.append(manner)
        return NOT_BEGUN, Printed("", "", None)

    with RunsAhead([Manner(0, 1), Manner(0, 2)], 2, run) as ahead:
        assert ahead.take(Manner(0, 1)) is None
        assert ahead.take(Manner(0, 2)) is None
    assert begun == []


def reported(share: CheckedShare, finished: int) -> ProgramReport:
    """The report of a program without findings."""
    return ProgramReport(
        *("mine", Path("mine.cu"), "", ("kfuzz",), "", datetime(2026, 1, 1, tzinfo=UTC), 1.0, 1, 1, 1, finished),
        *((finished, 3), 9, share, NOTHING_SAMPLED, (), ()),
        cut=("the time was over",),
    )


@pytest.mark.parametrize(
    ("share", "finished", "begins", "exit_code"),
    [
        (CheckedShare(6, 6, 105, 99), 0, "mine: nothing found in what ran: 0 of 3 runs, 6 launches, ", 0),
        (CheckedShare(6, 6, 105, 99), 1, "mine: nothing found: 1 of 3 runs, 6 launches, ", 0),
        (CheckedShare(1, 1, 0, 0), 0, "mine: nothing was tested: 0 of 3 runs, 1 launch, ", 2),
        (CheckedShare(), 0, "mine: nothing was tested: 0 of 3 runs, 0 launches, ", 2),
        (CheckedShare(), 1, "mine: nothing was judged, since the program launched no kernel: 1 of 3 runs, ", 2),
    ],
)
def test_nothing_was_tested_is_said_only_if_no_launch_was_checked(
    share: CheckedShare, finished: int, begins: str, exit_code: int
) -> None:
    report = reported(share, finished)
    assert verdict(report).startswith(begins)
    assert report.exit_code == exit_code
    checked = f"of their {plural(share.blocks, 'block')} {share.in_full} were checked in full. Later work"
    assert checked in next(share_notes(report))


@pytest.mark.soak
def test_the_command_ends_in_time_and_says_what_was_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.cu").write_text(SOURCE)
    built(tmp_path, "own.cu")
    done = CliRunner().invoke(main, ["check", "program", "--seed", "1", "--max-time", "30s", "--", "spins"])
    line = line_of(Path("own.cu"), "fill<<<2, 64>>>")
    assert done.exit_code == 0
    assert f"a run did not end in time: it was in host code after launch 1 (own.cu:{line})" in done.stdout
    assert "Of 1 launch up to there 1 ran; of their 2 blocks 2 were checked in full" in done.stdout
    assert "program: nothing found in what ran: 0 of 3 runs, 1 launch, 128 thread steps" in done.stdout
