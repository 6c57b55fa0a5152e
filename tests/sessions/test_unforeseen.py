"""Any failure, foreseen or not, is one line and exit code 2: exit code 1 means that a kernel is broken."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kfuzz.claims.kernel import KERNELS, load
from kfuzz.devices import ClaimError, DeviceError, UnexpectedError, wrap_unexpected
from kfuzz.ui.commands.group import Commands, main
from kfuzz.ui.targets.project import files_below

ONLINE = KERNELS / "softmax" / "online_thread.cu"


def failing(error: Exception) -> click.Group:
    """Our group, with one command that fails."""

    def fail() -> None:
        raise error

    return Commands(
        params=[click.Option(["--debug"], is_flag=True)], commands={"fail": click.Command("fail", callback=fail)}
    )


@pytest.mark.parametrize(
    "error", [KeyError("no such thing\nat all"), OSError(5000, "what nobody knows"), MemoryError()]
)
def test_an_unforeseen_error_is_one_line_and_exit_code_2(error: Exception) -> None:
    done = CliRunner().invoke(failing(error), ["fail"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"kfuzz itself failed: {type(error).__name__}: ")
    assert done.stderr.count("\n") == 1


def test_with_debug_it_shows_where() -> None:
    done = CliRunner().invoke(failing(KeyError("no such thing")), ["--debug", "fail"])
    assert done.exit_code == 2
    assert "Traceback" in done.stderr
    assert "in fail" in done.stderr


def test_what_click_has_to_say_is_left_to_it() -> None:
    assert CliRunner().invoke(failing(click.UsageError("so not")), ["fail"]).exit_code == 2
    assert CliRunner().invoke(main, ["--version"]).exit_code == 0


def test_what_fails_in_another_process_brings_its_traceback() -> None:
    reported = pickle.loads(pickle.dumps(wrap_unexpected(KeyError("x"))))  # noqa: S301  our own
    assert isinstance(reported, UnexpectedError)
    assert isinstance(reported, DeviceError)
    assert "KeyError" in reported.__notes__[0]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.soak)])
def test_without_a_compiler_it_is_one_line(jobs: str, tmp_path: Path) -> None:
    """With several processes it was a traceback of 30 lines as well: they had nobody left to tell."""
    command = [sys.executable, "-m", "kfuzz", "fuzz", str(ONLINE), "--device", "cpu", "--jobs", jobs]
    empty = {name: value for name, value in os.environ.items() if name != "CXX"} | {"PATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=empty, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("no g++ on PATH: install a C++ compiler")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "deep", [".".join("a" * 600) + " = 1", "a = " + "[" * 200 + "]" * 200, "b = " + "{a=" * 99 + "1" + "}" * 99]
)
def test_a_claim_nested_beyond_reason_is_one_line(deep: str, tmp_path: Path) -> None:
    mine = tmp_path / "mine.cu"
    mine.write_text(ONLINE.read_text().replace("// op ", f"// {deep}\n// op ", 1))
    with pytest.raises(
        ClaimError, match=r"mine\.cu:\d+: (keys and lists nested more than 8 deep|a key of more than 8 dots)"
    ) as error:
        load(mine)
    assert "\n" not in str(error.value)


def test_a_folder_that_cannot_be_looked_into_does_not_end_the_search(tmp_path: Path) -> None:
    """Entries of /proc are gone, or no path at all, by the time that somebody asks for them."""
    (tmp_path / "mine.cu").write_text(ONLINE.read_text())
    handle = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):  # until the path is longer than the system takes
        os.mkdir("d" * 250, dir_fd=handle)
        inner = os.open("d" * 250, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(handle)
    assert files_below(tmp_path) == (tmp_path / "mine.cu",)
