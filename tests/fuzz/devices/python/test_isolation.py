"""One file, one process: nothing that a file of a callable does reaches another file."""

import itertools
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_callables import RIGHT, trial_of

from kfuzz.devices import ClaimError, MissingError
from kfuzz.devices.cpu import device as device_of_cpu
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.memory.machine_memory import LEAST, machine_bytes, share_of
from kfuzz.devices.processes import parents
from kfuzz.devices.python.device import PythonDevice
from kfuzz.devices.worker.nursery import ForkedProcess, Nursery
from kfuzz.devices.worker.worker import CommandProcess, environment

THREADED = "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
SPOILS = """
import os, stat
import numpy as np


def f(x):
    for pipe in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(pipe).st_mode):
                spoil(pipe)
        except OSError:
            pass
    return np.sum(x, 1)
"""


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


def test_what_one_file_patches_and_sets_does_not_reach_the_next(tmp_path: Path, device: PythonDevice) -> None:
    patches = "np.sum = lambda *_: None\n"
    reported = "import os, sys\nos.environ['KFUZZ_SEEN'] = '1'\nsys.modules['json'] = None\n"
    trial_of(tmp_path, "patches", f"{RIGHT}{patches}{reported}", device)
    asks = "import os, json\ndef f(x):\n    return np.sum(x, 1) * ('KFUZZ_SEEN' not in os.environ)\n"
    found = trial_of(tmp_path, "asks", f"import numpy as np\n{asks}", device)
    assert found.defects == ()
    assert found.elements == 3


def test_a_file_keeps_its_process_while_another_is_called(tmp_path: Path, device: PythonDevice) -> None:
    """So that a campaign that goes round its files imports each of them once, not once a round."""
    counts = f"import os\nopen({str(tmp_path / 'imports')!r}, 'a').write('once ')\n{RIGHT}"
    for _ in range(2):
        trial_of(tmp_path, "counts", counts, device)
        trial_of(tmp_path, "other", RIGHT, device)
    assert (tmp_path / "imports").read_text() == "once "


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("import sys\nsys.exit(3)\n", "wrong.py:5: the file cannot be imported: SystemExit: 3"),
        ("import os\nos._exit(3)\n", "wrong.py: the file cannot be imported: it ends its process (exit status 3)"),
        ("import os\nos.abort()\n", "wrong.py: the file cannot be imported: it ends its process (SIGABRT)"),
        ("raise KeyboardInterrupt\n", "wrong.py: the file cannot be imported: it ends its process (exit status 130)"),
    ],
)
def test_a_file_that_ends_its_process_when_it_is_imported_is_a_line(
    text: str, reported: str, tmp_path: Path, device: PythonDevice, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ClaimError) as error:
        trial_of(tmp_path, "wrong", f"{text}{RIGHT}", device)
    assert reported in str(error.value)
    assert trial_of(tmp_path, "right", RIGHT, device).defects == ()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "when", ["np.ones(1 << 32, np.uint8)\ndef f(x):\n", "def f(x):\n    np.ones(1 << 32, np.uint8)\n"]
)
def test_a_file_that_needs_more_than_its_share_is_reported_and_others_go_on(when: str, tmp_path: Path) -> None:
    limited = PythonDevice(most_bytes=3 << 30)
    large = trial_of(tmp_path, "large", f"import numpy as np\n{when}    return x.sum(1)\n", limited)
    right = trial_of(tmp_path, "right", RIGHT, limited)
    limited.close()
    assert [(one.kind, one.severity) for one in large.defects] == [("out-of-memory", "warning")]
    assert "it needs more than 3.0 GiB, its share" in large.defects[0].message
    assert right.defects == ()
    assert right.elements == 3


def test_shares_of_memory_are_together_less_than_all() -> None:
    assert share_of(1) < machine_bytes()
    assert share_of(10**6) == LEAST


@pytest.mark.parametrize(("package", "how"), [("json", ForkedProcess), ("package_with_a_thread", CommandProcess)])
def test_a_process_of_several_threads_is_never_forked(
    package: str, how: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "package_with_a_thread.py").write_text(THREADED)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    nursery = Nursery([package], {})
    started = nursery.start("no_such_backend")
    assert started.stdin
    assert started.stdout
    assert type(started) is how
    assert b"no_such_backend" in started.stdout.read()
    assert started.reap() == 0
    started.stdin.close()
    started.stdout.close()
    nursery.close()


