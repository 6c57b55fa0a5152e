"""Arrays of gigabytes: what a program does with them is found as in small ones, and only touched memory is taken."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from paths import DATA
from program_runs import built, check_program

from kfuzz.devices.cpu.programs.sampling import BlockSampling

SOURCE = DATA / "large_arrays" / "arrays.cu"
LARGE, SMALL, TOUCHES = 6 << 30, 6 << 20, 1536
"""Bytes of an array, and how many of its words a kernel writes."""
GROUPS = Path("/sys/fs/cgroup/memory" if Path("/sys/fs/cgroup/memory").is_dir() else "/sys/fs/cgroup")

AT_ONCE = BlockSampling(accesses_in_full=0)
"""Every launch of 64 blocks or more is sampled."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built once."""
    return built(tmp_path_factory.mktemp("built"), str(SOURCE))


@pytest.fixture
def group_of_512_mb(tmp_path: Path) -> Iterator[Path]:
    """A control group whose processes have 512 MB of memory."""
    group = GROUPS / f"kfuzz-{tmp_path.name}-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    try:
        limit = next((group / one for one in ("memory.max", "memory.limit_in_bytes") if (group / one).is_file()), None)
        if limit is None:
            pytest.skip("control groups here do not limit memory")
        limit.write_text(str(512 << 20))
        yield group
    finally:
        group.rmdir()


check = partial(check_program, runs=1)


MEASURE = """
import resource, subprocess, sys
status = subprocess.run(["sh", *sys.argv[1:]], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10)
sys.exit(status)
"""
"""A small process between: at a fork, a process counts the memory of the one that it comes from as its own."""


def run_alone(program: Path, *words: str, group: Path | None = None) -> tuple[int, str, int]:
    """The program's exit status, what it says to its user, and the most memory that it had."""
    join = f'echo $$ > "{group}/cgroup.procs"; exec "$@"' if group else 'exec "$@"'
    command = ["sh", "-c", join, "sh", sys.executable, "-c", MEASURE, str(program), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr, int(done.stdout)


def line_of(mark: str) -> int:
    """The line of the source with this mark."""
    return next(n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if re.search(rf"// {mark}$", line))


def test_a_right_program_has_no_finding(program: Path) -> None:
    one, findings = check(program, "right", runs=2)
    assert (findings, one.refusal, one.stopped) == ([], "", "")
    assert {(run.exit_code, run.output) for run in one.printed} == {(0, f"{3 << 20}\n")}


def test_each_defect_is_found(program: Path) -> None:
    _, findings = check(program, "wrong")
    assert {(one.kind, one.line) for one in findings} == {
        ("out-of-bounds", line_of("AFTER")),
        ("out-of-bounds", line_of("BEFORE")),
        ("uninitialised", line_of("UNWRITTEN")),
        ("race", line_of("RACE")),
        ("race", line_of("MEANWHILE")),
        ("use-after-free", line_of("FREED")),
    }


def test_blocks_outside_the_sample_that_fill_an_array_have_no_finding(program: Path) -> None:
    one, findings = check(program, "filled", runs=2, sampling=AT_ONCE)
    assert (findings, one.stopped) == ([], "")
    assert one.sampled.launches == 3


def test_a_read_of_what_blocks_outside_the_sample_did_not_fill_is_found(program: Path) -> None:
    _, findings = check(program, "gap", sampling=AT_ONCE)
    assert ("uninitialised", line_of("GAP")) in {(one.kind, one.line) for one in findings}


def test_a_large_array_of_which_little_is_touched_takes_as_much_memory_as_a_small_one(program: Path) -> None:
    _, _, small = run_alone(program, "touch", str(SMALL), str(SMALL // TOUCHES))
    status, errors, large = run_alone(program, "touch", str(LARGE), str(LARGE // TOUCHES))
    assert (status, errors) == (0, "")
    assert large < small


def test_a_program_that_touches_more_than_there_is_is_refused(program: Path, group_of_512_mb: Path) -> None:
    status, errors, _ = run_alone(program, "touch", str(1 << 30), "4", group=group_of_512_mb)
    assert status == 1
    assert "cannot run: needs more memory than there is: arrays of 1073741828 bytes, and 8.5 bytes for" in errors
