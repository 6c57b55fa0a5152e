"""Launches in the text of host code, `kernel<<<grid, block>>>(arguments)`, as calls that a host compiler takes.

Knows how C++ writes a launch; works on blanked text (cuda_text.blank_non_code), and keeps every line where it is.
"""

import re
from collections.abc import Iterator

from kfuzz.devices import ClaimError

TextEdit = tuple[int, int, str]
NAME = re.compile(r"(?:::\s*)?(?:\w+\s*(?:<[^<>;{}]*>\s*)?::\s*)*(?:\w+\s*##\s*)*\w+\s*$")
OPENS, CLOSES = "([{", ")]}"
UNCHECKED = '__attribute__((no_sanitize("thread", "undefined")))'


def translate_launches(code: str, source: str, path: object, every: str) -> Iterator[TextEdit]:
    """Two edits for each launch: what stands before its configuration, and what between that and its arguments.

    `every` is the code of all files, where a kernel may say what clusters it is launched in.
    """
    for opened in (found.start() for found in re.finditer("<<<", code)):
        start, closed = find_callee(code, opened), find_closing(code, opened + 3, ">>>")
        arguments = find_closing(code, closed + 3, "(") if closed >= 0 else -1
        if start < 0 or arguments < 0 or code[closed + 3 : arguments].strip(" \t\n\\"):
            line = code.count("\n", 0, opened) + 1
            raise ClaimError(f"{path}:{line}: this launch is not understood; kernel<<<grid, block>>>(arguments) is")
        name = " ".join(source[start:opened].replace("\\\n", " ").split())
        yield start, opened + 3, f"::cuda_on_cpu::Launch(__LINE__, {line_breaks(source[start:opened])}"
        of = f"{cluster_setting(name, every)}.of({address_lambda(name)}, {call_lambda(name)})"
        yield closed, arguments, f"){of}{line_breaks(source[closed:arguments])}"


def cluster_setting(name: str, every: str) -> str:
    """What a kernel's own `__cluster_dims__` adds to its launch."""
    function = re.escape(name.partition("<")[0].strip().rpartition("::")[2])
    said = re.search(rf"__cluster_dims__\s*\(([^()]*)\)[^;{{}}]*?\b{function}\s*\(", every)
    return f".in_clusters({said[1].strip()})" if said else ""


def address_lambda(name: str) -> str:
    """What gives the kernel's address, where its name says which instance it is."""
    address = f"::cuda_on_cpu::kernel_named(cuda_on_cpu_tag, {name})"
    return f"[&](auto cuda_on_cpu_tag) -> decltype({address}) {{ return {address}; }}"


def call_lambda(name: str) -> str:
    """What every thread calls."""
    return f"[&](auto... cuda_on_cpu_given) {UNCHECKED} {{ {name}(cuda_on_cpu_given...); }}"


def line_breaks(text: str) -> str:
    """The line breaks of a text that is replaced; within a macro they are escaped."""
    return ("\\\n" if "\\\n" in text else "\n") * text.count("\n")


def find_closing(code: str, start: int, wanted: str) -> int:
    """Where the wanted text stands outside of all brackets; -1 where these close before it."""
    depth, at = 0, start
    while at < len(code) and depth >= 0:
        if depth == 0 and code.startswith(wanted, at):
            return at
        depth += (code[at] in OPENS) - (code[at] in CLOSES)
        at += 1
    return -1


def find_callee(code: str, end: int) -> int:
    """Where the name of what is launched begins, template arguments and brackets around it included; -1 without one."""
    at = len(code[:end].rstrip())
    if at and code[at - 1] == ")":
        return find_opening(code, at, "()")
    if at and code[at - 1] == ">":
        at = find_opening(code, at, "<>")
    found = NAME.search(code, max(0, at - 400), at) if at > 0 else None
    return found.start() if found else -1


def find_opening(code: str, end: int, pair: str) -> int:
    """Where the bracket opens that closes just before `end`; of angles, those within round brackets do not count."""
    depth, round_depth = 0, 0
    for at in range(end - 1, -1, -1):
        round_depth += (code[at] == ")") - (code[at] == "(")
        if pair == "()" or round_depth == 0:
            depth += (code[at] == pair[1]) - (code[at] == pair[0])
        if depth == 0:
            return at
    return -1
