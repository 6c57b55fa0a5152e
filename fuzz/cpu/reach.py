"""Finds the parts of a kernel file that its entries do not reach: they may use features that the cpu device lacks.

Knows how C++ text divides into definitions, but not what they mean. Works on blanked text (cuda_text.blank_non_code).
In doubt, it keeps a definition: every name anywhere in a definition that is in use counts as used.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kfuzz.sources.cuda_text import ATTRIBUTES, DIRECTIVE, spaces

WORD = re.compile(r"(?<!\w)(?<!\d\.)[A-Za-z_]\w*")
"""A word that is not the suffix of a number."""
MACRO = re.compile(r"\s*#\s*define\s+(\w+)")
INCLUDE = re.compile(r"^[ \t]*#\s*include\b[^\n]*", re.MULTILINE)
TYPE = re.compile(r"\s*(?:struct|class|union)\s+(\w+)\s*(?:final\s*)?(?:<.*>\s*)?(?::[^:].*)?", re.DOTALL)
WITH_BRACKETS = re.compile(rf"\b(?:{'|'.join(ATTRIBUTES)})\s*(?=\()")
ENTERED = re.compile(r"(?:inline\s+)?namespace\b[\w\s:]*|extern")
"""Before the braces of a namespace, or of extern "C" without its blanked string: their definitions count one by one."""
TEMPLATE = re.compile(r"\btemplate\s*(?=<)")
ENDS_OR_OPENS = re.compile(r"[{(\[;}]")
NEXT_BRACE = re.compile(r"\s*(?:,[^;{}]*)?\{")
NO_FUNCTIONS = frozenset({"operator", "sizeof", "alignof", "static_assert", "typedef", "using", "friend", "requires"})
CLOSES = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Definition:
    """A part of the text that is needed only if its name is used, and the words in it."""

    name: str
    start: int
    end: int
    words: frozenset[str]
    is_macro: bool = False


def find_unreached(code: str, entries: Iterable[str]) -> list[Definition]:
    """The functions, classes and macros of blanked code that no entry needs."""
    waiting = [*find_macros(code), *find_functions(code)]
    outside = INCLUDE.sub("", blank_out(code, waiting))
    used = set(WORD.findall(outside)).union(*(WORD.findall(entry) for entry in entries))
    while grown := [one for one in waiting if one.name in used]:
        names = {one.name for one in grown}
        used = used.union(*(one.words for one in grown))
        waiting = [one for one in waiting if one.name not in names]
    return waiting


def blank_out(text: str, parts: Iterable[Definition]) -> str:
    """The text with spaces in place of these parts, with the same length and lines."""
    for one in parts:
        text = text[: one.start] + re.sub(r"[^\n]", " ", text[one.start : one.end]) + text[one.end :]
    return text


def find_macros(code: str) -> Iterator[Definition]:
    """Every #define, with its body."""
    for line in DIRECTIVE.finditer(code):
        if named := MACRO.match(line[0]):
            yield Definition(named[1], *line.span(), frozenset(WORD.findall(line[0])), is_macro=True)


def find_functions(code: str) -> Iterator[Definition]:
    """Every definition, declaration and instantiation of a function or class."""
    text = DIRECTIVE.sub(spaces, code)
    pairs = match_brackets(text)
    if pairs is None:
        return
    kept = {one.name for one in find_macros(code)}
    for start, end, name in split_statements(text, pairs):
        if name and name not in kept:
            first = start + len(text[start:end]) - len(text[start:end].lstrip())
            yield Definition(name, first, end, frozenset(WORD.findall(text[first:end])))


def split_statements(text: str, pairs: dict[int, int]) -> Iterator[tuple[int, int, str]]:
    """Start and end of each statement outside functions, and the name of its function or class."""
    start = at = 0
    while mark := ENDS_OR_OPENS.search(text, at):
        at = mark.start()
        letter, head = text[at], text[start:at]
        if letter == "{" and ENTERED.fullmatch(head.strip()):
            start = at = at + 1
        elif letter == "{":
            at = find_body_end(text, at, pairs)
            if name := name_of(head):
                yield start, at, name
                start = at
        elif letter in "([":
            at = pairs[at] + 1
        else:
            at += 1
            if letter == ";":
                yield start, at, type_of(head) or (name_of(head) if "{" not in head else "")
            start = at


def find_body_end(text: str, opened: int, pairs: dict[int, int]) -> int:
    """The end of the body that begins here, after members that a constructor initialises with braces."""
    end = pairs[opened] + 1
    while more := NEXT_BRACE.match(text, end):
        end = pairs[more.end() - 1] + 1
    return end


def name_of(head: str) -> str:
    """The name of the function with this signature; empty if this is not one, or it is used without its name."""
    signature, bracket, _ = remove_bracketed(remove_bracketed(head, TEMPLATE, "<>"), WITH_BRACKETS, "()").partition("(")
    words = WORD.findall(signature)
    if not bracket or "=" in signature or not words or NO_FUNCTIONS & set(words):
        return ""
    name = re.search(r"(\w+)\s*(?:<.*>)?\s*$", signature, re.DOTALL)
    return name[1] if name else ""


def type_of(head: str) -> str:
    """The name of the class that a statement defines or declares; empty if there is none, or an object too."""
    before, brace, after = head.partition("{")
    named = TYPE.fullmatch(remove_bracketed(remove_bracketed(before, TEMPLATE, "<>"), WITH_BRACKETS, "()"))
    return named[1] if named and not (brace and after.rpartition("}")[2].strip()) else ""


def remove_bracketed(text: str, before: re.Pattern[str], pair: str) -> str:
    """The text without such words and the brackets that follow them."""
    while word := before.search(text):
        depth, end = 0, word.end()
        for end in range(word.end(), len(text)):
            depth += (text[end] == pair[0]) - (text[end] == pair[1])
            if depth == 0:
                break
        text = text[: word.start()] + " " + text[end + 1 :]
    return text


def match_brackets(text: str) -> dict[int, int] | None:
    """The place of the closing bracket for each opening one; None if they do not match, as with halves under #if."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for bracket in re.finditer(r"[()\[\]{}]", text):
        if bracket[0] in CLOSES:
            opened.append(bracket.start())
        elif opened and CLOSES[text[opened[-1]]] == bracket[0]:
            pairs[opened.pop()] = bracket.start()
        else:
            return None
    return None if opened else pairs
