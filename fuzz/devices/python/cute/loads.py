"""Loads in the PTX of CuTe DSL that LLVM has widened: what is loaded and never used is not loaded here.

LLVM loads 12 bytes at an aligned address as 16, since those are in one sector and cannot fault. An array of 12 bytes is
no longer than that, and the kernel reads nothing past it.
"""

import re
from collections.abc import Iterator

FUNCTION = re.compile(r"^(?=(?:\.(?:visible|weak)\s+)?\.(?:entry|func)\b)", re.MULTILINE)
VECTOR = re.compile(
    r"(?P<before>(?:@!?\S+\s+)?\bld\.global(?:\.nc)?)\.v(?:2|4)(?P<type>\.[a-z](?P<bits>\d+))\s*"
    r"\{(?P<to>[^}]*)\},\s*\[(?P<base>[^\]+]+)(?:\+(?P<offset>\d+))?\];"
)
REGISTER = re.compile(r"%\w+")


def narrow_loads(text: str) -> str:
    """The module without the last parts of vector loads that nothing uses."""
    return "".join(map(_narrow_in, FUNCTION.split(text)))


def _narrow_in(function: str) -> str:
    counts: dict[str, int] = {}
    for name in REGISTER.findall(function):
        counts[name] = counts.get(name, 0) + 1

    def narrow(found: re.Match[str]) -> str:
        registers = REGISTER.findall(found["to"])
        used = [place for place, name in enumerate(registers) if counts[name] > 1]
        kept = registers[: used[-1] + 1] if used else registers
        return found[0] if len(kept) == len(registers) else " ".join(_loads(found, kept))

    return VECTOR.sub(narrow, function)


def _loads(found: re.Match[str], registers: list[str]) -> Iterator[str]:
    """Loads of these, two at a time."""
    for place in range(0, len(registers), 2):
        pair = registers[place : place + 2]
        at = int(found["offset"] or 0) + place * int(found["bits"]) // 8
        to, width = (f"{{{', '.join(pair)}}}", ".v2") if len(pair) > 1 else (pair[0], "")
        yield f"{found['before']}{width}{found['type']} {to}, [{found['base']}+{at}];"
