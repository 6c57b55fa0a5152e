"""Compiles each kernel file once with the host's C++ compiler: the cache keeps libraries by content.

Knows flags and files; the code that loads a library knows its contents.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from kfuzz.common.phases import Phase, Stage, announce
from kfuzz.common.printable import printable
from kfuzz.devices import ClaimError, Job, cache, is_host
from kfuzz.devices.cpu.complaints import complaint_lines
from kfuzz.devices.cpu.left_out_keywords import compile_leniently
from kfuzz.devices.cpu.module_unit import ModuleUnit, build_module_unit
from kfuzz.devices.cpu.options import HOST_LIBRARIES, LIBRARIES, LINK, Flags, Flavour, split_flags
from kfuzz.devices.cpu.ptx.module import PtxLimits
from kfuzz.devices.cpu.toolchain import (
    FRONTS,
    HOME,
    INCLUDES,
    build_objects,
    flags_before_front,
    option_words,
    own_digest,
    precompile_front,
    read_places,
    shared_arrays,
    words_after_front,
)
from kfuzz.devices.cpu.unit import KERNEL_NAME, Files, Unit, build_unit, build_whole_unit, restore_file_names
from kfuzz.devices.host_compiler import compiling_for, environment, find_compiler, identity, run_compiler
from kfuzz.devices.limits import STATIC_SHARED_MAX
from kfuzz.devices.torch_headers import suggest_header

Notes = dict[str, Any]
"""In JSON: the places of the static __shared__ arrays, and the digests of the files that the kernel file includes."""

UNINITIALISED = re.compile(
    rf"\b{re.escape(KERNEL_NAME)}:(\d+):\d+: warning: (?:variable )?'(.+?)' is "
    r"(?:used uninitialized|uninitialized when used here) \[-Wuninitialized\]"
)
"""The warning of g++ or clang about a local variable that every path of the code uses before it has a value."""

DIED = "internal compiler error"
OTHER_COMPILER = "set CXX to another compiler, or another version of it"
ERROR = re.compile(r": error: (.*)")


def permit(complaint: str) -> tuple[str, ...]:
    """The flag with which g++ takes what nvcc takes; none if anything else is wrong.

    A member may have the name of a template that its class has used before: nvcc's own compiler resolves both.
    """
    errors = ERROR.findall(complaint)
    return ("-fpermissive",) if errors and all("changes meaning of" in one for one in errors) else ()


def run_permissively(
    command: Sequence[str], variables: Mapping[str, str], what: Path
) -> "subprocess.CompletedProcess[str]":
    """Run g++, and again with the flag with which it takes what nvcc takes."""
    done = run_compiler(command, variables, what)
    if words := permit(done.stderr) if done.returncode else ():
        command = [*command, *words]
        done = run_compiler(command, variables, what)
    return done


@dataclass(frozen=True)
class Library:
    """A kernel file as a shared library, and the facts that compiling it gave."""

    path: Path
    files: Files
    """The kernel file and its author's headers: `unit.locate` says which of them a line is in."""
    flavour: Flavour
    anchor_offset: int
    shared_arrays: tuple[tuple[str, int, int], ...]
    static_shared: tuple[tuple[int, int], ...]
    """The place of each kernel with static __shared__ arrays of its own, and their bytes."""
    """Name, offset and bytes of every static __shared__ array in the library's thread-local block."""
    variables: tuple[tuple[str, int, int, bool], ...]
    """Name, offset and bytes of every other variable with static storage, and whether it is __constant__."""
    uninitialised: tuple[tuple[int, str], ...]
    """Line and name of each local variable that is used before it has a value, as the compiler warns."""
    dynamic_shared: tuple[str, ...]
    flush_denormals: bool
    limits: Mapping[str, PtxLimits] = field(default_factory=dict)
    """What a PTX module says of the launches of its kernels, by entry."""


def _front(job: Job, unit: Unit) -> int:
    """The number of the header in FRONTS that comes before the kernel file."""
    return (1 + unit.uses_torch) if any(map(is_host, job.entries)) else 0


