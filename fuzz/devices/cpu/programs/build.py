"""Builds programs for the cpu device: objects from sources, cached by content, and a program file from objects.

An object is an ordinary one of g++, which ar and ld accept, with notes in an additional section. Knows files and flags;
it does not know what a run of a program shows.
Long, since compiling, linking and the cache share the names of objects.
"""

import contextlib
import fcntl
import itertools
import json
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kfuzz.common.phases import Phase, Stage, announce
from kfuzz.common.printable import printable, shown_path
from kfuzz.common.text.cuda_text import blank_non_code, includes
from kfuzz.common.text.headers import SourceFile, sources
from kfuzz.devices import ClaimError, UnsupportedError, cache
from kfuzz.devices.cpu import toolchain
from kfuzz.devices.cpu.compiler import UNINITIALISED, Library, dependencies, digest_of, empty_files, run_permissively
from kfuzz.devices.cpu.complaints import complaint_lines
from kfuzz.devices.cpu.left_out_keywords import compile_leniently
from kfuzz.devices.cpu.libraries import find_missing
from kfuzz.devices.cpu.line_words import LINES_A_FILE
from kfuzz.devices.cpu.options import HOST_LIBRARIES, LINK, Flags, Flavour
from kfuzz.devices.cpu.programs.command_line import Command, NvccSource
from kfuzz.devices.cpu.programs.notes import NOTES, add_notes
from kfuzz.devices.cpu.programs.through_nvcc import OWN, compile_through_nvcc
from kfuzz.devices.cpu.translate import ON_A_GPU, Translation, translate
from kfuzz.devices.cpu.unit import KERNEL_NAME, Files, Unit, header_name
from kfuzz.devices.host_compiler import compiling_for, environment, find_compiler, identity, run_compiler
from kfuzz.devices.limits import STATIC_SHARED_MAX

FRONT = 1
"""The index of the header in FRONTS that includes the host's side."""
MOST_FILES = (1 << 31) // LINES_A_FILE - 1
MAIN = re.compile(r"\bmain\s*\(")
OF_DEVICE = re.compile(r"\b__(?:device|constant|managed|shared)__\b[^;={}()]*?\b(\w+)\s*[\[;={]")
TORCH = re.compile(r"(?:torch|ATen|c10|pybind11)/")
"""Headers of PyTorch and of its extensions."""
BEGIN = f"""#!/bin/sh
# A program for the cpu device of kfuzz, made by kfuzz nvcc: run it, or check it with `kfuzz check`.
exec {shlex.quote(sys.executable)} -m kfuzz.devices.cpu.programs.child "$0" "$@"
"""
LIBRARY_AT = 4096
"""The place of the shared library in a program file, after the lines for the shell."""
CUDA = "#define __NVCC__ 1\n#define __CUDACC_VER_BUILD__ 0\n"
"""The first lines of a file that nvcc compiles itself."""
NOT_CUDA = "#include <not_cuda.h>\n"
"""The first lines of a file that nvcc passes to the host's compiler."""


@dataclass(frozen=True)
class Through:
    """nvcc compiles a program, with these words of its own."""

    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class ObjectFile:
    """An object, and the files that it was made from."""

    object: Path
    files: tuple[Path, ...]


def compile_source(
    source: NvccSource, flags: Sequence[str], flavour: Flavour = "check", through: Through | None = None
) -> ObjectFile:
    """Compile a source to an object. ClaimError with the compiler's own words if it does not compile."""
    text = _text(source.path)
    if source.language == "c":
        return _compile_c(source.path, flags)
    if through:
        return ObjectFile(compile_through_nvcc(source, flags, through.words, flavour, _number_files), (source.path,))
    try:
        return _compile_unit(source, _build_unit(source, text, flags, None), flags, flavour)
    except UnsupportedError:
        if not MAIN.search(text):
            raise
        return _compile_unit(source, _build_unit(source, text, flags, ("main",)), flags, flavour)


