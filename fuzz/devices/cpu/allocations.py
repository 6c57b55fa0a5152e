"""Names what the author's code allocates: the variable, the type of its elements and the function, from the text.

Knows how C++ writes an allocation and a declaration. A text that leaves a choice names nothing.
"""

import re
from dataclasses import dataclass

from kfuzz.oracle.numbers.plural import plural

SIZES = {
    "char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "short": 2, "half": 2, "__half": 2, "__nv_bfloat16": 2,
    "int16_t": 2, "uint16_t": 2, "int": 4, "unsigned": 4, "float": 4, "int32_t": 4, "uint32_t": 4, "double": 8,
    "int64_t": 8, "uint64_t": 8, "size_t": 8, "float2": 8, "int2": 8, "float4": 16, "int4": 16, "double2": 16,
}  # fmt: skip
"""The types of elements whose size is the same everywhere, by the name that one writes."""
_TYPE = "|".join(sorted(SIZES, key=len, reverse=True))
_ALLOCATION = re.compile(
    r"\b(?P<function>cudaMalloc\w*|cudaHostAlloc)\s*\(\s*(?:\(\s*void\s*\*\*\s*\)\s*)?&?\s*(?P<to>[\w.>\[\]-]+)"
    r"(?P<rest>[^;]*)|"
    r"\b(?P<made>\w+)\s*=\s*(?P<maker>(?:torch|at)\s*::\s*(?:empty|zeros|ones|full)\w*)\s*\("
)
_SIZE_OF = re.compile(rf"\bsizeof\s*\(?\s*(?:unsigned\s+(?=int\b))?({_TYPE})\b(?!\s*\*)")


@dataclass(frozen=True)
class Allocation:
    """One allocation, as its line writes it. `element` is empty if the text does not say it."""

    name: str
    function: str
    element: str = ""

    def holds_whole(self, count: int) -> bool:
        """Whether so many bytes are a number of its elements."""
        return bool(self.element) and count % SIZES[self.element] == 0

    def describe(self, count: int) -> str:
        """So many bytes of it in words: `1000 floats`."""
        if not self.holds_whole(count):
            return plural(count, "byte")
        number = count // SIZES[self.element]
        return f"{number} {self.element}" if self.element[-1].isdigit() or number == 1 else f"{number} {self.element}s"


def find_allocation(text: str, line: int, place: int, count: int) -> Allocation | None:
    """Of `count` arrays that a line of a text allocated, the one at `place`. None if the line may mean another."""
    lines = text.split("\n")
    written = lines[line - 1] if 0 < line <= len(lines) else ""
    ways = list(_ALLOCATION.finditer(written.replace(";", ";\n")))
    if not ways or count % len(ways):  # a branch was not taken
        return None
    found = ways[place % len(ways)]
    name, rest = found["to"] or found["made"], found["rest"] or ""
    sized = set(_SIZE_OF.findall(rest))
    # What stands before the name ends with its comma: so there is one way to match a long list of parameters, not 2^n.
    declared = re.findall(
        rf"\b({_TYPE})\s*\*+\s*(?:const\s+)?(?:[\w\s*]+,)*[\s*]*{re.escape(name)}\b", "\n".join(lines[:line])
    )
    element = sized.pop() if len(sized) == 1 else declared[-1] if declared and not sized else ""
    return Allocation(name, (found["function"] or found["maker"]).replace(" ", ""), element)