def _unit_of(job: Job, flavour: Flavour) -> Unit:
    return build_module_unit(job, flavour) if job.through else build_unit(job, flavour)


def build_library(job: Job, flavour: Flavour) -> Library:
    """Compile the job's kernel file for a flavour. ClaimError with the compiler's own words if it does not compile."""
    compiler = find_compiler()
    chosen = split_flags(job.flags)
    unit = _unit_of(job, flavour)
    parts = [
        identity(compiler),
        own_digest(),
        *option_words(compiler, flavour, chosen, bool(_front(job, unit))),
        *LINK,
        unit.text,
        *unit.texts[1:],
    ]
    if not unit.is_closed:
        parts.append(str(job.path.parent.resolve()))
    name = f"cpu/{cache.key(*parts)[:32]}"
    notes = _read_notes(name)
    if notes is None:
        if flavour == "count" and (refused := cache.fetch(f"{name}.refused")):
            raise ClaimError(refused.decode())
        notes = _build(compiler, job, flavour, chosen, unit, name)
    return Library(
        path=cache.folder() / f"{name}.so",
        files=unit.by_number,
        flavour=flavour,
        anchor_offset=notes["anchor"],
        shared_arrays=tuple((one, offset, size) for one, offset, size in notes["shared"]),
        static_shared=tuple((place, size) for place, size in notes["of_kernels"]),
        variables=tuple((one, offset, size, one in unit.constants) for one, offset, size in notes["variables"]),
        uninitialised=tuple((line, one) for line, one in notes["uninitialised"]),
        dynamic_shared=unit.dynamic_shared,
        flush_denormals=chosen.flush_denormals,
        limits=unit.limits if isinstance(unit, ModuleUnit) else {},
    )


def _read_notes(name: str) -> Notes | None:
    """The notes about the library of this name; None if one is missing or damaged or an include has changed."""
    raw = cache.fetch(f"{name}.json")
    if raw is None or cache.fetch(f"{name}.so") is None:
        return None
    notes: Notes = json.loads(raw)
    return notes if all(digest_of(Path(one)) == digest for one, digest in notes["included"]) else None


def _build(compiler: str, job: Job, flavour: Flavour, chosen: Flags, unit: Unit, name: str) -> Notes:
    """Compile and link. Keep the library first and then its notes, since a library without notes does not count."""
    announce(Phase(Stage.COMPILING, job.path.name))
    before, with_host = _front(job, unit), bool(_front(job, unit))
    with compiling_for(job.path):
        copies = build_objects(compiler, flavour, before)
        header = precompile_front(compiler, flavour, chosen, before)
    words = option_words(compiler, flavour, flags_before_front(chosen), with_host)
    with cache.scratch() as folder:
        made, depends = folder / "made.so", folder / "made.d"
        empty = empty_files(folder, unit.missing)

        def compiled(front: str, what: Unit) -> subprocess.CompletedProcess[str]:
            command = [
                *(compiler, *words, "-include", front, *words_after_front(chosen, folder), *INCLUDES),
                *("-iquote", str(folder), "-iquote", str(job.path.parent), "-idirafter", str(empty)),
                *("-MMD", "-MF", str(depends), *LINK),
                *("-x", "c++", str(what.write(folder)), "-x", "none", *copies, "-o", str(made)),
                *(HOST_LIBRARIES if with_host else LIBRARIES),
            ]
            return run_compiler(command, environment(folder), job.path)

        def check_size_of_arrays() -> None:
            """Find what the linker has no words for: arrays of many GB."""
            command = [*(compiler, *words, "-include", FRONTS[before], *words_after_front(chosen, folder), *INCLUDES)]
            command += ["-iquote", str(folder), "-iquote", str(job.path.parent), "-idirafter", str(empty)]
            command += ["-c", "-x", "c++", str(unit.write(folder)), "-o", str(folder / "made.o")]
            if not run_compiler(command, environment(folder), job.path).returncode:
                _check_static_shared(shared_arrays(folder / "made.o"), job)

        done = compiled(str(header), unit)
        if done.returncode:
            without_precompiled = done = compile_leniently(partial(compiled, FRONTS[before]), unit)
            if not done.returncode:
                shutil.rmtree(header.parent, ignore_errors=True)  # so the precompiled header is damaged
            elif not job.through and (whole := build_whole_unit(job, flavour)) not in (
                None,
                unit,
            ):  # a macro may need more
                done = compile_leniently(partial(compiled, str(header)), whole)
            if done.returncode:
                if "ld returned" in done.stderr:
                    check_size_of_arrays()
                complaint = _complaint(without_precompiled.stderr, job, unit)
                if flavour == "count":  # many files cannot be counted; do not try them again
                    cache.save(f"{name}.refused", complaint.encode())
                raise ClaimError(complaint)
        included = [one for one in dependencies(depends) if HOME not in one.parents and folder not in one.parents]
        unset = [(int(line), one) for line, one in UNINITIALISED.findall(done.stderr)]
        notes: Notes = {
            **read_places(made),
            "uninitialised": sorted(set(unset)),
            "included": [(str(one), digest_of(one)) for one in included],
        }
        cache.keep(f"{name}.so", made.read_bytes())
    _check_static_shared({name: size for name, _, size in notes["shared"]}, job)
    cache.keep(f"{name}.json", json.dumps(notes).encode())
    return notes


