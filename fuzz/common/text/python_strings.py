"""Strings of a Python file, each piece with its line, and texts laid out on such lines again.

Knows Python's literals, not their content.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from functools import lru_cache

ESCAPED = re.compile(r"\\(?:N\{[^}]*\}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)|[^\\]", re.DOTALL)
DEVICE_CODE = re.compile(r"\b__(?:global|device)__\b")
Fragment = tuple[int, str]
"""A piece of a text that ends with its line at the latest, and its line in the Python file."""


@lru_cache(maxsize=64)
def tree_of(source: str) -> ast.Module | None:
    """The file's syntax tree; None if it is not Python."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def lay_out(texts: Iterable[tuple[Fragment, ...]], at: int) -> str:
    """The texts by their lines, beginning with line `at`: a piece that is too late for its line takes the next."""
    made: list[str] = []
    for text in sorted((one for one in texts if one), key=lambda one: one[0][0]):
        if made and not made[-1].endswith("\n"):
            made.append("\n")
            at += 1
        begins = True
        for line, piece in text:
            if begins and at < line:
                made.append("\n" * (line - at))
                at = line
            made.append(piece)
            begins = piece.endswith("\n")
            at += begins
    return "".join(made)


def pieces(source: str, node: ast.Constant, value: str) -> list[Fragment]:
    """The pieces of a string by their lines in the file, even if escapes make or hide the ends of lines."""
    segment = ast.get_source_segment(source, node) or ""
    found: list[Fragment] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"({segment})").readline):
            if token.type == tokenize.STRING:
                found += literal_pieces(node.lineno + token.start[0] - 1, token.string)
    except (tokenize.TokenError, SyntaxError, ValueError):
        found = []
    return found if "".join(piece for _, piece in found) == value else pieces_by_line(node.lineno, value)


def literal_pieces(line: int, literal: str) -> Iterator[Fragment]:
    """The pieces of one literal that begins on a line."""
    quote = min(place for mark in "\"'" if (place := literal.find(mark)) >= 0)
    prefix, rest = literal[:quote].lower(), literal[quote:]
    width = 3 if rest[:3] in ('"""', "'''") else 1
    body = rest[width:-width]
    piece, begins = "", line
    for found in re.finditer(r"[\s\S]" if "r" in prefix else ESCAPED, body):
        letter = found[0]
        made = letter if len(letter) == 1 else str(ast.literal_eval(f'"""{letter}"""'))
        line += letter.endswith("\n")
        piece += made
        if made == "\n":
            yield begins, piece
            piece, begins = "", line
    if piece:
        yield begins, piece


def pieces_by_line(line: int, value: str) -> list[Fragment]:
    """The pieces of a string whose lines are lines of the file."""
    return [(line + number, piece) for number, piece in enumerate(value.splitlines(keepends=True))]


@lru_cache(maxsize=64)
def strings_in(source: str) -> dict[str, tuple[Fragment, ...]]:
    """Every string of a Python file that may be code: by its value, with its pieces.

    The value of an f-string contains its expressions as they are written.
    """
    tree = tree_of(source)
    if tree is None:
        return {}
    found: dict[str, tuple[Fragment, ...]] = {}
    inner: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inner |= set(ast.walk(node))
            parts = (one.value if isinstance(one, ast.Constant) else ast.unparse(one) for one in node.values)
            value = "".join(map(str, parts))
            found[value] = tuple(pieces_by_line(node.lineno, value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inner:
            found[node.value] = tuple(pieces(source, node, node.value)) if "(" in node.value else ()
    return {value: text for value, text in found.items() if "(" in value}


def device_code_in(source: str) -> str:
    """All device code in a file's strings, on its lines, as far as it is known before a run."""
    texts = [text for value, text in strings_in(source).items() if DEVICE_CODE.search(value)]
    return lay_out(texts, 1)
