"""The C++ compiler of this machine: finds it, identifies it, and keeps its output in the cache."""

import functools
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from kfuzz.common.errors import ClaimError, DeviceError, OutOfTimeError
from kfuzz.common.time_limits import time_limits
from kfuzz.devices import cache, processes

INSTALL = "install a C++ compiler: apt-get install g++ (or dnf install gcc-c++), or set CXX to one"


MOST_WORDS = 1 << 20
"""Characters of a compiler's messages: those of an endless template are of any length."""
VERSION_SECONDS = 10.0
"""For a compiler to say its name, which takes 10 ms."""
_running: set["subprocess.Popen[str]"] = set()
"""The compilers that run in this process's threads."""


def run_compiler(
    command: Sequence[str], variables: Mapping[str, str] | None, what: Path | str, most: float | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a compiler, or another tool, to its end. ClaimError if it takes longer than one compilation may, which names
    what it compiles; OutOfTimeError if the time of the whole command is over.
    """
    limits = time_limits()
    seconds = min(most or limits.compile, limits.left)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, errors="replace", env=variables) as process:
        _running.add(process)
        try:
            said, complaint = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            if most is None and limits.left > 0:
                why = f"{what}: not compiled within {seconds:g} s (limit of one compilation: --compile-time)"
                raise ClaimError(why) from None
            if limits.left > 0:
                raise DeviceError(f"{command[0]} does not answer within {seconds:g} s; {INSTALL}") from None
            raise OutOfTimeError(f"{what}: not compiled when the time was over, after {seconds:.0f} s") from None
        except BaseException:
            _end(process)
            raise
        finally:
            _running.discard(process)
    return subprocess.CompletedProcess([*command], process.returncode, said, complaint[:MOST_WORDS])


@contextmanager
def compiling_for(path: Path) -> Iterator[None]:
    """What goes wrong with a file of kfuzz, which is compiled for this one, is reported with its name."""
    try:
        yield
    except ClaimError as error:
        raise type(error)(f"{path}: {error}") from None


def end_compilers() -> None:
    """End the compilers that run in other threads of this process."""
    for one in list(_running):
        _end(one)


def _end(process: "subprocess.Popen[str]") -> None:
    """End a process with all that it has started. It is stopped first, or it may start another one meanwhile."""
    process.send_signal(signal.SIGSTOP)
    started = processes.descendants(process.pid)
    process.kill()
    processes.end(started)


def find_compiler() -> str:
    """The host's C++ compiler; if there is none, raise a DeviceError that says how to install one.

    It prefers g++ to clang: clang does not check alignment when a whole struct (float4) is copied, and loses the lines
    of atomics.
    """
    chosen = os.environ.get("CXX")
    for name in [chosen] if chosen else ["g++", "c++", "clang++"]:
        if path := shutil.which(name):
            return path
    missing = f"CXX={chosen} is no program" if chosen else "no g++ on PATH"
    raise DeviceError(f"{missing}: {INSTALL}")


@functools.cache
def identity(compiler: str) -> str:
    """The compiler's own name and version, and the machine for which it compiles."""
    version = run_compiler([compiler, "--version"], None, compiler, VERSION_SECONDS)
    target = run_compiler([compiler, "-dumpmachine"], None, compiler, VERSION_SECONDS)
    if version.returncode or target.returncode:
        raise DeviceError(f"{compiler} does not run: {version.stderr.strip() or target.stderr.strip()}; {INSTALL}")
    return version.stdout.splitlines()[0] + " for " + target.stdout.strip()


def build_library(source: Path, name: str = "") -> Path:
    """The shared library built from a single C++ file of kfuzz; it needs nothing from the runtime.

    `name`: that by which a process that has opened it finds it.
    """
    compiler = find_compiler()
    words = [compiler, "-std=c++17", "-O2", "-Wall", "-fPIC", "-shared", str(source), "-ldl"]
    words += [f"-Wl,-soname,{name}"] if name else []

    def build(made: Path) -> None:
        ran = run_compiler([*words, "-o", str(made)], None, source.name)
        if ran.returncode:
            raise DeviceError(f"{identity(compiler)} cannot compile {source.name}: {ran.stderr.strip()}")

    key = cache.key(identity(compiler), source.read_bytes(), *([name] if name else []))
    return build_once(f"cpu/{source.stem}-{key[:32]}.so", build)


def build_once(name: str, build: Callable[[Path], None]) -> Path:
    """The path of a cached file, which is built again when it is missing or damaged."""
    path = cache.folder() / name
    if cache.fetch(name) is not None:
        return path
    with cache.hold(name):
        if cache.fetch(name) is None:
            with cache.scratch() as folder:
                made = folder / "made"
                build(made)
                cache.keep(name, made.read_bytes())
    return path


def environment(folder: Path) -> dict[str, str]:
    """The environment in which a compiler writes English messages and keeps its scratch files in this folder."""
    return {**os.environ, "LC_ALL": "C", "TMPDIR": str(folder)}
