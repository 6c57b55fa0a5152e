"""The cache stays small, and leftovers of a killed process are removed."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import pytest
from click.testing import CliRunner
from planted_jobs import floats, job_of

from kfuzz.devices import DeviceError, Probe, cache
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.cpu.options import split_flags
from kfuzz.devices.cpu.toolchain import precompile_front
from kfuzz.devices.host_compiler import build_once, find_compiler
from kfuzz.ui.commands.group import main

KILOBYTE = b"x" * (1024 - cache.DIGEST)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def make_old(path: Path, seconds: float) -> None:
    """As if it had been used last so long ago."""
    then = time.time() - seconds
    os.utime(path, (then, then))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be a user without a name")
def test_a_user_without_a_home_has_a_cache_that_no_other_user_can_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docker run --user: kfuzz itself failed, RuntimeError: Could not determine home directory."""
    asks = (
        "import os, pwd\nfrom kfuzz.devices import cache\n"
        "os.setuid(54321)  # who may not read the modules of root\nprint(cache.folder())"
    )
    unnamed = {**os.environ, "TMPDIR": str(tmp_path)}
    for name in ("HOME", "KFUZZ_CACHE", "XDG_CACHE_HOME"):
        unnamed.pop(name, None)
    tmp_path.chmod(0o777)
    for one in tmp_path.parents[:-2]:  # all below /tmp
        one.chmod(one.stat().st_mode | 0o011)

    def folder_of_unnamed() -> str:
        ran = subprocess.run([sys.executable, "-c", asks], env=unnamed, capture_output=True, text=True, check=False)
        return (ran.stdout + ran.stderr).strip().splitlines()[-1]

    made = tmp_path / "kfuzz-54321"
    assert folder_of_unnamed() == str(made)
    made.chmod(0o777)
    assert f"{made} belongs to another user" in folder_of_unnamed()


def test_the_command_shows_the_cache_and_clears_it(folder: Path) -> None:
    cache.save("cpu/one.so", bytes(3_000_000))
    cache.save("references/one.json", bytes(2_000_000))
    shown = CliRunner().invoke(main, ["cache"]).output
    assert shown.startswith(f"{folder}\n5 MB, of which compiled files may take 1074 MB")
    assert CliRunner().invoke(main, ["cache", "--clear"]).output.endswith("; 3 MB removed\n")
    assert not (folder / "cpu/one.so").exists()
    assert cache.fetch("references/one.json") is not None


def test_an_entry_that_is_another_ones_file_is_made_again(folder: Path) -> None:
    """Each file carried the hash of its content alone: a wrong kernel passed with the library of a right one."""

    def made(content: bytes) -> bytes:
        path = build_once("cpu/one.so", lambda path: path.write_bytes(content) and None)
        return path.read_bytes()[: -cache.DIGEST]

    assert made(b"right") == made(b"another") == b"right"
    cache.save("cpu/two.so", b"wrong")
    shutil.copy(folder / "cpu/two.so", folder / "cpu/one.so")
    assert made(b"again") == b"again"
    for damage in (lambda raw: raw[:-1], lambda raw: b"x" + raw[1:], lambda raw: b""):
        file = folder / "cpu/one.so"
        file.write_bytes(damage(file.read_bytes()))
        assert made(b"again") == b"again"


@pytest.mark.soak
@pytest.mark.slow
def test_a_precompiled_header_that_was_changed_is_made_again(folder: Path) -> None:
    found = precompile_front(find_compiler(), "fast", split_flags(()), 0).with_name("front.h.gch")
    was, number = found.read_bytes(), found.stat().st_ino
    precompile_front(find_compiler(), "fast", split_flags(()), 0)
    assert found.stat().st_ino == number
    found.write_bytes(was[:-1] + bytes([was[-1] ^ 1]))
    precompile_front(find_compiler(), "fast", split_flags(()), 0)
    assert found.stat().st_ino != number


def test_what_was_used_longest_ago_is_removed_first(folder: Path) -> None:
    for number in range(10):
        cache.save(f"cpu/{number}.so", KILOBYTE)
        make_old(folder / f"cpu/{number}.so", 1000 - number)
    assert cache.fetch("cpu/0.so") == KILOBYTE  # which is a use
    cache.tidy(4 * 1024)
    assert sorted(one.name for one in (folder / "cpu").iterdir()) == ["0.so", "7.so", "8.so", "9.so"]
    assert cache.fetch("cpu/1.so") is None


def test_nothing_is_removed_while_there_is_room(folder: Path) -> None:
    for number in range(10):
        cache.save(f"cubin/{number}", KILOBYTE)
    cache.tidy(10 * 1024)
    assert len(list((folder / "cubin").iterdir())) == 10


def test_only_compiled_files_are_removed(folder: Path) -> None:
    cache.save("last-run/softmax", KILOBYTE)
    (folder / "somebody's").write_bytes(KILOBYTE)
    cache.tidy(0)
    assert (folder / "last-run" / "softmax").exists()
    assert (folder / "somebody's").exists()


