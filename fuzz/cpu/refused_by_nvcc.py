"""What nvcc refuses and g++ would take: told as what it is, since nothing can be said of a program that there is not.

Knows source text alone; in doubt it says nothing.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from kfuzz.cpu.host_functions import DEVICE, find_device_words, find_host_calls
from kfuzz.cpu.reach import find_functions
from kfuzz.devices import ClaimError

SHARED_WITH_VALUE = re.compile(r"\b__shared__\b[^;{}()=\n]*?(?<![=!<>])=(?!=)")
ASSIGNED = r"(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--"
PLACE = tuple[int, int, str]
"""The number of a text, a place in it, and what is refused there."""


def check_texts(codes: Sequence[str], paths: Sequence[Path], constants: Sequence[str]) -> None:
    """Raise a ClaimError that names the first such place in blanked texts."""
    for number, at, why in (*find_shared_values(codes), *find_constant_writes(codes, constants), *find_calls(codes)):
        line = codes[number].count("\n", 0, at) + 1
        raise ClaimError(f"{paths[number]}:{line}: nvcc would refuse this: {why}")


def find_shared_values(codes: Sequence[str]) -> Iterator[PLACE]:
    for number, code in enumerate(codes):
        if found := SHARED_WITH_VALUE.search(code):
            yield number, found.start(), "a __shared__ variable has no initial value"


def find_constant_writes(codes: Sequence[str], constants: Sequence[str]) -> Iterator[PLACE]:
    """Assignments by a kernel to a __constant__ variable, where its name means nothing else there; nvcc takes those to
    elements of an array, which a run finds.
    """
    for number, code in enumerate(codes):
        for one in find_functions(code):
            text = code[one.start : one.end]
            head, brace, _ = text.partition("{")
            if not brace or not DEVICE.search(head):
                continue
            for name in one.words & set(constants):
                written = re.search(rf"[;{{}})]\s*(?:{name}\s*(?:{ASSIGNED})|(?:\+\+|--)\s*{name}\s*;)", text)
                if written and not re.search(rf"[\w*&>]\s+[*&]*{name}\b\s*[=;,)({{\[]", text):
                    yield number, one.start + written.end() - 1, f"{name} is __constant__"


def find_calls(codes: Sequence[str]) -> Iterator[PLACE]:
    """Calls by a kernel of what is the host's alone."""
    for number, at, name in find_host_calls(codes, find_device_words(codes)):
        yield number, at, f"device code calls {name}(), which is a function of the host"
