"""Gives __LINE__ and __FILE__ the author's values: in a unit one number stands for a file and a line in it (unit.py).

Works on blanked text. Knows macros only as far as this needs: text that is pasted or made a string must stay as it is.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from kfuzz.devices.cpu.launches import TextEdit
from kfuzz.devices.cpu.reach import find_macros

LINES_A_FILE = 1_000_000
"""The lines of header number 3 begin at 3,000,001."""
_WORD = re.compile(r"(?<!#)(?<!# )\b__(?P<name>LINE|FILE)__\b(?!\s*##)")
_CALL = re.compile(r"(?P<name>\w+)\s*\($")


def find_makers(codes: Sequence[str]) -> frozenset[str]:
    """The macros that paste their arguments or make strings of them, directly or by another macro."""
    bodies = {one.name: (one.words, code[one.start : one.end]) for code in codes for one in find_macros(code)}
    names = {name for name, (_, text) in bodies.items() if "#" in text.lstrip()[1:]}
    while more := {name for name, (words, _) in bodies.items() if name not in names and words - {name} & names}:
        names |= more
    return frozenset(names)


def replace_line_words(code: str, path: Path, makers: frozenset[str]) -> Iterator[TextEdit]:
    """Edits that give the author's line and file; in a macro, those of the place where it is used."""
    macros = list(find_macros(code))
    for word in _WORD.finditer(code):
        macro = next((one for one in macros if one.start <= word.start() < one.end), None)
        if macro is None and not _is_in_directive(code, word.start()):
            line = code.count("\n", 0, word.start()) + 1
            yield *word.span(), str(line) if word["name"] == "LINE" else json.dumps(str(path), ensure_ascii=False)
        elif macro and word["name"] == "LINE" and not makers & set(_find_callers(code[macro.start : word.start()])):
            yield *word.span(), f"(__LINE__%{LINES_A_FILE})"


def _is_in_directive(code: str, at: int) -> bool:
    return code[code.rfind("\n", 0, at) + 1 : at].lstrip().startswith("#")


def _find_callers(text: str) -> Iterator[str]:
    """The names before the brackets that are open at the end of a text."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth < 0:
            depth = 0
            if called := _CALL.search(text, 0, at + 1):
                yield called["name"]
