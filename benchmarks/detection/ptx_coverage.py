"""Count the inline PTX that the cpu device understands.

    python -m benchmarks.detection measure ptx_coverage FOLDER [--nvcc]

FOLDER holds one checkout for each repository in `REPOSITORIES`, named OWNER+NAME, at the commit in the list. Every asm
statement of their CUDA sources and headers goes through the translator of `kfuzz.devices.cpu.ptx`; nothing is compiled.
With --nvcc, each one that is refused goes through ptxas for every architecture since Hopper, too: what ptxas refuses is
no PTX. Keeps counts and names of instructions, and no text of the repositories.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measurement import Figures
from kfuzz.common.text.cuda_text import blank_non_code, closing_bracket
from kfuzz.devices import nvcc
from kfuzz.devices.cpu.ptx.asm_text import AsmError, TextMacros, read_statement
from kfuzz.devices.cpu.ptx.statements import Translated, translate_statements

SUFFIXES = frozenset({".cu", ".cuh", ".h", ".hpp", ".inl"})
LETTERS = {"r": "unsigned", "l": "unsigned long long", "f": "float", "d": "double", "h": "unsigned short",
           "n": "const int", "q": "unsigned __int128"}  # fmt: skip
ARCHITECTURES = ("sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a")
LEAST_SHOWN = 5
"""Statements of a reason that has a line of its own."""
INSTRUCTION = re.compile(r"the PTX instruction ([\w.:]+)")


@dataclass(frozen=True)
class Counted:
    """A repository at one commit; `before` are the statements and the whole files that FIRST understood, if counted."""

    name: str
    commit: str
    before: tuple[int, int] | None = None


FIRST = "4cf8eee6"
"""The last commit of this project with a table of single instructions."""
CUTLASS = Counted("NVIDIA/cutlass", "7107b05", (187, 13))
REPOSITORIES = (
    CUTLASS,
    Counted("HazyResearch/ThunderKittens", "0b55588", (100, 6)),
    Counted("Dao-AILab/flash-attention", "0251105", (10, 3)),
    Counted("deepseek-ai/DeepGEMM", "54e2261", (38, 2)),
    Counted("deepseek-ai/FlashMLA", "9241ae3", (11, 1)),
    Counted("xlite-dev/LeetCUDA", "cb6a049", (45, 0)),
    Counted("NVIDIA/cuda-samples", "c94ff36", (6, 4)),
    Counted("flashinfer-ai/flashinfer", "fb28d72", (2032, 57)),
    Counted("deepseek-ai/DeepEP", "dd758ca", (64, 5)),
    Counted("NVIDIA/TransformerEngine", "d0067d0", (37, 3)),
)


@dataclass
class Count:
    """What a repository has: statements, those understood, files with asm, and those wholly understood."""

    statements: int = 0
    understood: int = 0
    files: int = 0
    whole: int = 0
    no_ptx: int = 0
    """Statements that are refused here and by ptxas."""
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Count") -> None:
        self.statements += other.statements
        self.understood += other.understood
        self.files += other.files
        self.whole += other.whole
        self.no_ptx += other.no_ptx
        self.reasons += other.reasons


def assembles(statement: str) -> bool:
    """Whether ptxas takes an asm statement for some architecture; yes if macros complete its text."""
    opened = statement.index("(") + 1
    inside = slice(opened, closing_bracket(blank_non_code(statement), opened - 1))
    try:
        read = read_statement(statement[inside], blank_non_code(statement)[inside], TextMacros({}))
    except AsmError:
        return True
    if not all(one.constraint in LETTERS for one in read.operands):
        return False
    variables = [f"{LETTERS[one.constraint]} v{place} = 0;" for place, one in enumerate(read.operands)]
    words: list[list[str]] = [[], []]
    for place, one in enumerate(read.operands):
        sign = "+" if one.is_output and one.is_input else "=" if one.is_output else ""
        words[not one.is_output].append(f'"{sign}{one.constraint}"(v{place})')
    text = f"asm volatile({json.dumps(read.text)} : {', '.join(words[0])} : {', '.join(words[1])});"
    kernel = f"__global__ void k() {{ {' '.join(variables)} {text} }}\n"
    with tempfile.TemporaryDirectory(prefix="kfuzz-ptx-") as place:
        (source := Path(place) / "k.cu").write_text(kernel, encoding="utf-8")
        return any(
            not subprocess.run(
                [nvcc.find_nvcc(), "-w", "-cubin", *nvcc.code_for(one), "-o", f"{place}/k", str(source)],
                capture_output=True, check=False,
            ).returncode
            for one in ARCHITECTURES
        )  # fmt: skip


def count_file(path: Path, with_nvcc: bool) -> Count:
    """The asm statements of one file, without those that are empty."""
    source = path.read_text(encoding="utf-8", errors="replace")
    made = Count()
    if "asm" not in source:
        return made
    for one in translate_statements(source, blank_non_code(source)):
        made.statements += 1
        if isinstance(one, Translated):
            made.understood += 1
        else:
            if with_nvcc and not assembles(source[one.start : one.end]):
                made.no_ptx += 1
                print(f"{path}: {one.why}", file=sys.stderr, flush=True)
                continue
            name = INSTRUCTION.search(one.why)
            made.reasons[".".join(name[1].split(".")[:3]) if name else one.why] += 1
    made.files = int(made.statements > 0)
    made.whole = int(made.files and made.understood == made.statements)
    return made


def count_folder(folder: Path, with_nvcc: bool) -> Count:
    """The asm statements of all CUDA sources and headers of a folder."""
    made = Count()
    for path in sorted(folder.rglob("*")):
        if path.suffix in SUFFIXES and path.is_file():
            made.add(count_file(path, with_nvcc))
    return made


def measure(arguments: Sequence[str]) -> Figures:
    """Count the statements of each repository."""
    folder, reasons, rows, with_nvcc = Path(arguments[0]), Counter[str](), [], "--nvcc" in arguments
    for one in REPOSITORIES:
        made = count_folder(folder / one.name.replace("/", "+"), with_nvcc)
        reasons += made.reasons
        rows.append({
            "name": one.name, "commit": one.commit, "statements": made.statements, "understood": made.understood,
            "no_ptx": made.no_ptx if with_nvcc else None,
            "before": one.before[0] if one.before else None, "files": made.files,
            "whole": made.whole, "whole_before": one.before[1] if one.before else None,
        })  # fmt: skip
    refused = reasons.most_common()
    often = [{"reason": reason, "statements": count} for reason, count in refused if count >= LEAST_SHOWN]
    rest = sum(count for _, count in refused if count < LEAST_SHOWN)
    numbers = {
        "first": FIRST, "least_shown": LEAST_SHOWN, "rest": rest, "largest": CUTLASS.name,
    }  # fmt: skip
    return Figures(numbers, {"repositories": rows, "refused": often})
