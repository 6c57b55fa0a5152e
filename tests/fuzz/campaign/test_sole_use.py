"""Two campaigns never write one folder at a time; a campaign that was killed leaves nothing in the way."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kfuzz.campaign.sole_use import FILE, sole_use
from kfuzz.cases.errors import CaseError

HOLDS = """
import sys
from pathlib import Path
from kfuzz.campaign.sole_use import sole_use
with sole_use(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_by_another(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    words = [sys.executable, "-c", HOLDS, str(folder)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        yield other


def test_a_second_campaign_of_a_folder_is_refused_in_one_line(tmp_path: Path) -> None:
    with held_by_another(tmp_path / "out") as other:
        with pytest.raises(CaseError, match=rf"out: a campaign \(process {other.pid}\) uses it; .*--out$"):
            sole_use(tmp_path / "out").__enter__()
        with sole_use(tmp_path / "elsewhere"), sole_use(None):
            pass


def test_the_folder_of_a_killed_campaign_is_taken_over(tmp_path: Path) -> None:
    with held_by_another(tmp_path) as other:
        other.send_signal(signal.SIGKILL)
        other.wait()
    with sole_use(tmp_path):
        assert (tmp_path / FILE).read_text() == f"{os.getpid()}\n"
    with held_by_another(tmp_path):
        pass


def test_a_folder_on_a_full_disk_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).symlink_to("/dev/full")
    with pytest.raises(CaseError, match=rf"^{tmp_path}: cannot be written: No space left on device; a campaign keeps"):
        sole_use(tmp_path).__enter__()
