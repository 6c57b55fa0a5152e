"""Limits of what others' files may take: each ends with a line that names the file, and accuses no right one."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from small_callables import RIGHT, trial_of

from kfuzz.common.time_limits import TimeLimits, limited, time_limits
from kfuzz.devices import ClaimError, DeviceError, OutOfTimeError, processes
from kfuzz.devices.cpu.ahead import build_ahead
from kfuzz.devices.host_compiler import VERSION_SECONDS, end_compilers, identity, run_compiler
from kfuzz.devices.processes import descendants, is_held_up, parents, processor_seconds
from kfuzz.devices.python.device import CALL, CALL_THAT_COMPILES, PythonDevice
from kfuzz.devices.worker.activity import Activity
from kfuzz.devices.worker.printed import KEPT, PrintedText

SLEEPS = ("sh", "-c", "sleep 1000; true")
SLEEPER = "import time\ndef f(x):\n    time.sleep(1000)\n"
BUSY = "def f(x):\n    while True: pass\n"
FLOOD = "def f(x):\n    while True: print('nothing is broken')\n"


@pytest.fixture
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


def test_a_process_hears_the_limits_of_the_one_that_starts_it() -> None:
    asks = "from kfuzz.common.time_limits import time_limits; print(time_limits())"
    with limited(TimeLimits(7.0, 8.0, 9.5)):
        ran = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=True)
        assert time_limits() == TimeLimits(7.0, 8.0, 9.5)
    assert ran.stdout.strip() == "TimeLimits(compile=7.0, call=8.0, until=9.5)"
    assert time_limits() == TimeLimits()


def test_a_compiler_that_sleeps_is_ended_with_what_it_has_started() -> None:
    with limited(TimeLimits(compile=0.3)), pytest.raises(ClaimError, match=r"mine\.cu: not compiled within 0\.3 s"):
        run_compiler(SLEEPS, None, Path("mine.cu"))
    assert not any("sleep" in one for one in map(command_of, descendants(os.getpid())))
    with (
        limited(TimeLimits(until=time.monotonic() + 0.3)),
        pytest.raises(OutOfTimeError, match="when the time was over"),
    ):
        run_compiler(SLEEPS, None, Path("mine.cu"))
    with limited(TimeLimits(compile=20.0)):
        assert run_compiler(("echo", "right"), None, Path("mine.cu")).stdout == "right\n"


def command_of(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""


def test_a_compiler_in_a_thread_is_ended_at_once() -> None:
    ended: list[int] = []
    thread = threading.Thread(target=lambda: ended.append(run_compiler(SLEEPS, None, "mine.cu").returncode))
    thread.start()
    before = time.monotonic()
    while thread.is_alive() and time.monotonic() < before + 20:
        end_compilers()
        thread.join(0.05)
    assert ended == [-9]


def test_what_is_built_ahead_ends_at_once_with_a_compiler_that_sleeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After SIGTERM kfuzz waited for it: 21 s for one that does not even say its name."""
    (tmp_path / "cxx").write_text("#!/bin/sh\nsleep 1000\n")
    (tmp_path / "cxx").chmod(0o755)
    monkeypatch.setenv("CXX", str(tmp_path / "cxx"))
    began = time.monotonic()
    with build_ahead():
        pass
    assert time.monotonic() - began < VERSION_SECONDS


def test_a_compiler_starts_nothing_while_it_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it started between the listing of its processes and its end held its output open for 10 s."""
    (tmp_path / "cxx").write_text("#!/bin/sh\nsleep 0.2\nsleep 1000\n")
    (tmp_path / "cxx").chmod(0o755)
    list_now = processes.descendants

    def list_slowly(pid: int) -> list[int]:
        listed = list_now(pid)
        time.sleep(0.5)
        return listed

    monkeypatch.setattr(processes, "descendants", list_slowly)
    waiting = threading.Thread(target=run_compiler, args=([str(tmp_path / "cxx")], None, "one.cu"), daemon=True)
    waiting.start()
    last = time.monotonic() + VERSION_SECONDS
    while waiting.is_alive() and time.monotonic() < last:
        end_compilers()
        waiting.join(0.05)
    assert not waiting.is_alive()


def test_a_compiler_that_does_not_say_its_name_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "cxx").write_text("#!/bin/sh\nsleep 1000\n")
    (tmp_path / "cxx").chmod(0o755)
    with limited(TimeLimits(until=time.monotonic() + 0.3)), pytest.raises((DeviceError, OutOfTimeError)):
        identity(str(tmp_path / "cxx"))


@pytest.mark.slow(4)
@pytest.mark.parametrize("text", [SLEEPER, pytest.param(BUSY, marks=pytest.mark.soak), FLOOD])
def test_a_call_that_does_not_return_hangs(text: str, tmp_path: Path, device: PythonDevice) -> None:
    """It took 127 s, for two calls of 63 s; a flood of 60 GB went to kfuzz's own output."""
    with limited(TimeLimits(call=1.5)):
        (found,) = trial_of(tmp_path, "hangs", text, device).errors
    assert found.kind == "hang"
    assert found.message.startswith("hangs.py did not return within 1.5 s, running (limit of one call: --call-time)")


