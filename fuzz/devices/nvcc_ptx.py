"""Compiles a kernel file to PTX with nvcc, and finds the symbols of its entries.

Knows nvcc, its messages and PTX's names; it needs neither a GPU nor a driver.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kfuzz.devices import Call, ClaimError, Entry, deduced, nvcc
from kfuzz.devices.host_compiler import run_compiler
from kfuzz.devices.torch_headers import suggest_header

PACK_ARGUMENTS = Path(__file__).with_name("pack_arguments.cu")
INCLUDED = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
POINTER = re.compile(r"^[^\n]*\.global [^\n]*\bkfuzz_entry_(\d+) = ([\w$.]+);\n", re.MULTILINE)
"""The number of an entry and its symbol, in PTX."""
ENTRY_LINE = re.compile(r"^launch entry\((\d+)\):\s*error: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class WrittenPtx:
    """PTX, and the symbol of each entry; "" for one that is no kernel."""

    text: str
    symbols: tuple[str, ...]


@dataclass(frozen=True)
class Compiler:
    """nvcc for one kernel file and architecture, in a folder for its files."""

    path: Path
    flags: tuple[str, ...]
    entries: tuple[Entry, ...]
    architecture: str
    folder: Path

    def write_ptx(self, source: str) -> WrittenPtx:
        """The PTX of the file with this text.

        A pointer to `block_sum<256>` after the source makes the compiler instantiate it, and PTX gives its symbol, so
        kfuzz need not mangle names. The PTX is returned without the pointers: if a kernel's address is taken, the
        assembler makes different code for it, a tenth longer than in the user's own build. `#line` keeps messages and
        line tables to the lines of the kernel file.
        """
        packing = PACK_ARGUMENTS.read_text(encoding="utf-8") + deduced.HELPERS if self._has_calls else ""
        pointers = packing + "".join(
            f'#line {number + 1} "launch entry"\n{_declare_pointer(source, number, entry)}\n'
            for number, entry in enumerate(self.entries)
        )
        text, ptx = self.folder / "kernel.cu", self.folder / "kernel.ptx"
        text.write_text(f'#line 1 "{self.path.name}"\n{source}\n{pointers}', encoding="utf-8")
        self.make(ptx, text)
        written = ptx.read_text(encoding="utf-8")
        symbols = {int(number): symbol for number, symbol in POINTER.findall(written)}
        found = tuple(symbols.get(number, "") for number in range(len(self.entries)))
        return WrittenPtx(POINTER.sub("", written), found)

    @property
    def _has_calls(self) -> bool:
        return any(isinstance(entry, Call) for entry in self.entries)

    def make(self, made: Path, out_of: Path) -> None:
        """Compile a file to another, whose ending says what it is. ClaimError with nvcc's first error."""
        command = [nvcc.find_nvcc(), f"-arch={self.architecture}", "-lineinfo", "-w", f"-I{self.path.parent}"]
        command += self.flags
        command += ["--expt-relaxed-constexpr"] if self._has_calls else []  # a host function may make an argument
        environment = {**os.environ, "TMPDIR": str(self.folder)}  # files of a killed nvcc go with the folder
        words = [*command, f"-{made.suffix[1:]}", "-o", str(made), str(out_of)]
        done = run_compiler(words, environment, self.path)
        if done.returncode or not made.exists():
            raise ClaimError(compiler_words(self.path, self.entries, done.stdout + done.stderr))


def included_texts(path: Path, source: str, flags: tuple[str, ...]) -> Iterator[str]:
    """Names and texts of the files that a kernel includes, directly or not, from beside them or a folder of the flags.

    A file that lies in none of these places belongs to the compiler or the system.
    """
    folders = (path.parent, *(Path(flag.removeprefix("-I")) for flag in flags if flag.startswith("-I")))
    seen: set[Path] = set()
    waiting = [(path, source)]
    while waiting:
        including, text = waiting.pop()
        for name in INCLUDED.findall(text):
            places = (folder / name for folder in (including.parent, *folders))
            file = next((place for place in places if place.is_file()), None)
            if file is not None and file not in seen:
                seen.add(file)
                text_of_file = file.read_text(encoding="utf-8", errors="replace")
                yield str(file)
                yield text_of_file
                waiting.append((file, text_of_file))


def compiler_words(path: Path, entries: tuple[Entry, ...], words: str) -> str:
    """The compiler's first error with its line in the kernel file, or the launch that does not name a kernel."""
    named = re.escape(path.name)
    shown = re.search(rf"^{named}(?:\((\d+)\)|:(\d+):\d+):.*?error[^:]*: (.*)$", words, re.MULTILINE)
    if shown:
        return f"{path}:{shown[1] or shown[2]}: nvcc: {shown[3]}{suggest_header(shown[3])}"
    if missing := ENTRY_LINE.search(words):
        return f"{path}: entry = {str(entries[int(missing[1]) - 1])!r}: nvcc: {missing[2]}"
    lines = [line for line in words.splitlines() if "error" in line or "fatal" in line] or words.splitlines()
    return f"{path}: nvcc: {lines[0].strip() if lines else 'failed and said nothing'}"


def _declare_pointer(source: str, number: int, entry: Entry) -> str:
    """A pointer that gives the entry's symbol and, if C++ makes its arguments, a function that makes them."""
    if isinstance(entry, str):
        return f"__device__ void *{_pointer_name(number)} = (void *)({entry});"
    before, kernel = "", entry.function
    if isinstance(entry, Call) and deduced.is_deduced(source, entry):
        text, kind = deduced.declare_kernel(source, number, entry)
        found = f"KfuzzResult<decltype(kfuzz_kind_{number})>::type"
        before = f"{text} __device__ auto kfuzz_kind_{number}({', '.join(entry.declared)}) -> {kind}; "
        kernel = f"{found}::value"
    parameters = ", ".join(("char *kfuzz_to", *entry.declared))
    arguments = ", ".join((kernel, "kfuzz_to", *entry.arguments))
    return (
        f"{before}__device__ void *{_pointer_name(number)} = (void *)({kernel}); "
        f'extern "C" __global__ void {pack_name(number)}({parameters}) {{ kfuzz_pack({arguments}); }}'
    )


def _pointer_name(number: int) -> str:
    return f"kfuzz_entry_{number}"


def pack_name(number: int) -> str:
    """The kernel that writes the arguments of an entry to memory, as a launch passes them."""
    return f"kfuzz_pack_{number}"
