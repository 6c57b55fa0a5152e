"""The line of a reference's file that runs, and the text of its expression. Knows frames; it knows no torch."""

import sys
from itertools import islice


def line_of(file: str) -> tuple[str, str]:
    """The file's name with the line that runs, and the text of the expression there, if it is on one line."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back  # type: ignore[assignment]  # None ends the loop
    name = file.rpartition("/")[2]
    if frame is None:
        return name or "?", ""
    places = islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
    return f"{name}:{frame.f_lineno}", text_at(file, *next(places))


def text_at(file: str, line: int | None, last: int | None, start: int | None, end: int | None) -> str:
    """The text between two places of a file, if it is on one line."""
    if line is None or line != last:
        return ""
    try:
        with open(file, encoding="utf-8") as lines:
            return next(islice(lines, line - 1, line), "").encode()[start:end].decode(errors="replace")
    except OSError:  # a text that is in no file
        return ""
