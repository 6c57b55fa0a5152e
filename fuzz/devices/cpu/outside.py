"""What the cpu device has compiled and looked up by other programs: its process does it, or its helper outside of a
sandbox, in which no process is started and no file of the cache is written.

Knows the compiler and the helper; never how a kernel is run.
"""

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kfuzz.devices import Call, Job, cache
from kfuzz.devices.cpu.compiler import Library, build_library
from kfuzz.devices.cpu.options import Flavour
from kfuzz.devices.worker.helping import ask_for_help, is_boxed
from kfuzz.devices.worker.plain import ForeignBytesError, LongText, read_plain


@dataclass(frozen=True)
class WantedEntry:
    """An entry of a kernel file: by its name, or a call."""

    name: str | None
    call: Call | None


@dataclass(frozen=True)
class WantedLibrary:
    """A kernel file to compile."""

    path: str
    source: LongText
    flags: tuple[str, ...]
    entries: tuple[WantedEntry, ...]
    through: str
    flavour: Flavour


@dataclass(frozen=True)
class WantedLines:
    """The places in a library whose lines are asked for."""

    library: str
    addresses: tuple[int, ...]


@dataclass(frozen=True)
class Wanted:
    """One of both."""

    compiled: WantedLibrary | None = None
    lines: WantedLines | None = None


def library_of(job: Job, flavour: Flavour) -> Library:
    """The library of a job's kernel file. ClaimError if it does not compile."""
    if not is_boxed():
        return build_library(job, flavour)
    entries = tuple(WantedEntry(one, None) if isinstance(one, str) else _wanted_call(one) for one in job.entries)
    wanted = WantedLibrary(str(job.path), LongText(job.source), job.flags, entries, job.through, flavour)
    found = ask_for_help(__name__, Wanted(compiled=wanted))
    assert isinstance(found, Library)
    return found


def _wanted_call(entry: object) -> WantedEntry:
    assert isinstance(entry, Call), "kernels have no other entries"
    return WantedEntry(None, entry)


def lines_of(library: Path, addresses: Sequence[int]) -> str:
    """What addr2line says of the code at these addresses, with the functions that are inlined there."""
    if is_boxed():
        return str(ask_for_help(__name__, Wanted(lines=WantedLines(str(library), tuple(addresses)))))
    command = ["addr2line", "--addresses", "--inlines", "--functions", "--demangle"]
    command += ["--exe", str(library), *map(hex, addresses)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def help_with(read: Callable[[int], bytes]) -> object:
    """Do what a process in a sandbox has asked for, in a process that has a helper's sandbox. ClaimError as above."""
    wanted = read_plain(read, (Wanted,), 0)
    if wanted.compiled is not None:
        one = wanted.compiled
        entries = tuple(each.call or each.name or "" for each in one.entries)
        job = Job("", Path(one.path), one.source, one.flags, 1, (), (), entries, through=one.through)
        return build_library(job, one.flavour)
    if wanted.lines is None or Path(wanted.lines.library).parent != cache.folder() / "cpu":
        raise ForeignBytesError
    return lines_of(Path(wanted.lines.library), wanted.lines.addresses)
