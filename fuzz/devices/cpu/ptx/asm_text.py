"""Reads asm statements in CUDA C++: the PTX text with the line of each character, and the operands.

Knows how people write such statements, but no PTX.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

STATEMENT = re.compile(r"\b(?:asm|__asm__|__asm)\b\s*(?P<words>(?:(?:volatile|__volatile__|goto|inline)\b\s*)*)\(")
_PIECE = re.compile(
    r'(?P<space>\s+|\\\n|//[^\n]*|/\*.*?\*/)|R"(?P<mark>[^()\\\s]{0,16})\((?P<raw>.*?)\)(?P=mark)"|'
    r'"(?P<text>(?:\\.|[^"\\])*)"|(?P<macro>[A-Za-z_]\w*)',
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)", re.DOTALL)
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "\n": ""}
_OPERAND = re.compile(r'\s*(?:\[\s*\w+\s*\])?\s*"([^"]*)"\s*\(')
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
TEXT_MACRO = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+((?:"(?:\\.|[^"\\\n])*"[ \t]*)+)$', re.MULTILINE)
"""A macro that is a string: part of an asm statement's text."""
_CALLED_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([\w, \t]+)\)", re.MULTILINE)
_CALL = re.compile(r"\b(\w+)[ \t]*\(([^()\n;]+)\)")
_LITERAL = re.compile(r'"(?:\\.|[^"\\])*"')
_DEEPEST = 3


class AsmError(ValueError):
    """Why an asm statement cannot be translated; `line` counts from the statement's first line."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(why)
        self.line = line


class SeveralTextsError(AsmError):
    """A macro or a macro's parameter in the text of an asm statement may have several meanings."""

    def __init__(self, macro: str, line: int) -> None:
        super().__init__(f"a text that the macro {macro} completes", line)
        self.macro = macro


@dataclass(frozen=True)
class AsmOperand:
    """A C++ expression that the PTX text calls by its number; `constraint` is the letter, such as r for 32 bits."""

    constraint: str
    expression: str
    is_output: bool
    is_input: bool


@dataclass(frozen=True)
class AsmStatement:
    """The text, the line of each of its characters from the statement's first line on, and the operands."""

    text: str
    lines: tuple[int, ...]
    operands: tuple[AsmOperand, ...]


@dataclass(frozen=True)
class TextMacros:
    """The strings that macros, and parameters of macros, may stand for; other files may give `parameters` others."""

    texts: Mapping[str, tuple[str, ...]]
    parameters: frozenset[str] = frozenset()

    def choose(self, name: str, text: str) -> "TextMacros":
        return TextMacros({**self.texts, name: (text,)}, self.parameters - {name})


def find_text_macros(source: str) -> TextMacros:
    """The macros of a source that are strings, and the parameters of macros that are, with their meanings."""
    found: dict[str, dict[str, None]] = {}
    for one in TEXT_MACRO.finditer(source):
        found.setdefault(one[1], {})[one[2]] = None
    macros = {one[1]: [word.strip() for word in one[2].split(",")] for one in _CALLED_MACRO.finditer(source)}
    parameters = {word for words in macros.values() for word in words} if "asm" in source else set()
    pairs = [pair for name, values in _calls(source, macros) for pair in zip(macros[name], values, strict=False)]
    for _ in range(_DEEPEST if parameters else 0):  # a macro may pass its own parameter on
        for name, value in pairs:
            texts = (value,) if _LITERAL.fullmatch(value) else found.get(value, ())
            if texts:
                found.setdefault(name, {}).update(dict.fromkeys(texts))
    return TextMacros({name: tuple(texts) for name, texts in found.items()}, frozenset(parameters & found.keys()))


