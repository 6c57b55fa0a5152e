"""JSON as people and version control read it: what fits on a line is a line, and short items share lines.

Knows JSON alone; never what a file means.
"""

import json
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

WIDTH = 120
"""Characters of a line that holds several values."""
Encode = Callable[[Any], str]


def write_document(document: Mapping[str, Any], encode: Encode = json.dumps, deepest: int = -1) -> str:
    """An object over several lines; what lies `deepest` deep is one line, however long."""
    return _lay_out(document, encode, deepest, 1, WIDTH) + "\n"


def _lay_out(value: object, encode: Encode, deepest: int, indent: int, used: int) -> str:
    text = encode(value)
    if (
        not isinstance(value, dict | list | tuple) or not value or deepest == 0 or used + len(text) < WIDTH
    ):  # and a comma
        return text
    if isinstance(value, dict):
        items, (first, last) = [(f"{encode(key)}: ", item) for key, item in value.items()], "{}"
    else:
        items, (first, last) = [("", item) for item in value], "[]"
    laid = [name + _lay_out(item, encode, deepest - 1, indent + 1, indent + len(name)) for name, item in items]
    lines: list[str] = []
    for is_short, some in groupby(laid, lambda text: "\n" not in text and (first == "{" or text[0] not in "[{")):
        together = list(some)
        lines += _fill(together, WIDTH - indent) if is_short else together
    start, end = "\n" + " " * indent, "\n" + " " * (indent - 1)
    return f"{first}{start}{f',{start}'.join(lines)}{end}{last}"


def _fill(words: list[str], width: int) -> list[str]:
    """The words, with commas between them, in lines of at most this many characters; a longer word has its own line."""
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 3 <= width:  # ", " before it, and a comma that may follow
            lines[-1] += f", {word}"
        else:
            lines.append(word)
    return lines
