"""Compiles kernel files and the runtime with the host's C++ compiler, once: compiled objects are kept by content.

Knows compilers, flags and files. What is in the libraries, it leaves to whoever loads them.
"""

import contextlib
import functools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kfuzz.devices import ClaimError, DeviceError, Job, cache, is_host
from kfuzz.devices.cpu.options import (
    COMMON,
    HOST_LIBRARIES,
    LANGUAGE,
    LIBRARIES,
    LINK,
    RUNTIME,
    Flags,
    Flavour,
    flags,
    options,
)
from kfuzz.devices.cpu.unit import KERNEL_NAME, Unit, in_its_files, unit_of, whole_unit
from kfuzz.devices.headers import SourceFile
from kfuzz.devices.limits import STATIC_SHARED_MAX
from kfuzz.printable import printable

Noted = dict[str, Any]
"""As JSON: where the static __shared__ arrays lie, and the digests of the files that the kernel file includes."""

HOME = Path(__file__).with_name("cuda_on_cpu")
OF_LIBRARIES = (HOME / "runtime" / "module.cpp", HOME / "host" / "library.cpp")
FRONTS = ("cuda_on_cpu.h", "cuda_on_cpu_host.h", "cuda_on_cpu_torch.h")
"""In front of every kernel file; the second where host functions are compiled, too, the third where these use torch."""
INCLUDES = ("-I", str(HOME / "include"), "-I", str(HOME / "host" / "include"))
INSTALL = "install a C++ compiler: apt-get install g++ (or dnf install gcc-c++), or set CXX to one"
GUARD = "guard variable"
"""How the symbol begins that says whether the constructors of a __shared__ array of a class have run."""
UNINITIALISED = re.compile(
    rf"\b{re.escape(KERNEL_NAME)}:(\d+):\d+: warning: (?:variable )?'(.+?)' is "
    r"(?:used uninitialized|uninitialized when used here) \[-Wuninitialized\]"
)
"""What g++ or clang says of a local variable that is used, whichever way the code goes, before it has a value."""


@dataclass(frozen=True)
class Library:
    """A kernel file as a shared library, and what was noted of it when it was compiled."""

    path: Path
    files: tuple[SourceFile, ...]
    """The kernel file and its author's headers: `unit.place` tells which of them a line is in."""
    flavour: Flavour
    anchor_offset: int
    shared_arrays: tuple[tuple[str, int, int], ...]
    """Name, offset and bytes of every static __shared__ array in the library's thread-local block."""
    variables: tuple[tuple[str, int, int, bool], ...]
    """Name, offset and bytes of every other variable with static storage, and whether it is __constant__."""
    uninitialised: tuple[tuple[int, str], ...]
    """Where the compiler saw a local variable used that has no value yet: line and name."""
    dynamic_shared: tuple[str, ...]
    flush_denormals: bool


def find() -> str:
    """The host's C++ compiler; a DeviceError that says how to get one where there is none.

    g++ before clang: clang checks no alignment where a struct is copied whole (float4), and loses lines of atomics.
    """
    chosen = os.environ.get("CXX")
    for name in [chosen] if chosen else ["g++", "c++", "clang++"]:
        if path := shutil.which(name):
            return path
    missing = f"CXX={chosen} is no program" if chosen else "no g++ on PATH"
    raise DeviceError(f"{missing}: {INSTALL}")


@functools.cache
def _identity(compiler: str) -> str:
    """What the compiler says of itself and of the machine it compiles for."""
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    target = subprocess.run([compiler, "-dumpmachine"], capture_output=True, text=True, check=False)
    if version.returncode or target.returncode:
        raise DeviceError(f"{compiler} does not run: {version.stderr.strip() or target.stderr.strip()}; {INSTALL}")
    return version.stdout.splitlines()[0] + " for " + target.stdout.strip()


