"""The functions that macros of a CUDA text define: `FORWARD(run, float)` is its body with these words put in.

Knows one level: a macro that calls another macro keeps that call.
"""

import re

from kfuzz.common.text.cuda_text import closing_bracket, split_commas

DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?:(\w+)\(([^)]*)\))?((?:\\\n|[^\n])*)", re.MULTILINE)


def expand_definitions(code: str) -> str:
    """The code without its `#define` lines, and with each call of a macro that has a body in braces written out.

    `code` has no comments and no strings. Its lines move.
    """
    macros = {name: (split_commas(words), body) for name, words, body in DEFINE.findall(code) if name and "{" in body}
    code = DEFINE.sub("", code)
    for name, (words, text) in macros.items():
        body = re.sub(r"\s*##\s*", "##", text.replace("\\\n", "\n"))
        parts: list[str] = []
        last = 0
        for call in re.finditer(rf"\b{name}\s*\(", code):
            end = closing_bracket(code, call.end() - 1)
            given = dict(zip(words, (one.strip() for one in split_commas(code[call.end() : end])), strict=False))
            words_and_rest = (given.get(part, part) for part in re.split(r"(\w+)", body))
            parts += [code[last : call.start()], "".join(words_and_rest).replace("##", "")]
            last = end + 1
        code = "".join([*parts, code[last:]])
    return code