def test_scratch_goes_with_its_process_and_what_a_killed_one_leaves_when_it_is_old(folder: Path) -> None:
    left = folder / cache.SCRATCH / "left"
    left.mkdir(parents=True)
    with cache.scratch() as made:
        (made / "half.o").write_bytes(KILOBYTE)
        cache.tidy()
        assert left.is_dir()  # somebody may just have made it
        for one in (made, left):
            make_old(one, cache.ABANDONED + 1)
        cache.tidy()
        assert (made.is_dir(), left.exists()) == (True, False)
    with cache.scratch() as made:
        assert made.parent == folder / cache.SCRATCH
    assert list((folder / cache.SCRATCH).iterdir()) == []


def test_the_cache_is_tidied_once_an_hour_not_by_every_process(folder: Path) -> None:
    left, words = folder / cache.SCRATCH / "left", "from kfuzz.devices import cache\nwith cache.scratch(): pass"

    def is_tidied_by_another_process() -> bool:
        left.mkdir(parents=True, exist_ok=True)
        make_old(left, cache.ABANDONED + 1)
        subprocess.run([sys.executable, "-c", words], check=True)
        return not left.exists()

    assert [is_tidied_by_another_process() for _ in range(2)] == [True, False]
    make_old(folder / "tidied", cache.HOUR + 1)
    assert is_tidied_by_another_process()


COMPILER = """#!/bin/sh
case "$*" in *--version*|*-dumpmachine*) exec g++ "$@" ;; esac
echo half > "$TMPDIR/ccHALF.o"
mkdir "$TMPDIR/first" 2> /dev/null && kill -ALRM {caller}  # several compile at once
exec tail -f /dev/null
"""


def test_a_killed_compiler_leaves_nothing_outside_the_cache(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    compiler, temporary = tmp_path / "compiler", tmp_path / "tmp"
    compiler.write_text(COMPILER.format(caller=os.getpid()))
    compiler.chmod(0o755)
    temporary.mkdir()
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("TMPDIR", str(temporary))
    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        with CpuDevice() as device, pytest.raises(KeyboardInterrupt):
            device.run(job_of("", ("k",), "k", {"y": "f32[4]", "x": floats(4)}), Probe())
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert list(temporary.iterdir()) == []
    (left,) = folder.glob(f"{cache.SCRATCH}/*")
    assert [one.name for one in left.glob("cc*")] == ["ccHALF.o"]
    until = time.monotonic() + 20
    while left.exists() and time.monotonic() < until:  # a compiler that was killed holds its lock until it has ended
        make_old(left, cache.ABANDONED + 1)
        cache.tidy()
    assert list(folder.glob(f"{cache.SCRATCH}/*")) == []


def test_a_cache_that_cannot_be_written_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is compiled for the cpu is loaded from there; for everything else it saves time alone."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path / "file" / "cache"))
    with CpuDevice() as device, pytest.raises(DeviceError) as raised:
        device.run(job_of("", ("k",), "k", {"y": "f32[4]", "x": floats(4)}), Probe())
    message = str(raised.value)
    assert message.startswith(f"{tmp_path / 'file' / 'cache'}: cannot be written: Not a directory;")
    assert "set KFUZZ_CACHE" in message
    assert "\n" not in message
    cache.save("cubin/k", KILOBYTE)
    assert cache.fetch("cubin/k") is None


def test_what_can_only_be_read_is_fetched_all_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.save("cpu/one", b"content")

    def refused(path: Path) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(os, "utime", refused)
    assert cache.fetch("cpu/one") == b"content"


def build_at_once(meeting: Barrier) -> int:
    """Build one file in two threads at once, and count how often it was built; the builders wait for each other."""
    builders = []

    def build(made: Path) -> None:
        builders.append(made)
        with suppress(BrokenBarrierError):
            meeting.wait()
        made.write_bytes(b"content")

    with ThreadPoolExecutor(2) as pool:
        for path in pool.map(lambda _: build_once("cpu/one", build), range(2)):
            assert path.read_bytes().startswith(b"content")
    return len(builders)


def test_a_file_that_another_process_builds_is_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert build_at_once(Barrier(1)) == 1
    (folder / "cpu" / "one").unlink()
    monkeypatch.setattr(cache, "hold", lambda _: nullcontext())
    assert build_at_once(Barrier(2, timeout=60)) == 2, "without the lock both build"


def test_a_path_that_is_no_utf_8_has_a_key() -> None:
    assert cache.key("k\udcf6.cu") != cache.key("k.cu")


def test_a_folder_without_room_for_what_a_compiler_writes_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path))
    assert cache.why_full(room=1) == ""
    assert "MB are left there, and a compiler may need" in cache.why_full(room=1 << 60)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        assert cache.why_full(room=1 << 20) == ""
        assert cache.why_full(room=2 << 20) == "the limit of a file is 1 MB (ulimit -f), and a compiler may need 2"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path / "none"))
    assert cache.why_full(room=1) == ""  # nothing was compiled yet