@functools.cache
def _own_digest() -> str:
    """Changes whenever a file of the runtime or a header does."""
    files = sorted(one for one in HOME.rglob("*") if one.suffix in (".h", ".cpp") or "include" in one.parts)
    return cache.key(
        *(part for one in files if one.is_file() for part in (str(one.relative_to(HOME)), one.read_bytes()))
    )


def runtime() -> Path:
    """The runtime as a shared library that kernel libraries resolve against."""
    compiler = find()
    name = f"cpu/runtime-{cache.key(_identity(compiler), _own_digest())[:32]}.so"
    found = sorted(one for room in ("runtime", "host") for one in (HOME / room).glob("*.cpp"))
    sources = [str(one) for one in found if one not in OF_LIBRARIES]
    return _kept(name, lambda made: _compile_own(compiler, made, *_red_zone(compiler), "-shared", *sources))


def _objects(compiler: str, flavour: Flavour, front: int) -> list[str]:
    """What every kernel library has a copy of."""
    made = [_object(compiler, flavour, one) for one in OF_LIBRARIES[: 2 if front else 1]]
    if front == len(FRONTS) - 1:
        made += [_torch_object(compiler, one) for one in sorted((HOME / "host" / "torch").glob("*.cpp"))]
    return list(map(str, made))


def _torch_object(compiler: str, source: Path) -> Path:
    """A part of torch's shim, in which no access is looked at."""
    name = f"cpu/torch-{source.stem}-{cache.key(_identity(compiler), _own_digest())[:32]}.o"
    return _kept(name, lambda made: _compile_own(compiler, made, "-fexceptions", "-frtti", "-c", str(source)))


def _front(job: Job, unit: Unit) -> int:
    """Which of FRONTS stands before the kernel file."""
    return (1 + unit.uses_torch) if any(map(is_host, job.entries)) else 0


def _object(compiler: str, flavour: Flavour, source: Path) -> Path:
    name = f"cpu/{source.stem}-{flavour}-{cache.key(_identity(compiler), _own_digest())[:32]}.o"
    checks = ["-DCUDA_ON_CPU_CHECK"] if flavour == "check" else []
    return _kept(name, lambda made: _compile_own(compiler, made, *checks, "-c", str(source)))


def _red_zone(compiler: str) -> list[str]:
    return ["-mno-red-zone"] if "x86_64" in _identity(compiler) else []


def _options(compiler: str, flavour: Flavour, chosen: Flags, with_host: bool) -> list[str]:
    return [*options("clang" in _identity(compiler), flavour, chosen, with_host), *_thread_local(compiler)]


def _thread_local(compiler: str) -> list[str]:
    """Have __tls_get_addr asked where __shared__ arrays lie (runtime/module.cpp)."""
    if "clang" in _identity(compiler):  # which has no word for it; on x86-64 it does so anyway
        return []
    return [f"-mtls-dialect={'gnu' if 'x86_64' in _identity(compiler) else 'trad'}"]


def _compile_own(compiler: str, made: Path, *arguments: str) -> None:
    own = [compiler, *LANGUAGE, *COMMON, *RUNTIME, *_thread_local(compiler), *arguments, "-o", str(made)]
    done = subprocess.run(own, capture_output=True, text=True, check=False, env=_environment(made.parent))
    if done.returncode:
        raise DeviceError(f"{_identity(compiler)} cannot compile the runtime of the cpu device: {done.stderr.strip()}")


def _kept(name: str, build: Callable[[Path], None]) -> Path:
    """The path of a cached file with just these bytes, built anew when it is missing or damaged."""
    path = cache.folder() / name
    if cache.fetch(name) is None:
        with cache.scratch() as folder:
            made = folder / "made"
            build(made)
            cache.keep(name, made.read_bytes())
    return path


