"""Recognises functions that only the host can call: nvcc refuses some calls of them, and they need fewer checks.

Device code may call a function without __device__ only if it is constexpr or a lambda. Works on blanked text. In doubt,
a function is not host-only: a word in capitals may be a macro that stands for __device__.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kfuzz.devices.cpu.launches import UNCHECKED, TextEdit
from kfuzz.devices.cpu.reach import MACRO, Definition, find_functions, find_macros

FOR_BOTH = re.compile(r"\b__(?:global|device|host)__\b|\bconstexpr\b|\bconsteval\b|\boperator\b")
NO_FUNCTION = "template|requires|concept|extern|struct|class|union|enum|namespace|using|typedef|friend"
FIRST = re.compile(rf"(?!(?:{NO_FUNCTION})\b)[A-Za-z_]\w*")
TEMPLATE = re.compile(r"template\s*<(?:[^<>(){};]|<[^<>(){};]*>)*>\s*(?![^{;]*::\s*\w+\s*\()")
"""The parameters of a function template: no expressions, and not of a member, of which the class may say __device__."""
DEVICE = re.compile(r"\b__(?:global|device)__\b")
CAPITALS = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
CLASS = re.compile(r"(?:struct|class)\b")
ASM_WORDS = frozenset({"asm", "__asm__", "__asm"})
ASM = re.compile(rf"\b(?:{'|'.join(ASM_WORDS)})\b")
NO_TYPE = r"(?!(?:return|else|case|throw|delete|new|do|in|and|or|not)\b)"


def find_device_words(codes: Sequence[str]) -> frozenset[str]:
    """CUDA's words for device code, and the macros of blanked texts that may stand for them, directly or not."""
    every = [one for code in codes for one in find_macros(code)]
    bodies = {one.name: one.words for one in every}
    names = {"__device__", "__global__", "__host__", "constexpr", "consteval"}
    while more := {name for name, words in bodies.items() if name not in names and words - {name} & names}:
        names |= more
    return frozenset(names)


def is_host_only(one: Definition, code: str, words: frozenset[str]) -> bool:
    """Whether only the host can call it: it is a function with a body whose head has no word for device code."""
    head, brace, _ = code[one.start : one.end].partition("{")
    first = FIRST.match(head)
    if not brace or not first or first[0] == one.name or FOR_BOTH.search(head):
        return False
    before = re.split(rf"\b{one.name}\s*\(", head, maxsplit=1)[0]
    return not words & set(re.findall(r"\w+", before)) and not CAPITALS.search(before)


def disable_checks(code: str, words: frozenset[str], shares: bool) -> Iterator[TextEdit]:
    """Put an attribute before each host-only function that removes its access hooks.

    That halves the time that a large file takes to compile. A page fault shows the host's use of device memory. If the
    host shares memory with kernels, its accesses keep their hooks.
    """
    for every in find_functions(code):
        parameters = TEMPLATE.match(code, every.start, every.end)
        one = replace(every, start=parameters.end()) if parameters else every
        if is_host_only(one, code, words):
            yield one.start, one.start, '__attribute__((no_sanitize("undefined"))) ' if shares else f"{UNCHECKED} "


def find_host_assembly(code: str, words: frozenset[str]) -> Iterator[tuple[int, int, bool]]:
    """The functions of the host, and classes of which nothing seems to be for the device, and whether it is certain.

    There, asm is not PTX: g++ takes it as it is. In a class, an unknown macro may stand for __device__.
    """
    for one in find_functions(code) if ASM.search(code) else ():
        is_certain = is_host_only(one, code, words)
        if (is_certain or CLASS.match(code, one.start)) and ASM_WORDS & one.words and not words & one.words:
            yield one.start, one.end, is_certain


def find_host_calls(codes: Sequence[str], words: frozenset[str]) -> Iterator[tuple[int, int, str]]:
    """Calls of host-only functions in device code: the number of the text, the place in it, and the function's name."""
    every = [(number, one) for number, code in enumerate(codes) for one in find_functions(code)]
    hosts = {one.name for number, one in every if is_host_only(one, codes[number], words)}
    others = {one.name for number, one in every if one.name in hosts and not is_host_only(one, codes[number], words)}
    others |= {named[1] for code in codes for named in map(MACRO.match, code.splitlines()) if named}
    for number, one in every:
        text = codes[number][one.start : one.end]
        head, brace, _ = text.partition("{")
        if not brace or not DEVICE.search(head) or "__host__" in head:
            continue
        for name in sorted(one.words & hosts - others):
            declaration = re.search(rf"\b{NO_TYPE}\w[\w:<>]*[\s*&]+{name}\s*[=;,)({{\[]", text)
            call = re.search(rf"(?<![\w.:>]){name}\s*\(", text)
            if call and not declaration and name != one.name:
                yield number, one.start + call.start(), name
