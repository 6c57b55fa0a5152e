"""Parses the command line of nvcc: which words matter for a program of the cpu device, and which do not.

Knows only words, and opens only files that `--options-file` or `@` names.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kfuzz.devices import ClaimError

VALUED = {
    "-o": "-o", "--output-file": "-o", "-x": "-x", "--x": "-x", "-I": "-I", "--include-path": "-I",
    "-isystem": "-I", "--system-include": "-I", "-D": "-D", "--define-macro": "-D", "-U": "-U",
    "--undefine-macro": "-U", "-include": "-include", "--pre-include": "-include", "-std": "-std", "--std": "-std",
    "-arch": "-arch", "--gpu-architecture": "-arch", "-gencode": "-arch", "--generate-code": "-arch",
    "-Xcompiler": "-Xcompiler", "--compiler-options": "-Xcompiler", "-l": "-l", "--library": "-l", "-L": "-L",
    "--library-path": "-L", "-MF": "-MF", "--dependency-output": "-MF", "-MT": "-MT", "-MQ": "-MT",
    "--dependency-target-name": "-MT", "-odir": "-odir", "--output-directory": "-odir",
    "-optf": "-optf", "--options-file": "-optf", "-default-stream": "-stream", "--default-stream": "-stream",
}  # fmt: skip
"""Words with a value that matters, with their short names. The value follows `=`, directly, or as the next word."""
VALUED_AND_IDLE = frozenset(
    """-Xptxas --ptxas-options -Xlinker --linker-options -Xcudafe -Xnvlink --nvlink-options -Xarchive -ccbin
    --compiler-bindir -code --gpu-code -maxrregcount --maxrregcount -O --optimize -t --threads -cudart --cudart
    -rdc --relocatable-device-code -ftz --ftz -prec-div --prec-div -prec-sqrt --prec-sqrt -fmad --fmad -m
    --machine -Werror --Werror -diag-suppress --diag-suppress -diag-warn --diag-warn
    -split-compile --split-compile -keep-dir --keep-dir -time --time""".split()  # noqa: SIM905  as a person reads it
)
JOINED = ("-I", "-D", "-U", "-l", "-L", "-O", "-m", "-t")
"""Words whose value may follow directly."""
NO_LIBRARY = frozenset({"-lineinfo"})
DEPENDS = frozenset({"-MD", "-MMD", "--generate-dependencies-with-compile"})
LINKS_DEVICE = frozenset({"-dlink", "--device-link"})
COMPILES = frozenset({"-c", "--compile", "-dc", "--device-c"})
NO_PROGRAM = {
    "-ptx": "PTX", "--ptx": "PTX", "-cubin": "a cubin", "--cubin": "a cubin", "-fatbin": "a fat binary",
    "--fatbin": "a fat binary", "-shared": "a shared library", "--shared": "a shared library",
    "-E": "preprocessed text", "--preprocess": "preprocessed text", "-lib": "an archive, which ar does",
    "--lib": "an archive, which ar does",
}  # fmt: skip
CUDA_LIBRARIES = re.compile(r"(?:cu|nv|nccl)\w*|cuda\w*|cudart_static|pthread|dl|rt|m|stdc\+\+")
"""Libraries that kfuzz replaces or that g++ links anyway; the linker reports functions that are missing."""
LANGUAGES = {".cu": "cu", ".cpp": "c++", ".cc": "c++", ".cxx": "c++", ".C": "c++", ".c": "c"}
LINKED = frozenset({".o", ".a", ".so", ".obj", ".lo"})
OPENMP = "-Xcompiler -fopenmp"
"""Without this flag, g++ runs OpenMP's regions by one thread, which is one of the ways to run them."""
STANDARD = re.compile(r"(?:c|gnu)\+\+([12]\d)")
OLDEST_STANDARD = 17
"""The language standard of the cpu device's headers."""


@dataclass(frozen=True)
class NvccSource:
    """A file to compile, and its language: `cu`, `c++` or `c`."""

    path: Path
    language: str


@dataclass(frozen=True)
class Command:
    """A parsed command line. `flags` are those for g++; `linked` are objects and libraries in order."""

    sources: tuple[NvccSource, ...] = ()
    linked: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    output: Path | None = None
    folder: Path | None = None
    compiles_only: bool = False
    depends: bool = False
    depends_file: Path | None = None
    depends_target: str = ""
    ignored: tuple[str, ...] = ()
    asks_version: bool = False
    links_device: bool = False
    """Whether nvcc would link the device code of several objects, which do not exist here."""


