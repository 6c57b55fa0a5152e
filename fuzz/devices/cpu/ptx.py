"""The PTX that the cpu device has: single loads, stores and fences with an order and a scope, and asynchronous copies.

Knows the statements as CUDA C++ writes them; what they do, include/cuda_on_cpu/ptx.h knows. Any other is not there.
"""

import re
from collections.abc import Iterator

_STATEMENT = re.compile(r"\b(?:asm|__asm__|__asm)\b\s*(?:volatile\b|__volatile__\b)?\s*\(")
_TEXT = re.compile(r'\s*((?:"(?:\\.|[^"\\])*"\s*)+)(.*)', re.DOTALL)
_ACCESS = re.compile(
    r"(?P<what>ld|st)\.(?P<order>acquire|release|relaxed|volatile)(?:\.(?P<scope>cta|gpu|sys|cluster))?"
    r"(?:\.(?:global|shared))?\.(?P<type>[busf](?:8|16|32|64)) (?P<operands>[^;]*);?"
)
_FENCE = re.compile(r"(?:fence\.(?:acq_rel|sc)|membar)\.(?P<scope>cta|gpu|gl|sys|cluster);?")
_COPY = re.compile(
    r"cp\.async\.c[ag]\.shared(?:::cta)?\.global(?:\.L2::\d+B)? "
    r"\[%0\], \[%1\], (?P<bytes>%2|4|8|16)(?:, (?P<given>%[23]))?;?"
)
_WAIT = re.compile(r"cp\.async\.wait_(?:all|group (?P<but>%0|\d+));?")
_OPERAND = re.compile(r'\s*"[^"]*"\s*\(')


def statements(source: str, code: str) -> Iterator[tuple[int, int, str]]:
    """Where inline PTX of these kinds stands in a source, and the call that stands for it; `code` is blanked."""
    for found in _STATEMENT.finditer(code):
        end = _closing(code, found.end() - 1)
        if end and (call := _call(source[found.end() : end - 1])):
            lines = "\n" * source.count("\n", found.start(), end)
            yield found.start(), end, call + lines


def _call(inside: str) -> str | None:
    """The call for the inside of an asm statement; None where the cpu device does not have it."""
    text = _TEXT.match(inside)
    if not text:
        return None
    pieces = re.findall(r'"((?:\\.|[^"\\])*)"', text[1])
    instruction = " ".join("".join(pieces).replace("\\n", " ").replace("\\t", " ").split())
    if fence := _FENCE.fullmatch(instruction):
        return f"cuda_on_cpu_fence({int(fence['scope'] == 'cta')})"
    operands = list(_operands(text[2]))
    if instruction.rstrip(";") == "cp.async.commit_group":
        return "cuda_on_cpu_async_commit()"
    if wait := _WAIT.fullmatch(instruction):
        return f"cuda_on_cpu_async_wait({_named(wait['but'] or '0', operands)})"
    if copy := _COPY.fullmatch(instruction):
        words = [f"%{i}" for i in range(2)] + [copy["bytes"], *([copy["given"]] if copy["given"] else [])]
        return f"::cuda_on_cpu::ptx_cp_async({', '.join(_named(one, operands) for one in words)})"
    access = _ACCESS.fullmatch(instruction)
    if not access:
        return None
    form = re.sub(r"\s", "", access["operands"])
    if form != ("%0,[%1]" if access["what"] == "ld" else "[%0],%1") or len(operands) < 2:
        return None
    order = "relaxed" if access["order"] == "volatile" else access["order"]
    arguments = f"{operands[0]}, {operands[1]}"
    return f"::cuda_on_cpu::ptx_{access['what']}_{order}<{str(access['scope'] == 'cta').lower()}>({arguments})"


def _named(word: str, operands: list[str]) -> str:
    """What a number or `%2` stands for."""
    return operands[int(word[1:])] if word.startswith("%") and int(word[1:]) < len(operands) else word


def _operands(text: str) -> Iterator[str]:
    """The expressions of an asm statement's outputs and inputs."""
    rest = text.lstrip(":, \t\n")
    while found := _OPERAND.match(rest):
        end = _closing(rest, found.end() - 1)
        if not end:
            return
        yield rest[found.end() : end - 1].strip()
        rest = rest[end:].lstrip(":, \t\n")


def _closing(text: str, start: int) -> int:
    """Behind the bracket that closes the one at `start`; 0 where none does."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    return 0
