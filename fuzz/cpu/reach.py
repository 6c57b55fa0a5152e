"""What of a kernel file its entries reach: the rest is not compiled, and may use whatever the cpu device lacks.

Knows how C++ text falls into definitions; never what they mean. It works on blanked text
(cuda_text.blank_non_code), and in doubt keeps what is there: a name that stands anywhere in
what is reached counts as used.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kfuzz.sources.cuda_text import ATTRIBUTES, DIRECTIVE, spaces

WORD = re.compile(r"(?<!\w)(?<!\d\.)[A-Za-z_]\w*")
"""No suffix of a number."""
MACRO = re.compile(r"\s*#\s*define\s+(\w+)")
INCLUDE = re.compile(r"^[ \t]*#\s*include\b[^\n]*", re.MULTILINE)
TYPE = re.compile(r"\s*(?:struct|class|union)\s+(\w+)\s*(?:final\s*)?(?:<.*>\s*)?(?::[^:].*)?", re.DOTALL)
WITH_BRACKETS = re.compile(rf"\b(?:{'|'.join(ATTRIBUTES)})\s*(?=\()")
ENTERED = re.compile(r"(?:inline\s+)?namespace\b[\w\s:]*|extern")
"""Braces of a namespace, or of extern "C", whose text is blanked: what is in them is looked at one by one."""
TEMPLATE = re.compile(r"\btemplate\s*(?=<)")
ENDS_OR_OPENS = re.compile(r"[{(\[;}]")
NEXT_BRACE = re.compile(r"\s*(?:,[^;{}]*)?\{")
NO_FUNCTIONS = frozenset({"operator", "sizeof", "alignof", "static_assert", "typedef", "using", "friend", "requires"})
CLOSES = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Definition:
    """A stretch of the text that nothing needs unless somebody uses its name, and the words that stand in it."""

    name: str
    start: int
    end: int
    words: frozenset[str]
    is_macro: bool = False


def find_unreached(code: str, entries: Iterable[str]) -> list[Definition]:
    """What no entry needs of the functions, classes and macros of blanked code, where it falls apart into these."""
    waiting = [*find_macros(code), *find_functions(code)]
    outside = INCLUDE.sub("", blank_out(code, waiting))
    used = set(WORD.findall(outside)).union(*(WORD.findall(entry) for entry in entries))
    while grown := [one for one in waiting if one.name in used]:
        names = {one.name for one in grown}
        used = used.union(*(one.words for one in grown))
        waiting = [one for one in waiting if one.name not in names]
    return waiting


def blank_out(text: str, parts: Iterable[Definition]) -> str:
    """The text with spaces where these stand, of the same length and with the same lines."""
    for one in parts:
        text = text[: one.start] + re.sub(r"[^\n]", " ", text[one.start : one.end]) + text[one.end :]
    return text


def find_macros(code: str) -> Iterator[Definition]:
    """Every #define, with what it stands for."""
    for line in DIRECTIVE.finditer(code):
        if named := MACRO.match(line[0]):
            yield Definition(named[1], *line.span(), frozenset(WORD.findall(line[0])), is_macro=True)


def find_functions(code: str) -> Iterator[Definition]:
    """Every function and class: its definitions, declarations and instantiations, one by one."""
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
    """Where each statement outside of functions begins and ends, and the name of what it is about."""
    start = at = 0
    while found := ENDS_OR_OPENS.search(text, at):
        at = found.start()
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
    """Behind the body that begins here; members that a constructor initialises with braces stand before it."""
    end = pairs[opened] + 1
    while more := NEXT_BRACE.match(text, end):
        end = pairs[more.end() - 1] + 1
    return end


def name_of(head: str) -> str:
    """The name of the function whose signature this is; empty where it is none, or is used without its name."""
    signature, bracket, _ = remove_bracketed(remove_bracketed(head, TEMPLATE, "<>"), WITH_BRACKETS, "()").partition("(")
    words = WORD.findall(signature)
    if not bracket or "=" in signature or not words or NO_FUNCTIONS & set(words):
        return ""
    named = re.search(r"(\w+)\s*(?:<.*>)?\s*$", signature, re.DOTALL)
    return named[1] if named else ""


def type_of(head: str) -> str:
    """The name of the class that a statement defines or declares, and no object of it; empty where it does not."""
    before, brace, after = head.partition("{")
    named = TYPE.fullmatch(remove_bracketed(remove_bracketed(before, TEMPLATE, "<>"), WITH_BRACKETS, "()"))
    return named[1] if named and not (brace and after.rpartition("}")[2].strip()) else ""


def remove_bracketed(text: str, before: re.Pattern[str], pair: str) -> str:
    """The text less such words and what follows them in brackets."""
    while found := before.search(text):
        depth, end = 0, found.end()
        for end in range(found.end(), len(text)):
            depth += (text[end] == pair[0]) - (text[end] == pair[1])
            if depth == 0:
                break
        text = text[: found.start()] + " " + text[end + 1 :]
    return text


def match_brackets(text: str) -> dict[int, int] | None:
    """The place of the bracket that closes each one; None where they do not match, as with halves under #if."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for found in re.finditer(r"[()\[\]{}]", text):
        if found[0] in CLOSES:
            opened.append(found.start())
        elif opened and CLOSES[text[opened[-1]]] == found[0]:
            pairs[opened.pop()] = found.start()
        else:
            return None
    return None if opened else pairs
