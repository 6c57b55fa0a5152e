"""Refuses what nvcc refuses and g++ would accept: such a program does not exist on a GPU.

Knows only source text; in doubt, it accepts.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from kfuzz.devices import ClaimError
from kfuzz.devices.cpu.host_functions import DEVICE, find_device_words, find_host_calls
from kfuzz.devices.cpu.reach import find_functions

SHARED_WITH_VALUE = re.compile(r"\b__shared__\b[^;{}()=\n]*?(?<![=!<>])=(?!=)")
ASSIGNED = r"(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--"
PLACE = tuple[int, int, str]
"""The number of a text, a place in it, and why nvcc refuses it."""


def check_texts(codes: Sequence[str], paths: Sequence[Path], constants: Sequence[str]) -> None:
    """Raise a ClaimError that names the first place in blanked texts that nvcc refuses."""
    for number, at, why in (*find_shared_values(codes), *find_constant_writes(codes, constants), *find_calls(codes)):
        line = codes[number].count("\n", 0, at) + 1
        raise ClaimError(f"{paths[number]}:{line}: nvcc would refuse this: {why}")


def find_shared_values(codes: Sequence[str]) -> Iterator[PLACE]:
    """Initial values of __shared__ variables."""
    for number, code in enumerate(codes):
        if value := SHARED_WITH_VALUE.search(code):
            yield number, value.start(), "a __shared__ variable cannot have an initial value"


def find_constant_writes(codes: Sequence[str], constants: Sequence[str]) -> Iterator[PLACE]:
    """Assignments in device code to a __constant__ variable, unless its name means something else there.

    nvcc accepts assignments to elements of an array; a run finds those.
    """
    for number, code in enumerate(codes):
        for one in find_functions(code):
            text = code[one.start : one.end]
            head, brace, _ = text.partition("{")
            if not brace or not DEVICE.search(head):
                continue
            for name in one.words & set(constants):
                write = re.search(rf"[;{{}})]\s*(?:{name}\s*(?:{ASSIGNED})|(?:\+\+|--)\s*{name}\s*;)", text)
                if write and not re.search(rf"[\w*&>]\s+[*&]*{name}\b\s*[=;,)({{\[]", text):
                    yield number, one.start + write.end() - 1, f"{name} is __constant__"


def find_calls(codes: Sequence[str]) -> Iterator[PLACE]:
    """Calls of host-only functions in device code."""
    for number, at, name in find_host_calls(codes, find_device_words(codes)):
        yield number, at, f"device code calls {name}(), which is a host function"