def empty_files(folder: Path, names: Iterable[str]) -> Path:
    """A folder of empty files with these names, in which the compiler looks last."""
    empty = folder / "empty"
    empty.mkdir()
    for name in names:
        file = (empty / name).resolve()
        if file.is_relative_to(folder.resolve()):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
    return empty


def _complaint(words: str, job: Job, unit: Unit) -> str:
    """The compiler's own words with the names of the kernel file and its headers."""
    for entry in job.entries:
        plain = (entry if isinstance(entry, str) else entry.function).split("<")[0]
        if not is_host(entry) and re.fullmatch(r"\w+", plain) and plain not in unit.kernels:
            names = ", ".join(unit.kernels) or "none"
            return f"{job.path}: no __global__ function is named {plain}; in this file: {names}"
    if died := next((one for one in restore_file_names(words, unit).splitlines() if DIED in one), None):
        return printable(
            f"{died}\n{identity(find_compiler())} itself failed on this file, which may be right: {OTHER_COMPILER}"
        )
    told = [one + suggest_header(one) for one in complaint_lines(words, unit)]
    return printable(_missing_header(unit) + "\n".join(told))


def _missing_header(unit: Unit) -> str:
    """A header that the kernel may have needed: it was not found, which alone is no error."""
    for name in unit.missing:
        include = re.compile(rf'^[ \t]*#[ \t]*include[ \t]*"{re.escape(name)}"', re.MULTILINE)
        found = next(((file, match) for file in unit.files if (match := include.search(file.text))), None)
        if found and not (found[0].path.parent / name).exists():
            file, match = found
            line = file.text.count("\n", 0, match.start()) + 1
            return f'{file.path}:{line}: "{name}" is not found: put it beside the kernel; without it: '
    return ""


def dependencies(depends: Path) -> list[Path]:
    """The files that the compiler read, from its make rule."""
    rule = depends.read_text(encoding="utf-8").replace("\\\n", " ")
    return [Path(one.replace("\\ ", " ")) for one in re.findall(r"(?:\\ |\S)+", rule.partition(": ")[2])]


def _check_static_shared(arrays: dict[str, int], job: Job) -> None:
    for name, size in arrays.items():
        if size > STATIC_SHARED_MAX:
            raise ClaimError(
                f"{job.path}: __shared__ {name} has {size} bytes; a static array has at most {STATIC_SHARED_MAX}; "
                "a larger one must be dynamic (extern __shared__)"
            )


def digest_of(path: Path) -> str:
    try:
        return cache.key(path.read_bytes())
    except OSError:
        return "gone"
