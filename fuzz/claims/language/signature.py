"""The `__global__` functions of a CUDA source, in the detail that a claim must agree with.

Knows how C++ writes a parameter list; never what a kernel does.
"""

import re
from dataclasses import dataclass

from kfuzz.common.text.cuda_text import blank_non_code, closing_bracket, kernels, split_commas
from kfuzz.common.text.macros import expand_definitions
from kfuzz.oracle.numbers.elements import ELEMENTS, FLOATS

FLOAT_TYPES = tuple(name for element in FLOATS for name in element.c_types)
BYTES = {
    "char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "short": 2, "int16_t": 2, "uint16_t": 2,
    "size_t": 8, "ptrdiff_t": 8, "uint64_t": 8,
} | {name: element.bytes for element in ELEMENTS.values() for name in element.c_types}  # fmt: skip
"""Size of the scalar types that a parameter may have; a type that is not here is left to the compiler."""
INTEGERS = BYTES.keys() - {"bool", *FLOAT_TYPES}

FLOAT = re.compile(rf"(?:{'|'.join(FLOAT_TYPES)})[1-4]?$")
HOST_FUNCTION = re.compile(r"(?<=[\s*&>])(\w+)\s*\(")
BODY = re.compile(r"\s*(?:noexcept\s*)?\{")
GLOBAL = re.compile(r"\b(?:__global__|__device__(?!\s+__host__))\b")
NO_NAMES = frozenset({"if", "constexpr", "for", "while", "switch", "catch", "return", "sizeof"})


@dataclass(frozen=True)
class Parameter:
    """One parameter: its text, whether it is a pointer, the bytes of its scalar if known, and its kind."""

    text: str
    is_pointer: bool
    bytes: int | None
    is_float: bool = False

    @property
    def name(self) -> str:
        """Its name in the function; empty if it has none."""
        named = re.search(r"(?<=[\s*&])(\w+)\s*(?:\[[^\]]*\]\s*)*$", self.text.partition("=")[0])
        return named[1] if named else ""


Parameters = tuple[Parameter, ...]


def entries_of(source: str) -> dict[str, Parameters]:
    """Every `__global__` function of the source, by name."""
    code = blank_non_code(source)
    found: dict[str, Parameters] = {}
    for name, opened in kernels(code):
        inside = code[opened + 1 : closing_bracket(code, opened)]
        found[name] = tuple(parameter(text) for text in split_commas(inside) if text not in ("", "void"))
    return found


def host_functions_of(source: str) -> dict[str, Parameters]:
    """Every function of the source that has a body and is not a kernel, by name; the first of overloads."""
    code = expand_definitions(blank_non_code(source))
    found: dict[str, Parameters] = {}
    for named in HOST_FUNCTION.finditer(code):
        end = closing_bracket(code, named.end() - 1)
        if named[1] in NO_NAMES or not BODY.match(code, end + 1) or GLOBAL.search(head_of(code, named.start(1))):
            continue
        inside = code[named.end() : end]
        parameters = (parameter(text.partition("=")[0].strip()) for text in split_commas(inside))
        found.setdefault(named[1], tuple(one for one in parameters if one.text not in ("", "void")))
    return found


def head_of(code: str, end: int) -> str:
    """The text before a name, back to the previous statement."""
    return code[max(code.rfind(mark, 0, end) for mark in ";{}") + 1 : end]


def parameter(text: str) -> Parameter:
    plain = re.sub(r"\b(__restrict__|__restrict|restrict|volatile)\b", " ", text)
    is_pointer = "*" in plain or "[" in plain
    pointee = plain.split("*")[0]
    words = re.findall(r"\w+", pointee if "*" in plain else pointee.rsplit(None, 1)[0])
    sizes = [
        BYTES[word] for word in (re.sub(r"^(\w+?)[1-4]$", scalar_of_vector, word) for word in words) if word in BYTES
    ]
    size = next((size for size in sizes if size != BYTES["unsigned"]), sizes[0] if sizes else None)
    return Parameter(" ".join(text.split()), is_pointer, size, any(FLOAT.match(word) for word in words))


def scalar_of_vector(found: re.Match[str]) -> str:
    """`float4` is made of `float`; `half2` of `half`; anything else stays unchanged."""
    scalar = {"uint": "unsigned", "longlong": "long", "ulong": "long", "ulonglong": "long"}.get(found[1], found[1])
    return scalar if scalar in BYTES else found[0]
