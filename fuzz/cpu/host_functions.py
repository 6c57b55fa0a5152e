"""Functions that only the host can call: known by their text, for what nvcc refuses and for what need not be looked at.

CUDA lets device code call a function without a word for it only where it is constexpr, or a lambda. Works on blanked
text; in doubt a function is nobody's alone: a word in capitals may be a macro that stands for __device__.
"""

import re
from collections.abc import Iterator, Sequence

from kfuzz.cpu.launches import UNCHECKED, TextEdit
from kfuzz.cpu.reach import MACRO, Definition, find_functions, find_macros

FOR_BOTH = re.compile(r"\b__(?:global|device|host)__\b|\bconstexpr\b|\bconsteval\b|\boperator\b")
FIRST = re.compile(r"(?!(?:template|extern|struct|class|union|enum|namespace|using|typedef|friend)\b)[A-Za-z_]\w*")
DEVICE = re.compile(r"\b__(?:global|device)__\b")
CAPITALS = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
NO_TYPE = r"(?!(?:return|else|case|throw|delete|new|do|in|and|or|not)\b)"


def find_device_words(codes: Sequence[str]) -> frozenset[str]:
    """The macros of blanked texts that may stand for a word of CUDA's, one by way of another too."""
    every = [one for code in codes for one in find_macros(code)]
    bodies = {one.name: one.words for one in every}
    found = {"__device__", "__global__", "__host__", "constexpr", "consteval"}
    while more := {name for name, words in bodies.items() if name not in found and words - {name} & found}:
        found |= more
    return frozenset(found)


def is_host_only(one: Definition, code: str, words: frozenset[str]) -> bool:
    """Whether no kernel can call it: it is a function with a body, and nothing of its head says otherwise."""
    head, brace, _ = code[one.start : one.end].partition("{")
    first = FIRST.match(head)
    if not brace or not first or first[0] == one.name or FOR_BOTH.search(head):
        return False
    before = re.split(rf"\b{one.name}\s*\(", head, maxsplit=1)[0]
    return not words & set(re.findall(r"\w+", before)) and not CAPITALS.search(before)


def disable_checks(code: str, words: frozenset[str], shares: bool) -> Iterator[TextEdit]:
    """An attribute in front of each such function, which halves what a large file compiles: the host's use of device
    memory is seen by a page fault, and needs no hook. Where it shares memory with kernels, its accesses keep theirs.
    """
    for one in find_functions(code):
        if is_host_only(one, code, words):
            yield one.start, one.start, '__attribute__((no_sanitize("undefined"))) ' if shares else f"{UNCHECKED} "


def find_host_calls(codes: Sequence[str], words: frozenset[str]) -> Iterator[tuple[int, int, str]]:
    """Where device code calls one: the number of the text, the place in it, and the function's name."""
    every = [(number, one) for number, code in enumerate(codes) for one in find_functions(code)]
    hosts = {one.name for number, one in every if is_host_only(one, codes[number], words)}
    others = {one.name for number, one in every if one.name in hosts and not is_host_only(one, codes[number], words)}
    others |= {found[1] for code in codes for found in map(MACRO.match, code.splitlines()) if found}
    for number, one in every:
        text = codes[number][one.start : one.end]
        head, brace, _ = text.partition("{")
        if not brace or not DEVICE.search(head) or "__host__" in head:
            continue
        for name in sorted(one.words & hosts - others):
            declared = re.search(rf"\b{NO_TYPE}\w[\w:<>]*[\s*&]+{name}\s*[=;,)({{\[]", text)
            called = re.search(rf"(?<![\w.:>]){name}\s*\(", text)
            if called and not declared and name != one.name:
                yield number, one.start + called.start(), name