def library(job: Job, flavour: Flavour) -> Library:
    """The job's kernel file, compiled for a flavour; a ClaimError with the compiler's own words where it does not."""
    compiler = find()
    chosen = flags(job.flags)
    unit = unit_of(job, flavour)
    parts = [
        _identity(compiler),
        _own_digest(),
        *_options(compiler, flavour, chosen, bool(_front(job, unit))),
        *LINK,
        unit.text,
        *unit.texts[1:],
    ]
    if not unit.is_closed:
        parts.append(str(job.path.parent.resolve()))
    name = f"cpu/{cache.key(*parts)[:32]}"
    noted = _noted(name)
    if noted is None:
        noted = _build(compiler, job, flavour, chosen, unit, name)
    return Library(
        path=cache.folder() / f"{name}.so",
        files=unit.files,
        flavour=flavour,
        anchor_offset=noted["anchor"],
        shared_arrays=tuple((one, offset, size) for one, offset, size in noted["shared"]),
        variables=tuple((one, offset, size, one in unit.constants) for one, offset, size in noted["variables"]),
        uninitialised=tuple((line, one) for line, one in noted["uninitialised"]),
        dynamic_shared=unit.dynamic_shared,
        flush_denormals=chosen.flush_denormals,
    )


def _noted(name: str) -> Noted | None:
    """What was noted when the library of this name was built; None unless both are whole and includes the same."""
    raw = cache.fetch(f"{name}.json")
    if raw is None or cache.fetch(f"{name}.so") is None:
        return None
    noted: Noted = json.loads(raw)
    return noted if all(_digest(Path(one)) == digest for one, digest in noted["included"]) else None


def _build(compiler: str, job: Job, flavour: Flavour, chosen: Flags, unit: Unit, name: str) -> Noted:
    """Compile and link; keep the library, and then the notes that make it count."""
    before, with_host = _front(job, unit), bool(_front(job, unit))
    objects = _objects(compiler, flavour, before)
    header = _precompiled(compiler, flavour, chosen, before)
    with cache.scratch() as folder:
        made, depends = folder / "made.so", folder / "made.d"
        empty = _empty_files(folder, unit.missing)

        def compiled(front: str, what: Unit) -> subprocess.CompletedProcess[str]:
            command = [
                *(compiler, *_options(compiler, flavour, chosen, with_host)),
                *("-include", front, *INCLUDES, "-iquote", str(folder)),
                *("-iquote", str(job.path.parent), "-idirafter", str(empty), "-MMD", "-MF", str(depends), *LINK),
                *("-x", "c++", str(what.write(folder)), "-x", "none", *objects, "-o", str(made)),
                *(HOST_LIBRARIES if with_host else LIBRARIES),
            ]
            return subprocess.run(command, capture_output=True, text=True, check=False, env=_environment(folder))

        done = compiled(str(header), unit)
        if done.returncode:
            without_precompiled = done = compiled(FRONTS[before], unit)
            if not done.returncode:
                shutil.rmtree(header.parent, ignore_errors=True)  # then it was the precompiled header that is damaged
            elif (whole := whole_unit(job, flavour)) not in (None, unit):  # a macro may need what nothing else does
                done = compiled(str(header), whole)
            if done.returncode:
                raise ClaimError(_complaint(without_precompiled.stderr, job, unit))
        included = [one for one in _dependencies(depends) if HOME not in one.parents and folder not in one.parents]
        unset = [(int(line), one) for line, one in UNINITIALISED.findall(done.stderr)]
        noted: Noted = {
            **_layout(made),
            "uninitialised": sorted(set(unset)),
            "included": [(str(one), _digest(one)) for one in included],
        }
        cache.keep(f"{name}.so", made.read_bytes())
    _check_static_shared(noted, job)
    cache.keep(f"{name}.json", json.dumps(noted).encode())
    return noted


def _empty_files(folder: Path, names: Iterable[str]) -> Path:
    """A folder of empty files with these names, where the compiler looks last of all."""
    empty = folder / "empty"
    empty.mkdir()
    for name in names:
        file = (empty / name).resolve()
        if file.is_relative_to(folder.resolve()):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
    return empty


def _environment(folder: Path) -> dict[str, str]:
    """For a compiler that speaks English, and leaves its scratch files in this folder when it is killed."""
    return {**os.environ, "LC_ALL": "C", "TMPDIR": str(folder)}


