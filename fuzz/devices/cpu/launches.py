"""Turns launches in host code, `kernel<<<grid, block>>>(arguments)`, into calls that a host compiler accepts.

Knows how C++ writes a launch. Works on blanked text (cuda_text.blank_non_code), and keeps every line where it is.
"""

import re
from collections.abc import Iterator

from kfuzz.common.text.cuda_text import closing_bracket
from kfuzz.devices import ClaimError

TextEdit = tuple[int, int, str]
NAME = re.compile(r"(?:::\s*)?(?:\w+\s*(?:<[^<>;{}]*>\s*)?::\s*)*(?:\w+\s*##\s*)*\w+\s*$")
OWNER = re.compile(r"(?<!\.)(?:\.|->)\s*$")
BREAKS = " \t\n\\"
"""Spaces, and the ends of lines in a macro."""
NULL = re.compile(r"[,(][ \t\n\\]*(?P<null>NULL)(?=[ \t\n\\]*[,)])")
OPENS, CLOSES = "([{", ")]}"
OPENED = re.compile(r"(?<!operator)<<[ \t\n\\]*<")
CLOSED = re.compile(r">>[ \t\n\\]*>")
"""The brackets of a launch: nvcc also accepts `<< <` and `>> >`, as some editors set them."""
ARGUMENTS = re.compile(r"\(")
UNCHECKED = '__attribute__((no_sanitize("thread", "undefined")))'


def translate_launches(code: str, source: str, path: object, every: str) -> Iterator[TextEdit]:
    """Two edits for each launch: one before its configuration, and one between that and its arguments.

    `every` is the code of all files, in which a kernel may declare its cluster size.
    """
    for opened, configuration in (one.span() for one in OPENED.finditer(code)):
        if source[opened:configuration] != code[opened:configuration]:
            continue  # text << "blanked" << text
        start, closed = find_callee(code, opened), find_closing(code, configuration, CLOSED)
        arguments = find_closing(code, closed.end(), ARGUMENTS) if closed else None
        if start < 0 or not closed or not arguments or code[closed.end() : arguments.start()].strip(BREAKS):
            line = code.count("\n", 0, opened) + 1
            raise ClaimError(
                f"{path}:{line}: kfuzz does not understand this launch; write kernel<<<grid, block>>>(arguments)"
            )
        name = " ".join(source[start:opened].replace("\\\n", " ").split())
        yield start, configuration, f"::cuda_on_cpu::Launch(__LINE__, {line_breaks(source[start:configuration])}"
        of = f"{cluster_setting(name, every)}.of({address_lambda(name)}, {call_lambda(name)})"
        yield closed.start(), arguments.start(), f"){of}{line_breaks(source[closed.start() : arguments.start()])}"
        yield from replace_nulls(code, arguments.start())


def cluster_setting(name: str, every: str) -> str:
    """The call that makes a launch ask the kernel for its own `__cluster_dims__`; empty if it has none."""
    function = re.escape(name.partition("<")[0].strip().rpartition("::")[2])
    has_clusters = re.search(rf"__cluster_dims__\s*\([^;{{}}]*?\)[^;{{}}]*?\b{function}\s*\(", every)
    return ".in_its_clusters()" if has_clusters else ""


def address_lambda(name: str) -> str:
    """The lambda that returns the kernel's address if its name says which instance it is."""
    address = f"::cuda_on_cpu::kernel_named(cuda_on_cpu_tag, {name})"
    return f"[&](auto cuda_on_cpu_tag) -> decltype({address}) {{ return {address}; }}"


def call_lambda(name: str) -> str:
    """The lambda that every thread calls."""
    return f"[&](auto... cuda_on_cpu_given) {UNCHECKED} {{ {name}(cuda_on_cpu_given...); }}"


def replace_nulls(code: str, opened: int) -> Iterator[TextEdit]:
    """Edits for each argument NULL of a launch: g++'s NULL is a long, which does not convert to a pointer."""
    end = closing_bracket(code, opened)
    for one in NULL.finditer(code, opened, end + 1):
        depth = sum((letter in OPENS) - (letter in CLOSES) for letter in code[opened : one.start()])
        if depth == (code[one.start()] not in OPENS):
            yield *one.span("null"), "::cuda_on_cpu::Null{}"


def line_breaks(text: str) -> str:
    """The line breaks of a replaced text, escaped within a macro."""
    return ("\\\n" if "\\\n" in text else "\n") * text.count("\n")


def find_closing(code: str, start: int, wanted: re.Pattern[str]) -> re.Match[str] | None:
    """The place of the wanted text outside all brackets; None if an enclosing bracket closes first."""
    depth, at = 0, start
    while at < len(code) and depth >= 0:
        if depth == 0 and (found := wanted.match(code, at)):
            return found
        depth += (code[at] in OPENS) - (code[at] in CLOSES)
        at += 1
    return None


def find_callee(code: str, end: int) -> int:
    """The start of the name of the launched kernel, with template arguments and brackets; -1 if there is none.

    The name may be that of a member, `one.kernel` or `one->kernel`, or of an element, `kernels[i]`.
    """
    at = len(code[:end].rstrip(BREAKS))
    if at and code[at - 1] == ")":
        return find_opening(code, at, "()")
    for pair in ("[]", "<>"):
        if at > 0 and code[at - 1] == pair[1]:
            at = len(code[: find_opening(code, at, pair)].rstrip(BREAKS))
    name = NAME.search(code, max(0, at - 400), at) if at > 0 else None
    if not name:
        return -1
    owner = OWNER.search(code, max(0, name.start() - 40), name.start())
    return find_callee(code, owner.start()) if owner else name.start()


def find_opening(code: str, end: int, pair: str) -> int:
    """The place of the opening bracket for the one that closes before `end`; ignores angles in round brackets."""
    depth, round_depth = 0, 0
    for at in range(end - 1, -1, -1):
        round_depth += (code[at] == ")") - (code[at] == "(")
        if pair == "()" or round_depth == 0:
            depth += (code[at] == pair[1]) - (code[at] == pair[0])
        if depth == 0:
            return at
    return -1
