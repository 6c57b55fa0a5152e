"""Reads how PTX declares parameters and variables: `.shared .align 16 .b8 tile[1024]`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from kfuzz.devices.cpu.ptx.asm_text import AsmError

SIZES = {
    **{f"{letter}{bits}": bits // 8 for letter in "bus" for bits in (8, 16, 32, 64)},
    "b128": 16, "f16": 2, "bf16": 2, "f16x2": 4, "bf16x2": 4, "f32": 4, "f64": 8, "pred": 1,
}  # fmt: skip
"""The bytes of a value of each type."""
SPACES = ("param", "local", "shared", "global", "const")
_LINKAGE = r"(?:\.(?:visible|extern|weak|common)\s+)*"
DECLARED = re.compile(rf"{_LINKAGE}\.(?P<space>{'|'.join(SPACES)}|reg)(?:::\w+)?\s(?P<rest>.*)", re.DOTALL)
_WORDS = re.compile(
    r"(?:\.attribute\([^)]*\)\s*|\.ptr\b\s*|\.(?:global|shared|const|local|generic|param)\b\s*|\.v[24]\b\s*"
    r"|\.align\s+(?P<align>\d+)\s*|\.(?P<type>\w+)\s*)"
)
_NAMED = re.compile(r"\s*(?P<name>[\w$%]+)\s*(?P<sizes>(?:\[\s*\w*\s*\]\s*)*)(?:=\s*(?P<initial>.*))?", re.DOTALL)
_VECTORS = {".v2": 2, ".v4": 4}


@dataclass(frozen=True)
class PtxVariable:
    """A parameter or a variable; `count` is None for an array whose size the launch gives.

    `initial` are the values that it begins with. `words`: it is an array or a structure, which is passed in words of
    eight bytes.
    """

    space: str
    name: str
    type: str
    count: int | None
    align: int
    line: int
    initial: tuple[str, ...] = ()
    is_extern: bool = False
    is_array: bool = False

    @property
    def bytes(self) -> int:
        """Its size; 0 if the launch gives it."""
        return SIZES[self.type] * (self.count or 0)


def read_variables(text: str, line: int) -> Iterator[PtxVariable]:
    """The variables of one declaration; AsmError if it is not understood."""
    found = DECLARED.fullmatch(text.strip())
    if not found:
        raise AsmError(f"the declaration {_short(text)}", line)
    kind, align, many, rest = "", 0, 1, found["rest"].strip()
    while word := _WORDS.match(rest):
        many *= next((n for vector, n in _VECTORS.items() if word[0].startswith(vector)), 1)
        align = max(align, int(word["align"] or 0))
        if word["type"]:
            kind = word["type"]
        rest = rest[word.end() :]
    if kind not in SIZES:
        raise AsmError(f"the declaration {_short(text)}", line)
    for one in _split(rest):
        named = _NAMED.fullmatch(one)
        if not named:
            raise AsmError(f"the declaration {_short(text)}", line)
        initial = tuple(re.split(r"[\s,{}]+", named["initial"].strip(" {}\n\t"))) if named["initial"] else ()
        sizes = [size.strip() for size in re.findall(r"\[([^\]]*)\]", named["sizes"])]
        if any(size and not size.isdigit() for size in sizes):
            raise AsmError(f"the declaration {_short(text)}", line)
        inner = prod(int(size) for size in sizes[1:] if size)
        first = int(sizes[0]) if sizes and sizes[0] else len(initial) if sizes else 1
        is_open = bool(sizes) and not sizes[0] and not initial
        yield PtxVariable(
            space=found["space"],
            name=named["name"],
            type=kind,
            count=None if is_open else many * first * inner,
            align=max(align, many * SIZES[kind] if not sizes else SIZES[kind]),
            line=line,
            initial=initial,
            is_extern=".extern" in text[: found.start("rest")],
            is_array=bool(sizes),
        )


def _split(text: str) -> list[str]:
    """The parts between the commas outside of braces."""
    return re.split(r",(?![^{]*\})", text)


def _short(text: str) -> str:
    return " ".join(text.split())[:60]
