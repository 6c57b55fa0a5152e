"""A '{' that is never closed, as in a file that was cut off. Knows brackets and the preprocessor's lines; no C++."""

import re

from kfuzz.common.text.cuda_text import DIRECTIVE, blank_non_code

CONDITION = re.compile(r"\s*#\s*(if|el|endif)")


def find_unclosed(source: str) -> int | None:
    """The line of the last '{' that is not closed; None if there is none, or if only the preprocessor knows."""
    code = blank_non_code(source)
    if any("{" in one or "}" in one for one in DIRECTIVE.findall(code)):
        return None
    opened, depths = list[int](), list[int]()
    for number, line in enumerate(code.split("\n"), 1):
        if word := CONDITION.match(line):
            if word[1] == "if":
                depths.append(len(opened))
            elif not depths or len(opened) != depths[-1]:
                return None
            elif word[1] == "endif":
                depths.pop()
        for sign in line:
            if sign == "{":
                opened.append(number)
            elif sign == "}":
                if not opened:
                    return None
                opened.pop()
    return opened[-1] if opened else None


def unclosed_words(where: str, source: str) -> str:
    """A line that says so; empty if nothing is unclosed."""
    line = find_unclosed(source)
    return f"{where}:{line}: this {{ is never closed: is the end of the file missing?\n" if line else ""
