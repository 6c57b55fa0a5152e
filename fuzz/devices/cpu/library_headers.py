"""CuTe's and CUTLASS's headers, which a user has: what becomes of their text.

They are C++ by nature, and large: only inline PTX is replaced, launches, and macros that are directives. Nothing
else in them is looked at, and none of their functions is left out. A statement without a translation refuses when it
runs.
"""

import json
import re
from functools import lru_cache
from pathlib import Path

from kfuzz.common.text.cuda_text import KEPT_TEXTS, blank_non_code
from kfuzz.devices.cpu.dynamic_shared import declare_dynamic_arrays
from kfuzz.devices.cpu.launches import TextEdit, translate_launches
from kfuzz.devices.cpu.ptx.statements import Refused, translate_statements

FOLDERS = frozenset({"cute", "cutlass"})
_DIRECTIVE_IN_MACRO = re.compile(r"^(?P<head>[ \t]*#[ \t]*define[ \t]+\w+)[ \t]+#[^\n]*", re.MULTILINE)
"""A macro that is a directive: nvcc takes `#pragma unroll` there, and a host compiler nothing."""


def is_of_library(path: Path) -> bool:
    """Whether a header belongs to one of the libraries: it lies in a folder of that name."""
    return not FOLDERS.isdisjoint(path.parts[:-1])


@lru_cache(maxsize=100 * KEPT_TEXTS)
def translate_header(text: str, path: Path, with_host: bool = False) -> str:
    """The text of a header for a host compiler; its lines stay where they are."""
    code = blank_non_code(text)
    edits: list[TextEdit] = [*translate_launches(code, text, path, "")] if with_host else []
    edits += declare_dynamic_arrays(code)
    for one in translate_statements(text, code):
        edits.append((one.start, one.end, refuse_when_run(one, text, path) if isinstance(one, Refused) else one.text))
    pieces: list[str] = []
    at = 0
    for start, end, made in sorted(edits):
        pieces += text[at:start], made
        at = end
    pieces.append(text[at:])
    return _DIRECTIVE_IN_MACRO.sub(lambda found: found["head"], "".join(pieces))


def refuse_when_run(one: Refused, text: str, path: Path) -> str:
    """C++ in place of an asm statement without a translation: it ends the run when a thread comes to it."""
    line = text.count("\n", 0, one.start) + 1 + one.line
    words = f"{path.name}:{line}: the cpu device does not have {one.why}, which runs on the GPU alone"
    ends = "\\\n" if "\\\n" in text[one.start : one.end] else "\n"  # of a macro
    newlines = ends * text.count("\n", one.start, one.end)
    return f"::cuda_on_cpu::ptx_refused({json.dumps(words)}){newlines}"
