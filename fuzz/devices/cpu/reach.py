"""Finds the parts of a kernel file that its entries do not reach: they may use features that the cpu device lacks.

Knows how C++ text divides into definitions, but not what they mean. Works on blanked text (cuda_text.blank_non_code).
In doubt, it keeps a definition: every name anywhere in a definition that is in use counts as used.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kfuzz.common.text.cuda_text import ATTRIBUTES, DIRECTIVE, blank, spaces

WORD = re.compile(r"(?<!\w)(?<!\d\.)[A-Za-z_]\w*")
"""A word that is not the suffix of a number."""
MACRO = re.compile(r"\s*#\s*define\s+(\w+)(?:\(([^)]*)\))?")
PASTED = re.compile(r"\w+(?:[\s\\]*##[\s\\]*\w+)+")
"""A name that a macro puts together: `sum_##tag##_kernel`."""
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
    """A part of the text that is needed only if its name is used, and the words in it.

    `pasted`: patterns of the names that a macro puts together of its arguments.
    """

    name: str
    start: int
    end: int
    words: frozenset[str]
    is_macro: bool = False
    pasted: tuple[str, ...] = ()


def find_unreached(code: str, entries: Iterable[str]) -> list[Definition]:
    """The functions, classes and macros of blanked code that no entry needs."""
    every = [*find_macros(code), *find_functions(code)]
    outside = INCLUDE.sub("", blank_out(code, ((one.start, one.end) for one in every)))
    used = set(WORD.findall(outside)).union(*(WORD.findall(entry) for entry in entries))
    waiting: dict[str, list[Definition]] = {}
    for one in every:
        waiting.setdefault(one.name, []).append(one)
    names = list(used)
    while names:
        for one in waiting.pop(names.pop(), ()):
            words = one.words.union(*(filter(re.compile(made).fullmatch, waiting) for made in one.pasted))
            names += words - used
            used |= words
    return [one for one in every if one.name in waiting]


def blank_out(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with spaces in place of these parts, which may overlap, with the same length and lines."""
    pieces: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if end > at:
            pieces += text[at : max(at, start)], blank(text[max(at, start) : end])
            at = end
    return "".join((*pieces, text[at:]))


def find_macros(code: str) -> Iterator[Definition]:
    """Every #define, with its body."""
    for line in DIRECTIVE.finditer(code):
        if named := MACRO.match(line[0]):
            pasted = tuple(write_pasted(one, named[2] or "") for one in PASTED.findall(line[0]))
            yield Definition(named[1], *line.span(), frozenset(WORD.findall(line[0])), is_macro=True, pasted=pasted)


def write_pasted(words: str, parameters: str) -> str:
    """The pattern of the names that a macro with these parameters makes of words around `##`."""
    free = {*WORD.findall(parameters), "__VA_ARGS__"}
    return "".join(r"\w*" if word in free else word for word in re.findall(r"\w+", words))


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
    """Start and end of each statement outside functions, and the name of its function or class.

    The head of a statement is read at its first brace and at its end, so that the time is linear in the text.
    """
    start = at = 0
    is_head = True
    while mark := ENDS_OR_OPENS.search(text, at):
        at, letter = mark.start(), mark[0]
        if letter in "([":
            at = pairs[at] + 1
            continue
        head, was_head = text[start:at].strip() if is_head or letter == ";" else "", is_head
        is_head = letter != "{" or bool(ENTERED.fullmatch(head))
        if is_head:
            at += 1
            if letter == ";":
                yield start, at, type_of(head) or (name_of(head) if was_head else "")
        else:
            at = find_body_end(text, at, pairs)
            if name := name_of(head):
                yield start, at, name
            is_head = bool(name) or ends_as_function(head)
        if is_head:
            start = at


def find_body_end(text: str, opened: int, pairs: dict[int, int]) -> int:
    """The end of the body that begins here, after members that a constructor initialises with braces."""
    end = pairs[opened] + 1
    while more := NEXT_BRACE.match(text, end):
        end = pairs[more.end() - 1] + 1
    return end


def name_of(head: str) -> str:
    """The name of the function with this signature; empty if this is not one, or it is used without its name."""
    signature = signature_of(head)
    words = WORD.findall(signature)
    if "=" in signature or not words or NO_FUNCTIONS & set(words):
        return ""
    name = re.search(r"(\w+) ?(?:<.*>)?$", signature)
    return name[1] if name else ""


def ends_as_function(head: str) -> bool:
    """Whether the statement ends with the body that follows, though no name calls it: an operator's."""
    words = set(WORD.findall(signature_of(head)))
    return "operator" in words and "requires" not in words


def signature_of(head: str) -> str:
    """What is left of the first parenthesis, without templates, attributes and line ends; empty if there is none."""
    signature, bracket, _ = remove_bracketed(remove_bracketed(head, TEMPLATE, "<>"), WITH_BRACKETS, "()").partition("(")
    return " ".join(signature.split()) if bracket else ""


def type_of(head: str) -> str:
    """The name of the class that a statement defines or declares; empty if there is none, or an object too."""
    before, brace, after = head.partition("{")
    named = TYPE.fullmatch(remove_bracketed(remove_bracketed(before, TEMPLATE, "<>"), WITH_BRACKETS, "()").strip())
    return named[1] if named and not (brace and after.rpartition("}")[2].strip()) else ""


def remove_bracketed(text: str, before: re.Pattern[str], pair: str) -> str:
    """The text without such words and the brackets that follow them."""
    pieces, at, brackets = [], 0, re.compile(f"[{pair}]")
    while word := before.search(text, at):
        pieces.append(text[at : word.start()] + " ")
        depth, at = 0, len(text)
        for bracket in brackets.finditer(text, word.end()):
            depth += 1 if bracket[0] == pair[0] else -1
            if depth == 0:
                at = bracket.end()
                break
    return "".join((*pieces, text[at:]))


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