def _compile_unit(source: NvccSource, unit: Unit, flags: Sequence[str], flavour: Flavour) -> ObjectFile:
    compiler, chosen = find_compiler(), Flags(tuple(flags), flush_denormals=False)
    words = toolchain.option_words(compiler, flavour, chosen, with_host=True)
    parts = [
        identity(compiler),
        toolchain.own_digest(),
        *words,
        unit.text,
        *unit.texts[1:],
        str(source.path),
        str(source.path.resolve()),
    ]
    name = f"cpu/object-{cache.key(*parts)[:32]}"
    raw = cache.fetch(f"{name}.json")
    if raw is None or cache.fetch(f"{name}.o") is None or not _are_unchanged(json.loads(raw)):
        announce(Phase(Stage.COMPILING, source.path.name))
        raw = _compile(compiler, source.path, unit, chosen, flavour, name)
    files = [*(one.path for one in unit.files), *(Path(one) for one, _ in json.loads(raw))]
    return ObjectFile(cache.folder() / f"{name}.o", tuple(dict.fromkeys(files)))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise ClaimError(f"{path}: {error.strerror}") from None


def _are_unchanged(included: list[tuple[str, str]]) -> bool:
    return all(digest_of(Path(one)) == digest for one, digest in included)


def _build_unit(source: NvccSource, text: str, flags: Sequence[str], entries: tuple[str, ...] | None) -> Unit:
    """The unit of a whole file, or only of what the entries reach."""
    files = sources(source.path, text, flags)
    if any(TORCH.match(include.name) for one in files for include in includes(one.text)):
        if MAIN.search(blank_non_code(text)):
            raise ClaimError(
                f"{source.path}: this program needs PyTorch's C++ library, which kfuzz check does not have"
            )
        raise ClaimError(
            f"{source.path}: this is an extension of PyTorch, not a program; "
            f"kfuzz fuzz {source.path} --op OP checks its functions"
        )
    names = [KERNEL_NAME, *map(header_name, range(1, len(files)))]
    done = _translate(files, names, entries)
    front = CUDA if source.language == "cu" else NOT_CUDA
    numbers = tuple(_number_files([str(one.path.resolve()) for one in files]))
    return Unit(files, done.texts, "", done.dynamic_shared, done.constants, done.kernels, front, numbers)


def _translate(files: Sequence[SourceFile], names: Sequence[str], entries: tuple[str, ...] | None) -> Translation:
    try:
        return translate(files, names, entries, with_host=True, refuses_libraries=False)
    except UnsupportedError as error:
        raise UnsupportedError(str(error).removesuffix(ON_A_GPU)) from None


def _known_files() -> Path:
    """A file with the paths of all files that have a number, one on each line."""
    return cache.folder() / "cpu" / "files"


def name_file(place: re.Match[str]) -> str:
    """The author's file and line for a line of an object, which the linker names: of files of one number, the last."""
    number, line = divmod(int(place[1]), LINES_A_FILE)
    with contextlib.suppress(OSError, IndexError):
        same = _known_files().read_text(encoding="utf-8").splitlines()[number - 1 :: MOST_FILES]
        return f"{shown_path(Path(same[-1]))}:{line}"
    return f"line {line}"


def _number_files(paths: Sequence[str]) -> list[int]:
    """The number of each file, which stands for it in the line numbers of every object, in all builds."""
    known = _known_files()
    known.parent.mkdir(parents=True, exist_ok=True)
    with known.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        every = file.read().splitlines()
        places = {path: place for place, path in enumerate(every)}
        for path in paths:
            if path not in places:
                places[path] = len(places)
                file.write(f"{path}\n")
    return [places[path] % MOST_FILES + 1 for path in paths]