def test_a_worker_that_kills_its_parent_does_not_make_the_next_a_child_of_the_caller() -> None:
    """It would kill that, too, and with it the campaign."""
    nursery = Nursery(["json"], {})
    assert nursery._process
    os.kill(nursery._process.pid, signal.SIGKILL)
    started = nursery.start("no_such_backend")
    assert type(started) is ForkedProcess
    assert started.reap() == 0
    for pipe in (started.stdin, started.stdout):
        assert pipe
        pipe.close()
    nursery.close()


def test_callers_of_a_family_share_the_process_that_imports() -> None:
    """Its forks have one parent; when the caller that started it has ended, another takes its place."""
    first, second, stranger = (Nursery(["json"], {}, family) for family in ("one", "one", ""))
    assert second._process is None

    def parent_of(nursery: Nursery) -> int:
        started = nursery.start("no_such_backend")
        parent = parents()[started.pid]
        assert started.reap() == 0
        for pipe in (started.stdin, started.stdout):
            assert pipe
            pipe.close()
        return parent

    assert first._process
    shared = first._process.pid
    assert parent_of(first) == parent_of(second) == shared
    assert parent_of(stranger) != shared
    first.close()
    assert parent_of(second) != shared
    for one in (second, stranger):
        one.close()


@pytest.mark.slow
def test_what_one_file_does_to_torch_does_not_reach_the_next(tmp_path: Path, device: PythonDevice) -> None:
    patches = "torch.softmax = lambda x, dim: x\ntorch.set_default_dtype(torch.float64)\n"
    text = "import torch\ndef f(x):\n    return torch.softmax(x * torch.ones(1), -1)\n"
    try:
        trial_of(tmp_path, "patches", f"{text}{patches}", device, "softmax")
        found = trial_of(tmp_path, "asks", text, device, "softmax")
    except MissingError as error:
        pytest.skip(str(error))
    assert found.defects == ()


def test_a_fork_that_a_file_leaves_gives_no_second_answer(tmp_path: Path, device: PythonDevice) -> None:
    """It did, and the next trial was judged by the answer to another input."""
    forks = "import os\nimport numpy as np\ndef f(x):\n    return np.sum(x, 1) * (os.fork() != 0)\n"
    for _ in range(3):
        found = trial_of(tmp_path, "forks", forks, device)
        assert found.defects == ()
        assert found.elements == 3


def test_an_exception_without_words_is_named(tmp_path: Path, device: PythonDevice) -> None:
    odd = "class Odd(Exception):\n    def __str__(self):\n        return 1 / 0\n\ndef f(x):\n    raise Odd\n"
    found = trial_of(tmp_path, "odd", f"import numpy as np\n{odd}", device)
    assert [(one.kind, one.message) for one in found.errors] == [("exception", "Odd")]


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("os.write(pipe, bytes(64))", "misbehaved", "wrote into a pipe that it had not opened"),
        ("os.write(pipe, b'x' * 64)", "misbehaved", "wrote into a pipe that it had not opened"),
        ("os.close(pipe)", "trap", "ended its process"),
    ],
)
def test_a_file_that_spoils_the_pipes_that_it_finds_costs_a_trial(
    text: str, kind: str, message: str, tmp_path: Path, device: PythonDevice
) -> None:
    spoils = SPOILS.replace("spoil(pipe)", text)
    found = trial_of(tmp_path, "spoils", spoils, device)
    assert [one.kind for one in found.errors] == [kind]
    assert message in found.errors[0].message
    assert trial_of(tmp_path, "right", RIGHT, device).defects == ()


def test_a_fork_has_the_folder_and_the_variables_of_the_caller_at_that_time_and_what_it_prints_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    says = "os.write(2, b'heard')\n    raise ValueError(os.getcwd() + os.environ['SAID'])"
    (tmp_path / "says_where.py").write_text(f"import os\ndef backend():\n    {says}\n")
    monkeypatch.syspath_prepend(tmp_path)
    nursery = Nursery(["json"], {})
    for number in range(2):
        folder = tmp_path / f"in_{number}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        monkeypatch.setenv("SAID", f"at {number}")
        started = nursery.start("says_where", environment())
        assert isinstance(started, ForkedProcess)
        assert started.stdout is not None
        assert f"{folder}at {number}".encode() in started.stdout.read()
        assert started.reap() == 0
        assert capfd.readouterr().err == ""
        assert started.printed is not None
        assert started.printed.words() == ' (it printed "heard")'
        for pipe in (started.stdin, started.stdout):
            assert pipe
            pipe.close()
    nursery.close()


def test_the_processes_of_the_cpu_device_are_forks_but_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_of_cpu, "_STARTS", itertools.count())
    kinds = []
    for _ in range(3):
        with CpuDevice() as opened:
            kinds.append(type(opened._worker._start().popen))
    assert kinds == [CommandProcess, ForkedProcess, ForkedProcess]