def _calls(source: str, macros: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """The uses of macros that are given a string or a name, with what each parameter gets."""
    for match in _CALL.finditer(source) if macros else ():
        if match[1] in macros:
            yield match[1], [one.strip() for one in match[2].replace("\\\n", " ").split(",")]


def read_statement(source: str, code: str, macros: TextMacros) -> AsmStatement:
    """The asm statement whose inside, from bracket to bracket, is `source`; `code` is the same, blanked."""
    sections = list(_sections(code))
    text: list[str] = []
    lines: list[int] = []
    start, end = sections[0]
    for char, line in _characters(source[start:end], macros):
        text.append(char)
        lines.append(line)
    operands = [
        one
        for number, (start, end) in enumerate(sections[1:3])
        for one in _operands(source[start:end], code[start:end], number == 0)
    ]
    return AsmStatement("".join(text), tuple(lines), tuple(operands))


def _sections(code: str) -> Iterator[tuple[int, int]]:
    """What lies between the colons outside of all brackets."""
    depth = start = 0
    for at, char in enumerate(code):
        depth += (char in "([{") - (char in ")]}")
        if char == ":" and depth == 0:
            yield start, at
            start = at + 1
    yield start, len(code)


def _characters(source: str, macros: TextMacros) -> Iterator[tuple[str, int]]:
    """The characters of adjacent string literals, each with its line."""
    at = line = 0
    while at < len(source):
        piece = _PIECE.match(source, at)
        if piece is None:
            raise AsmError(f"a text with {source[at]!r} in it", line)
        if piece["macro"]:
            literals = macros.texts.get(piece["macro"], ())
            if len(literals) > 1 or (literals and piece["macro"] in macros.parameters):
                raise SeveralTextsError(piece["macro"], line)
            if not literals:
                raise AsmError(f"a text that the macro {piece['macro']} completes", line)
            yield from ((char, line) for char, _ in _characters(literals[0], TextMacros({})))
        elif piece["raw"] is not None:
            for char in piece["raw"]:
                yield char, line
                line += char == "\n"
        elif piece["text"] is not None:
            yield from _unescape(piece["text"], line)
        if piece["raw"] is None:
            line += piece[0].count("\n")
        at = piece.end()


def _unescape(text: str, line: int) -> Iterator[tuple[str, int]]:
    at = 0
    for escape in _ESCAPE.finditer(text):
        yield from ((char, line) for char in text[at : escape.start()])
        word = escape[1]
        line += word == "\n"
        number = int(word[1:], 16) if word[0] == "x" and len(word) > 1 else int(word, 8) if word.isdigit() else None
        yield from ((char, line) for char in (chr(number) if number is not None else _NAMED.get(word, word)))
        at = escape.end()
    yield from ((char, line) for char in text[at:])


def _operands(source: str, code: str, are_outputs: bool) -> Iterator[AsmOperand]:
    at = 0
    while source[at:].strip(", \t\r\n\\"):
        rest = _COMMENT.sub(lambda found: " " * len(found[0]), source[at:])
        match = _OPERAND.match(rest.replace("\\\n", "  "))
        end = match and closing(code, at + match.end() - 1)
        if not match or not end:
            if rest.strip(", \t\r\n\\"):
                raise AsmError(f"an operand written as {' '.join(rest.split())[:40]}")
            return
        letters = match[1].replace("&", "").replace("%", "").strip()
        expression = _COMMENT.sub(" ", source[at + match.end() : end - 1]).replace("\\\n", " ")
        yield AsmOperand(
            letters.lstrip("=+"), " ".join(expression.split()), are_outputs, not are_outputs or letters.startswith("+")
        )
        at = end
        while at < len(source) and (source[at] in ", \t\r\n\\"):
            at += 1


def closing(code: str, start: int, pair: str = "()") -> int:
    """The place after the bracket that closes the one at `start` in blanked code; 0 if there is none."""
    depth = 0
    for at in range(start, len(code)):
        depth += (code[at] == pair[0]) - (code[at] == pair[1])
        if depth == 0:
            return at + 1
    return 0