def started(words: str) -> tuple["subprocess.Popen[bytes]", PrintedText]:
    """A process that has begun to print."""
    printed = PrintedText()
    process = subprocess.Popen([sys.executable, "-u", "-c", words], stdin=subprocess.PIPE, stdout=printed.end)
    printed.begin()
    while not printed.bytes:
        process.poll()
    return process, printed


def test_a_process_that_prints_or_works_is_at_work_and_one_that_waits_is_not() -> None:
    """A flood that waited for kfuzz to read it was called idle."""
    waits = started("print(1); input()")
    prints = started("import time\nwhile True: print(1); time.sleep(0.05)")
    works = started("print(1)\nwhile True: pass")
    every = (waits, prints, works)
    while is_held_up(waits[0].pid):  # it is still on its way to `input`
        waits[0].poll()
    activities = [Activity(process.pid, printed) for process, printed in every]
    seen, used = prints[1].bytes, processor_seconds(works[0].pid)
    while prints[1].bytes == seen or processor_seconds(works[0].pid) < used + 0.2:
        works[0].poll()
    assert [one.is_at_work() for one in activities] == [False, True, True]
    for process, _ in every:
        process.kill()
        process.communicate()


def test_what_a_process_has_printed_is_unread_until_it_is_read() -> None:
    printed = PrintedText()
    assert not printed.is_unread
    os.write(printed.end, b"x" * 100)
    assert printed.is_unread
    printed.begin()
    assert printed.words() == f' (it printed "{"x" * 100}")'
    assert not printed.is_unread


def test_a_process_that_works_is_held_up_and_one_that_waits_is_not() -> None:
    waits = subprocess.Popen([sys.executable, "-c", "print(1, flush=True); input()"], stdin=-1, stdout=-1)
    works = subprocess.Popen([sys.executable, "-c", "print(1, flush=True)\nwhile True: pass"], stdout=-1)
    for one in (waits, works):
        assert one.stdout is not None
        one.stdout.readline()
    assert is_held_up(works.pid)
    while is_held_up(waits.pid):  # it is still on its way to `input`
        waits.poll()
    for one in (waits, works):
        one.kill()
        one.communicate()


@pytest.mark.slow(2)
def test_a_right_call_that_takes_nearly_its_limit_is_not_accused(tmp_path: Path, device: PythonDevice) -> None:
    slow = RIGHT.replace("    return", "    import time; time.sleep(0.3)\n    return")
    with limited(TimeLimits(call=3.0)):
        assert trial_of(tmp_path, "slow", slow, device).errors == ()


@pytest.mark.soak
def test_a_file_that_is_cut_by_the_end_of_time_is_not_accused(tmp_path: Path, device: PythonDevice) -> None:
    trial_of(tmp_path, "right", RIGHT, device)
    with limited(TimeLimits(until=time.monotonic() + 2.0)), pytest.raises(OutOfTimeError) as cut:
        trial_of(tmp_path, "busy", BUSY, device)
    assert "busy.py: not judged: one call took longer than the" in str(cut.value)
    assert "s that --max-time left; give more --max-time, or a --call-time below that, " in str(cut.value)
    assert str(cut.value).endswith(f"after which it hangs (now {CALL:g} s)")
    with limited(TimeLimits(compile=1.0)), pytest.raises(ClaimError, match=r"late\.py: .*--compile-time"):
        trial_of(tmp_path, "late", "import time\ntime.sleep(1000)\n" + RIGHT, device)


def test_what_may_compile_has_more_time() -> None:
    assert CALL < CALL_THAT_COMPILES


def test_a_process_that_waits_uses_no_processor() -> None:
    waits = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    works = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    while processor_seconds(works.pid) < 0.3:
        works.poll()
    before = processor_seconds(waits.pid)
    while processor_seconds(works.pid) < 0.6:
        works.poll()
    assert processor_seconds(waits.pid) - before < 0.1
    for one in (waits, works):
        one.kill()
        one.communicate()
        assert one.pid not in parents()


def printed_by(words: str) -> str:
    printed = PrintedText()
    process = subprocess.Popen([sys.executable, "-c", words], stdout=printed.end)
    printed.begin()
    process.wait()
    return printed.words()


def test_the_last_line_that_a_process_prints_is_quoted_and_what_is_cut_is_said() -> None:
    assert printed_by("") == ""
    assert printed_by("print('one'); print('nothing is broken')") == ' (it printed "nothing is broken")'
    many = printed_by(f"print('x' * {3 * KEPT}); print('last')")
    assert many == f' (it printed "last"; of {3 * KEPT + 6:,} bytes only the last are kept)'
    assert "\x1b" not in printed_by(r"print('\x1b[31mred')")