def _compile(compiler: str, path: Path, unit: Unit, chosen: Flags, flavour: Flavour, name: str) -> bytes:
    with compiling_for(path):
        header = toolchain.precompile_front(compiler, flavour, chosen, FRONT)
    with cache.scratch() as folder:
        made, depends = folder / "made.o", folder / "made.d"
        empty = empty_files(folder, unit.missing)

        def compiled(front: str, what: Unit) -> subprocess.CompletedProcess[str]:
            command = [
                *(
                    compiler,
                    *toolchain.option_words(compiler, flavour, toolchain.flags_before_front(chosen), with_host=True),
                    "-pipe",
                ),
                f"-fmacro-prefix-map={KERNEL_NAME}={path}",  # __FILE__ in macros; line_words.py has the others
                *("-include", front, *toolchain.words_after_front(chosen, folder), *toolchain.INCLUDES),
                *("-iquote", str(folder), "-iquote", str(path.parent), "-idirafter", str(empty)),
                *("-MMD", "-MF", str(depends), "-c", "-x", "c++", str(what.write(folder)), "-o", str(made)),
            ]
            return run_permissively(command, environment(folder), path)

        for front in (str(header), toolchain.FRONTS[FRONT]):  # the second in case the precompiled one is damaged
            done = compile_leniently(partial(compiled, front), unit)
            if not done.returncode:
                break
        if done.returncode:
            complaint = _complaint(done.stderr, unit)
            if missing := find_missing(complaint):
                raise UnsupportedError(missing)
            raise ClaimError(complaint)
        unset = sorted({(int(line), one) for line, one in UNINITIALISED.findall(done.stderr)})
        _attach_notes(made, unit, unset, folder)
        included = [
            one for one in dependencies(depends) if toolchain.HOME not in one.parents and folder not in one.parents
        ]
        notes = json.dumps([(str(one), digest_of(one)) for one in included if one.parent != header.parent]).encode()
        cache.keep(f"{name}.o", made.read_bytes())
        cache.keep(f"{name}.json", notes)
    return notes


def _attach_notes(made: Path, unit: Unit, unset: list[tuple[int, str]], folder: Path) -> None:
    """Add notes to the object: its texts by number, and facts that no symbol has."""
    files = [(number, str(one.path), one.text) for number, one in zip(unit.numbers, unit.files, strict=True)]
    notes = {"files": files, "dynamic": unit.dynamic_shared, "constants": unit.constants, "uninitialised": unset}
    add_notes(made, notes, folder)


def _complaint(words: str, unit: Unit) -> str:
    return printable("\n".join(complaint_lines(words, unit)))


def _compile_c(path: Path, flags: Sequence[str]) -> ObjectFile:
    """Compile a C file as nvcc does: with the host's compiler alone."""
    compiler = find_compiler()
    words = [*(one for one in flags if not one.startswith("-std=")), "-fPIC", "-O1", "-g1", "-iquote", str(path.parent)]
    with cache.scratch() as folder:
        made, depends = folder / "made.o", folder / "made.d"
        command = [compiler, *words, "-MMD", "-MF", str(depends), "-c", "-x", "c", str(path), "-o", str(made)]
        _run(command, folder)
        name = f"cpu/object-{cache.key(made.read_bytes())[:32]}.o"
        cache.keep(name, made.read_bytes())
        return ObjectFile(cache.folder() / name, tuple(dependencies(depends)))


def empty_object() -> bytes:
    """Make an empty object."""
    with cache.scratch() as folder:
        _run([find_compiler(), "-c", "-x", "c", "/dev/null", "-o", str(folder / "empty.o")], folder)
        return (folder / "empty.o").read_bytes()


def link(
    objects: Sequence[Path],
    command: Command,
    output: Path,
    flavour: Flavour = "check",
    through: Through | None = None,
) -> None:
    """Link objects and libraries into a program file. ClaimError with the linker's own words if that fails."""
    compiler = find_compiler()
    with cache.scratch() as folder:
        made = folder / "program.so"
        of_nvcc = toolchain.build_nvcc_objects(compiler, flavour) if through else []
        ours = [*toolchain.build_program_objects(compiler, flavour), *of_nvcc, *HOST_LIBRARIES]
        words = [compiler, *LINK, *_with_own_variables([*map(str, objects), *command.linked], folder), *ours]
        try:  # the first link reports what is missing
            _run([*words, str(toolchain.build_runtime()), "-Wl,--no-undefined", "-o", str(made)], folder)
        except ClaimError:
            for one in objects:  # the linker has no words for arrays of many GB
                _check_static_shared(one)
            raise
        _run([*words, "-o", str(made)], folder)
        _check_static_shared(made)
        begin = BEGIN.encode()
        output.parent.mkdir(parents=True, exist_ok=True)
        output.unlink(missing_ok=True)
        output.write_bytes(begin + b"\n" * (LIBRARY_AT - len(begin)) + made.read_bytes())
        output.chmod(0o755)