def _precompiled(compiler: str, flavour: Flavour, chosen: Flags, front: int) -> Path:
    """The header in front of every kernel, beside its precompiled form, which the compiler ignores if it misfits."""
    chosen_options = _options(compiler, flavour, chosen, bool(front))
    folder = f"cpu/front-{cache.key(_identity(compiler), _own_digest(), FRONTS[front], *chosen_options)[:32]}"
    header = cache.folder() / folder / "front.h"
    if not (header.parent / "front.h.gch").exists():
        with cache.scratch() as scratch:
            header.parent.mkdir(parents=True, exist_ok=True)
            text, made = scratch / "front.h", scratch / "front.h.gch"
            text.write_text(f'#include "{FRONTS[front]}"\n', encoding="utf-8")
            text.replace(header)
            command = [compiler, *chosen_options, *INCLUDES, "-x", "c++-header"]
            command += [str(header), "-o", str(made)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment(scratch))
            if done.returncode == 0:  # else a flag of the claim is at fault, and compiling the kernel will say so
                made.replace(header.parent / "front.h.gch")
    for one in (header, header.parent / "front.h.gch"):
        with contextlib.suppress(OSError):
            os.utime(one)  # as cache.fetch does
    return header


def _complaint(words: str, job: Job, unit: Unit) -> str:
    """The compiler's own words, under the names of the kernel file and its headers."""
    for entry in job.entries:
        plain = (entry if isinstance(entry, str) else entry.function).split("<")[0]
        if not is_host(entry) and re.fullmatch(r"\w+", plain) and plain not in unit.kernels:
            there = ", ".join(unit.kernels) or "none"
            return f"{job.path}: no __global__ function named {plain}; in this file: {there}"
    lines = [one for one in in_its_files(words, unit).splitlines() if one.strip()]
    start = next((i for i, one in enumerate(lines) if "error:" in one), 0)
    return printable("\n".join(lines[start : start + 12]))


def _dependencies(depends: Path) -> list[Path]:
    """The files that a compiler says it read, from a make rule."""
    rule = depends.read_text(encoding="utf-8").replace("\\\n", " ")
    return [Path(one.replace("\\ ", " ")) for one in re.findall(r"(?:\\ |\S)+", rule.partition(": ")[2])]


def _layout(path: Path) -> dict[str, Any]:
    """Where the static __shared__ arrays lie, the thread-local symbols of the library, and all other variables."""
    command = ["readelf", "--symbols", "--wide", "--demangle", str(path)]
    listing = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment(path.parent))
    if listing.returncode:
        raise DeviceError(f"readelf does not run: {listing.stderr.strip()}; install binutils")
    found: dict[str, tuple[int, int]] = {}
    variables = []
    for line in listing.stdout.splitlines():
        words = line.split(maxsplit=7)
        if len(words) < 8 or words[6] == "UND":
            continue
        if words[3] == "TLS":
            found[words[7]] = (int(words[1], 16), int(words[2], 0))
        elif words[3] == "OBJECT" and words[2] != "0":
            variables.append((words[7].rpartition("::")[2], int(words[1], 16), int(words[2], 0)))
    anchor, _ = found.pop("cuda_on_cpu_anchor")
    shared = [
        (GUARD if name.startswith(GUARD) else name.rpartition("::")[2], offset, size)
        for name, (offset, size) in found.items()
    ]
    return {"anchor": anchor, "shared": shared, "variables": sorted(set(variables))}


def _check_static_shared(noted: Noted, job: Job) -> None:
    for name, _, size in noted["shared"]:
        if size > STATIC_SHARED_MAX:
            raise ClaimError(
                f"{job.path}: __shared__ {name} has {size} bytes; a static array has at most {STATIC_SHARED_MAX}, "
                "more must be dynamic (extern __shared__)"
            )


def _digest(path: Path) -> str:
    try:
        return cache.key(path.read_bytes())
    except OSError:
        return "gone"
