"""The program itself: signals at any moment, a reader that closes, closed streams, a removed folder."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from paths import ROOT

from kfuzz.campaign import children
from kfuzz.claims.kernel import KERNELS

pytestmark = pytest.mark.slow

KFUZZ = [sys.executable, "-m", "kfuzz"]
BROKEN = KERNELS / "broken" / "leading_neg_inf.cu"


def environment(*first: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (*first, ROOT)))}


def fuzzing(folder: Path, *arguments: str, read: int = 1) -> tuple[int, str]:
    """Exit code and standard error of a campaign whose standard output is closed after so many lines."""
    command = [*KFUZZ, "fuzz", str(BROKEN), "--device", "cpu", "--jobs", "1", "--json", "r.json", *arguments]
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(read):
            process.stdout.readline()
        process.stdout.close()
        words = process.stderr.read()
    return process.returncode, words


@pytest.mark.parametrize(
    "program", ["import kfuzz.__main__ as it; it.main()", "from kfuzz.ui.commands.group import main; main()"]
)
def test_ctrl_c_while_the_program_is_being_loaded_is_quiet(tmp_path: Path, program: str) -> None:
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    done = subprocess.run(
        [sys.executable, "-c", program, "list"], env=environment(tmp_path), capture_output=True, text=True, check=False
    )
    quiet = (done.returncode, done.stdout, done.stderr) == (130, "", "")
    assert quiet == ("__main__" in program)  # the other shows that there is something to be quiet about


def test_a_reader_that_goes_ends_a_campaign_and_is_no_ctrl_c(tmp_path: Path) -> None:
    status, words = fuzzing(tmp_path, "--max-time", "60s")
    assert (status, words) == (141, "")
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["stop_reason"] == "interrupted"
    assert all(Path(tmp_path, finding["case"]).is_file() for finding in report["kernels"][0]["findings"])


@pytest.mark.soak
def test_a_reader_that_goes_does_not_break_any_other_command(tmp_path: Path) -> None:
    folder = str(KERNELS / "transpose")
    for command in (["list", folder], ["list", folder, "--json"], ["show", "--template"]):
        shell = f"{' '.join([*KFUZZ, *command])} | true; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(
            ["bash", "-c", shell], env=environment(), cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.stdout in ("0\n", "141\n"), command
        assert done.stderr == ""


def test_streams_that_are_closed_are_no_error(tmp_path: Path) -> None:
    shell = f"{' '.join(KFUZZ)} explain race >&- 2>&- <&-"
    assert subprocess.run(["bash", "-c", shell], env=environment(), cwd=tmp_path, check=False).returncode == 0


def test_a_folder_that_was_removed_is_one_line(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    shell = f"cd {gone} && rmdir {gone} && {' '.join(KFUZZ)} list"
    done = subprocess.run(
        ["bash", "-c", shell], env=environment(), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    line = "the current folder was removed; change to one that exists\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)


def started_plainly(process: BaseProcess) -> None:
    process.start()


@pytest.mark.parametrize("start", [children.start_process, started_plainly])
@pytest.mark.parametrize("number", children.TERMINAL)
def test_a_process_of_ours_is_deaf_from_birth(
    start: Callable[[BaseProcess], None], number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    process = multiprocessing.get_context("spawn").Process(target=children.ignore_terminal)
    start(process)
    assert process.pid is not None
    os.kill(process.pid, number)
    process.join()
    is_deaf = process.exitcode == 0 and "Traceback" not in capfd.readouterr().err
    assert is_deaf == (start is children.start_process)  # the other shows that the signal is one to be deaf to
    assert number not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
