"""Arrays of dynamic shared memory: g++ knows the address that the running block has."""

import re
from collections.abc import Iterator

from kfuzz.devices.cpu.launches import TextEdit

ALIGNMENT = r"(?:(?:__align__|alignas|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)\s*)"
DYNAMIC_SHARED = re.compile(
    rf"\b(?:extern\s+(?:{ALIGNMENT}|volatile\s+)*(?P<before>[^;\[\]{{}}()]*?)\b__shared__|__shared__\s+extern)"
    rf"\s+(?P<type>[^;\[\]{{}}]*?)\b(?P<name>\w+)\s*\[\s*\]"
    rf"(?P<inner>(?:\s*\[[^\[\];]+\])*)\s*{ALIGNMENT}*;"
)


def declare_dynamic_arrays(code: str) -> Iterator[TextEdit]:
    """Edits that declare each array as a reference, with as many lines."""
    for match in DYNAMIC_SHARED.finditer(code):
        lines = "\n" * match[0].count("\n")
        yield *match.span(), f"{_declare(match)};{lines}"


def _declare(match: re.Match[str]) -> str:
    """Declare a reference to the dynamic array of the running block, whose address changes with the block.

    It is static, since each file may have an array of that name and another type.
    """
    kind = " ".join(re.sub(ALIGNMENT, " ", f"{match['before'] or ''} {match['type']}").split())
    volatile = "volatile " if re.search(r"\bvolatile\b", match[0]) and "volatile" not in kind else ""
    inner = " ".join(match["inner"].split())
    pointer = f"{volatile}{kind} (*const &{{}}){inner}" if inner else f"{volatile}{kind} *const &{{}}"
    place = f"reinterpret_cast<{pointer.format('')}>(::cuda_on_cpu_dynamic_shared)"
    return f"static {pointer.format(match['name'])} = {place}"