def _with_own_variables(words: Sequence[str], folder: Path) -> Iterator[str]:
    """The words for the linker; several objects with a device variable of one name have one each, as with nvcc."""
    named = {one: toolchain.global_variables(Path(one)) for one in words if one.endswith(".o")}
    times = Counter(name for names in named.values() for name in names)
    for number, one in enumerate(words):
        several = {name for name in named.get(one, ()) if times[name] > 1}
        if several:
            texts = (text for notes in _read_notes(Path(one)) for _, _, text in notes["files"])
            several &= {name for text in texts for name in OF_DEVICE.findall(blank_non_code(text))}
        if several:
            copy = folder / f"own_{number}.o"
            _run(["objcopy", *(f"--localize-symbol={name}" for name in several), one, str(copy)], folder)
        yield str(copy) if several else one


def _check_static_shared(made: Path) -> None:
    for name, size in toolchain.shared_arrays(made).items():
        if size > STATIC_SHARED_MAX:
            raise ClaimError(
                f"__shared__ {name} has {size} bytes; a static array has at most {STATIC_SHARED_MAX}; "
                "a larger one must be dynamic (extern __shared__)"
            )


def _run(command: list[str], folder: Path) -> None:
    done = run_compiler(command, environment(folder), Path(command[-1]).name)
    if done.returncode:
        lines = [one for one in done.stderr.replace(f"{folder}/", "").splitlines() if one.strip()]
        if any("undefined reference to `main'" in one for one in lines):
            raise ClaimError(
                "none of these files has a main(); kfuzz check runs a whole program, and kfuzz fuzz a kernel"
            )
        errors = [one for one in lines if re.search("undefined reference|multiple definition|error(?!: ld ret)", one)]
        errors = errors or lines
        if missing := sorted(set(re.findall(rf"undefined reference to `{OWN}(\w+)'", done.stderr))):
            raise ClaimError(
                f"{', '.join(missing)}: kfuzz has no such function for a program through nvcc; leave out --through"
            )
        place = re.compile(rf"\S*\b{re.escape(KERNEL_NAME)}:(\d+)")
        is_of_author = [not (at := place.search(one)) or int(at[1]) >= LINES_A_FILE for one in errors]
        errors = list(itertools.compress(errors, is_of_author)) or errors
        raise ClaimError(printable(place.sub(name_file, "\n".join(errors[:12]))))


def is_program(path: Path) -> bool:
    """Whether `kfuzz nvcc` made this file."""
    try:
        with path.open("rb") as file:
            return file.read(len(BEGIN.encode()) + 64).startswith(b"#!/bin/sh\n# A program for the cpu device of kfuzz")
    except OSError:
        return False


def load_program(program: Path, flavour: Flavour = "check") -> Library:
    """Read the library of a program file, with all its notes."""
    raw = program.read_bytes()[LIBRARY_AT:]
    name = f"cpu/program-{cache.key(raw)[:32]}.so"
    if cache.fetch(name) is None:
        cache.keep(name, raw)
    path = cache.folder() / name
    notes = _read_notes(path)
    layout = toolchain.read_places(path)
    constants = {name for one in notes for name in one["constants"]}
    files: dict[int, SourceFile] = {}
    for one in notes:
        for number, file, text in one["files"]:
            known = files.setdefault(number, SourceFile(Path(file), text))
            if known.path != Path(file) and known.text != text:  # one file may be spelled in two ways
                raise ClaimError(
                    f"{program}: {file} and {files[number].path} have the same number: compile all files again"
                )
    first = notes[0]["files"][0][0] if notes else 0
    every: Files = {0: files.get(first, SourceFile(program, "")), **files}
    return Library(
        path=path,
        files=every,
        flavour=flavour,
        anchor_offset=layout["anchor"],
        shared_arrays=tuple((one, offset, size) for one, offset, size in layout["shared"]),
        static_shared=tuple((place, size) for place, size in layout["of_kernels"]),
        variables=tuple((one, offset, size, one in constants) for one, offset, size in layout["variables"]),
        uninitialised=tuple((line, name) for one in notes for line, name in one["uninitialised"]),
        dynamic_shared=tuple(dict.fromkeys(name for one in notes for name in one["dynamic"])),
        flush_denormals=False,
    )


def _read_notes(library: Path) -> list[dict[str, Any]]:
    """The notes of each object in a library."""
    with cache.scratch() as folder:
        notes = folder / "notes"
        notes.touch()
        _run(["objcopy", "--dump-section", f"{NOTES}={notes}", str(library), str(folder / "copy.so")], folder)
        return [json.loads(line) for line in notes.read_bytes().decode().replace("\0", "").splitlines() if line]