def parse(words: Sequence[str]) -> Command:
    """Parse a command line. ClaimError if it asks for something other than a program."""
    values: dict[str, list[str]] = {name: [] for name in (*VALUED.values(), "file", "idle", "depends")}
    compiles_only = asks_version = False
    links_device = not LINKS_DEVICE.isdisjoint(words)
    language, sources, linked = "", [], []
    pairs = (
        one for one in _pairs(words) if not (links_device and one[0] in NO_PROGRAM)
    )  # CMake passes -shared with it
    for name, value in pairs:
        if name in NO_PROGRAM:
            raise ClaimError(f"{name}: kfuzz nvcc makes programs for the cpu device, not {NO_PROGRAM[name]}")
        if name in COMPILES:
            compiles_only = True
        elif name in ("--version", "-V"):
            asks_version = True
        elif name == "-x":
            language = value
        elif name == "file":
            suffix = Path(value).suffix
            if language or suffix in LANGUAGES:
                sources.append(NvccSource(Path(value), language or LANGUAGES[suffix]))
            elif suffix in LINKED or ".so." in Path(value).name:
                linked.append(value)
            else:
                raise ClaimError(f"{value}: neither a source file ({', '.join(LANGUAGES)}) nor an object or a library")
        elif name == "-l":
            (values["idle"] if CUDA_LIBRARIES.fullmatch(value) else linked).append(f"-l{value}")
        elif name == "-L":
            linked.append(f"-L{value}")
        else:
            values[name].append(value)
    flags, idle = _flags(values)
    linked += ["-lgomp"] * (OPENMP in idle)
    return Command(
        sources=tuple(sources),
        linked=tuple(linked),
        flags=flags,
        output=Path(values["-o"][-1]) if values["-o"] else None,
        folder=Path(values["-odir"][-1]) if values["-odir"] else None,
        compiles_only=compiles_only,
        depends=bool(values["depends"]),
        depends_file=Path(values["-MF"][-1]) if values["-MF"] else None,
        depends_target=values["-MT"][-1] if values["-MT"] else "",
        ignored=tuple(dict.fromkeys([*values["idle"], *idle])),
        asks_version=asks_version,
        links_device=links_device,
    )


TALKS = frozenset({"-v", "--verbose", "-forward-unknown-to-host-compiler", "--forward-unknown-to-host-compiler"})
"""Words that CMake passes with every call; kfuzz leaves them out without a note."""


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each word as its short name and its value."""
    waiting = list(reversed(words))
    while waiting:
        word = waiting.pop()
        name, equals, value = word.partition("=")
        joined = next((one for one in JOINED if word.startswith(one) and word != one), "")
        if word.startswith("@") and Path(word[1:]).is_file():  # CMake's list of objects
            waiting += reversed(shlex.split(Path(word[1:]).read_text(encoding="utf-8")))
        elif not word.startswith("-") or word == "-":
            yield "file", word
        elif name in VALUED or name in VALUED_AND_IDLE:
            if not equals and not waiting:
                raise ClaimError(f"{word}: its value is missing")
            value = value if equals else waiting.pop()
            if VALUED.get(name) == "-optf":
                waiting += reversed(shlex.split(Path(value).read_text(encoding="utf-8")))
            elif name in VALUED:
                yield VALUED[name], value
            else:
                yield "idle", f"{name}={value}" if equals else f"{name} {value}"
        elif joined and word not in NO_LIBRARY:
            yield (joined, word[len(joined) :]) if joined in VALUED else ("idle", word)
        elif word in COMPILES or word in NO_PROGRAM or word in ("--version", "-V"):
            yield word, ""
        elif word in DEPENDS:
            yield "depends", word
        elif word not in TALKS and word not in LINKS_DEVICE:
            yield "idle", word


def _flags(values: dict[str, list[str]]) -> tuple[tuple[str, ...], list[str]]:
    """The flags for g++, and those of -Xcompiler that are left out."""
    passed = [f"-I{Path(value).resolve()}" for value in values["-I"]]
    passed += [f"-D{value}" for value in values["-D"]] + [f"-U{value}" for value in values["-U"]]
    idle = []
    words = [one for value in values["-Xcompiler"] for one in shlex.split(value.replace(",", " "))]
    for one in words:
        if one.startswith("-I") and one != "-I":
            passed.append(f"-I{Path(one[2:]).resolve()}")
        elif one.startswith(("-D", "-U", "-include")):
            passed.append(one)
        else:
            idle.append(f"-Xcompiler {one}")
    for value in values["-include"]:
        passed += ["-include", str(Path(value).resolve()) if Path(value).exists() else value]
    standards = [int(named[1]) for value in values["-std"] if (named := STANDARD.fullmatch(value))]
    if standards:
        passed.append(f"-std=c++{max(standards[-1], OLDEST_STANDARD)}")
    if values["-stream"][-1:] == ["per-thread"]:
        passed.append("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1")  # as nvcc does
    return (*passed, *_architecture(values["-arch"])), idle


def _architecture(words: Sequence[str]) -> Iterator[str]:
    """What nvcc defines for the oldest GPU that is named, as it does for sm_90, sm_90a and sm_100f."""
    named = {(int(one), suffix) for word in words for one, suffix in re.findall(r"(?:sm|compute)_(\d+)([af]?)", word)}
    if not named:
        return
    oldest = min(number for number, _ in named)
    yield f"-D__CUDA_ARCH__={10 * oldest}"
    if (oldest, "a") in named:
        yield f"-D__CUDA_ARCH_SPECIFIC__={10 * oldest}"
    if named & {(oldest, "a"), (oldest, "f")}:
        yield f"-D__CUDA_ARCH_FAMILY_SPECIFIC__={10 * oldest}"
    yield from (f"-D__CUDA_ARCH_FEAT_SM{number}_ALL" for number, suffix in sorted(named) if suffix == "a")
