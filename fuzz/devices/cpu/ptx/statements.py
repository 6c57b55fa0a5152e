"""Replaces the asm statements of a source by C++, or says why one cannot run here.

Where the preprocessor chooses between parts of a statement, each choice is translated.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from kfuzz.common.text.cuda_text import blank_non_code
from kfuzz.devices.cpu.ptx import asm_text
from kfuzz.devices.cpu.ptx.blocks import write_statement
from kfuzz.devices.cpu.ptx.words import C

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b(?:\\\n|[^\n])*\n?", re.MULTILINE)


@dataclass(frozen=True)
class Translated:
    """The place of an asm statement, and the C++ that takes its place, with as many lines."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Refused:
    """The place of an asm statement, and the first thing in it that has no translation."""

    start: int
    end: int
    why: str
    line: int
    """Counted from the line of the statement."""


def translate_statements(
    source: str, code: str, macros: asm_text.TextMacros | None = None
) -> Iterator[Translated | Refused]:
    """What becomes of each asm statement of a source; `code` is blanked, `macros` are macros that are strings."""
    known = asm_text.find_text_macros(source) if macros is None else macros
    for statement in asm_text.STATEMENT.finditer(code):
        end = asm_text.closing(code, statement.end() - 1)
        if not end:
            continue
        inside = slice(statement.end(), end - 1)
        before = source.count("\n", statement.start(), statement.end())
        try:
            if "goto" in statement["words"]:
                raise asm_text.AsmError("asm goto")
            made = "\n" * before + _translate(source[inside], code[inside], known)
        except asm_text.AsmError as error:
            yield Refused(statement.start(), end, str(error), before + error.line)
            continue
        wanted = source.count("\n", statement.start(), end)
        newline = "\\\n" if "\\\n" in source[statement.start() : end] else "\n"
        if newline != "\n":
            made = re.sub(r"(?<!\\)\n", r"\\\n", made)
        yield Translated(statement.start(), end, made + newline * (wanted - made.count("\n")))


def _translate(source: str, code: str, macros: asm_text.TextMacros) -> str:
    """The C++ for the inside of a statement."""
    if not (choice := _choice(code)):
        try:
            return write_statement(asm_text.read_statement(source, code, macros))
        except asm_text.SeveralTextsError as error:
            return _choose_text(source, code, macros, error.macro)
    made = []
    for directive, start, end in choice.branches:
        one = choice.without_others(source, start, end)
        text = _translate(one, blank_non_code(one), macros)
        made.append((directive, text))
    if len({"".join(text.split()) for _, text in made}) == 1 and choice.is_whole:
        return made[0][1]
    # The line numbers of a branch are its own: the directives move, the lines of the file stay.
    pieces = [f"\n{source[directive].strip()}\n{' '.join(text.split())}" for directive, text in made]
    if not choice.is_whole:
        rest = choice.without_others(source, 0, 0)
        pieces.append(f"\n#else\n{' '.join(_translate(rest, blank_non_code(rest), macros).split())}")
    joined = "".join((*pieces, "\n#endif\n"))
    if joined.count("\n") > source.count("\n"):
        raise asm_text.AsmError("a choice of the preprocessor on fewer lines than its translation")
    return joined


def _choose_text(source: str, code: str, macros: asm_text.TextMacros, macro: str) -> str:
    """The C++ for each meaning of a macro in the text; the compiler compares them with the one that it has."""
    made = "({ "
    for text in macros.texts[macro]:
        one = " ".join(_translate(source, code, macros.choose(macro, text)).split())
        made += f"if constexpr ({C}ptx_is_text({macro}, {text})) {one}; else "
    return f'{made}{C}ptx_refused("an asm statement with another text in {macro}"); }})'


@dataclass(frozen=True)
class _Choice:
    """The first `#if` of a statement with its branches: the directive, and where the branch begins and ends."""

    start: int
    end: int
    branches: tuple[tuple[slice, int, int], ...]
    is_whole: bool
    """Whether there is an `#else`."""

    def without_others(self, source: str, start: int, end: int) -> str:
        """The statement with one branch, and lines in place of the others."""
        lines = re.sub(r"[^\n]", "", source[self.start : start] if end else source[self.start : self.end])
        after = re.sub(r"[^\n]", "", source[end : self.end]) if end else ""
        return source[: self.start] + lines + source[start:end] + after + source[self.end :]


def _choice(code: str) -> _Choice | None:
    depth = 0
    marks: list[re.Match[str]] = []
    for found in _DIRECTIVE.finditer(code):
        opens, closes = found[1].startswith("if"), found[1] == "endif"
        if depth == int(not opens):
            marks.append(found)
        depth += opens - closes
        if depth == 0:
            branches = tuple((slice(*one.span()), one.end(), other.start()) for one, other in pairwise(marks))
            is_whole = any(one[1] == "else" for one in marks)
            return _Choice(marks[0].start(), found.end(), branches, is_whole)
    return None
