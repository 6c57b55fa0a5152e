"""Functions that only the host can call: their accesses are not looked at, which halves what a large file compiles.

CUDA lets device code call a function without a word for it only where it is constexpr, or a lambda. The host's use of
device memory is seen by a page fault, and needs no hook. Works on blanked text; in doubt a function is left as it is.
"""

import re
from collections.abc import Iterator

from kfuzz.devices.cpu.launches import UNCHECKED, TextEdit
from kfuzz.devices.cpu.reach import functions

FOR_BOTH = re.compile(r"\b__(?:global|device|host)__\b|\bconstexpr\b|\bconsteval\b|\boperator\b")
FIRST = re.compile(r"(?!(?:template|extern|struct|class|union|enum|namespace|using|typedef|friend)\b)[A-Za-z_]\w*")


def unchecked(code: str) -> Iterator[TextEdit]:
    """An attribute in front of each definition of a function that is the host's alone."""
    for one in functions(code):
        head, brace, _ = code[one.start : one.end].partition("{")
        first = FIRST.match(head)
        if brace and first and first[0] != one.name and not FOR_BOTH.search(head):
            yield one.start, one.start, f"{UNCHECKED} "
