"""Translates inline PTX into C++: single loads, stores, atomics and fences with order and scope, asynchronous copies,
and the instructions of ptx_table.py.

Knows how CUDA C++ writes such statements; include/cuda_on_cpu/ptx.h knows what they do. The cpu device has no
other PTX.
"""

import re
from collections.abc import Iterator

from kfuzz.cpu.ptx_forms import DONE, parse_form
from kfuzz.cpu.ptx_table import expression

_STATEMENT = re.compile(r"\b(?:asm|__asm__|__asm)\b\s*(?:volatile\b|__volatile__\b)?\s*\(")
_TEXT = re.compile(r'\s*((?:"(?:\\.|[^"\\])*"\s*)+)(.*)', re.DOTALL)
_SPACE = re.compile(r"\.(?:global|shared(?:::cta)?)\b")
_ORDER = r"(?:\.(?P<order>acquire|release|acq_rel|relaxed|volatile))"
_SCOPE = r"(?:\.(?P<scope>cta|gpu|sys|cluster))?"
_ACCESS = re.compile(rf"(?P<what>ld|st){_ORDER}{_SCOPE}\.[busf](?:8|16|32|64) (?P<operands>[^;]*);?")
_UPDATE = re.compile(
    rf"(?P<what>atom|red){_ORDER}?{_SCOPE}\.(?P<does>\w+)\.(?P<type>[busf](?:32|64)) (?P<operands>[^;]*);?"
)
_FORMS = {"ld": "%0,[%1]", "st": "[%0],%1", "atom": "%0,[%1],%2", "red": "[%0],%1"}
_UPDATES = {"add": "add", "exch": "exchange", "min": "min", "max": "max", "inc": "increment", "dec": "decrement",
            "and": "and", "or": "or", "xor": "xor", "cas": "compare_and_swap"}  # fmt: skip
_TYPES = {"u": ("unsigned int", "unsigned long long"), "s": ("int", "long long"), "f": ("float", "double")}
_FENCE = re.compile(r"(?:fence\.(?:acq_rel|sc)|membar)\.(?P<scope>cta|gpu|gl|sys|cluster);?")
_COPY = re.compile(
    r"cp\.async\.c[ag]\.shared(?:::cta)?\.global(?:\.L2::\d+B)? "
    r"\[%0\], \[%1\], (?P<bytes>%2|4|8|16)(?:, (?P<given>%[23]))?;?"
)
_WAIT = re.compile(r"cp\.async\.wait_(?:all|group (?P<but>%0|\d+));?")
_BLOCK = re.compile(r"^\{\s*(.*?)\s*\}$")
_REGISTERS = re.compile(r"\.reg \.([busf](?:32|64)|[bus](?:8|16)|pred) ([\w, ]+);")
_GUARDED = re.compile(r"@(?P<not>!?)(?P<predicate>%\d+) (?P<rest>.*)", re.DOTALL)
_CHOICE = re.compile(
    r"^[ \t]*#[ \t]*if(?:\\\n|.)*\n(?P<one>[^#]*)^[ \t]*#[ \t]*else.*\n(?P<other>[^#]*)^[ \t]*#[ \t]*endif.*\n",
    re.MULTILINE,
)
_REGISTER_TYPES = (
    {
        f"{letter}{bits}": name
        for letter, names in {**_TYPES, "b": _TYPES["u"]}.items()
        for bits, name in zip((32, 64), names, strict=True)
    }
    | {f"{letter}{bits}": f"::cuda_on_cpu::ptx_{letter}{bits}" for letter in "bus" for bits in (8, 16)}
    | {"pred": "bool"}
)
_OPERAND = re.compile(r'\s*"[^"]*"\s*\(')


def translate_statements(source: str, code: str) -> Iterator[tuple[int, int, str]]:
    """The place of each such PTX statement in a source, and the call that replaces it; `code` is blanked."""
    for statement in _STATEMENT.finditer(code):
        end = _closing(code, statement.end() - 1)
        if end and (call := _call(source[statement.end() : end - 1])):
            lines = "\n" * source.count("\n", statement.start(), end)
            yield statement.start(), end, call + lines


def _call(inside: str) -> str | None:
    """The call for the inside of an asm statement; None if the cpu device does not have the instruction.

    Where the preprocessor chooses between two texts, both must mean the same: people choose hints for caches so.
    """
    if _CHOICE.search(inside):
        one, other = (_call(_CHOICE.sub(rf"\g<{name}>", inside)) for name in ("one", "other"))
        return one if one == other else None
    text = _TEXT.match(inside)
    if not text:
        return None
    pieces = re.findall(r'"((?:\\.|[^"\\])*)"', text[1])
    instruction = " ".join("".join(pieces).replace("\\n", " ").replace("\\t", " ").split())
    if fence := _FENCE.fullmatch(instruction):
        return f"cuda_on_cpu_fence({int(fence['scope'] == 'cta')})"
    operands = list(_operands(text[2]))
    if copied := _async_copy(instruction, operands):
        return copied
    plain = _SPACE.sub("", instruction)
    if access := _ACCESS.fullmatch(plain):
        return _plain_access(access, operands)
    if update := _UPDATE.fullmatch(plain):
        return _atomic_update(update, operands)
    meant = parse_form(instruction, operands)
    one = expression(meant.instruction, list(meant.operands))
    if one is None:
        return _sequence(instruction, operands)
    return f"::cuda_on_cpu::ptx_until([&](bool &{DONE}) {{ {one}; }})" if meant.is_loop else one


def _async_copy(instruction: str, operands: list[str]) -> str | None:
    if instruction.rstrip(";") == "cp.async.commit_group":
        return "cuda_on_cpu_async_commit()"
    if wait := _WAIT.fullmatch(instruction):
        return f"cuda_on_cpu_async_wait({_operand(wait['but'] or '0', operands)})"
    if copy := _COPY.fullmatch(instruction):
        words = [f"%{i}" for i in range(2)] + [copy["bytes"], *([copy["given"]] if copy["given"] else [])]
        return f"::cuda_on_cpu::ptx_cp_async({', '.join(_operand(one, operands) for one in words)})"
    return None


def _step(instruction: str, operands: list[str]) -> str | None:
    """The call for one of several instructions, which may have a predicate in front of it."""
    if guarded := _GUARDED.fullmatch(instruction):
        call = _step(guarded["rest"], operands)
        return f"if ({guarded['not']}{_operand(guarded['predicate'], operands)}) {{ {call}; }}" if call else None
    return _async_copy(instruction, operands) or expression(instruction, operands)


def _sequence(text: str, operands: list[str]) -> str | None:
    """Several instructions, with registers of their own, as a lambda; None if one of them is not in the table."""
    body = _BLOCK.sub(r"\1", text)
    registers = [(kind, name) for kind, names in _REGISTERS.findall(body) for name in re.findall(r"\w+", names)]
    every = list(operands)
    for _, name in registers:
        body = re.sub(rf"(?<![\w.%]){name}(?![\w.])", f"%{len(every)}", body)
        every.append(f"cuda_on_cpu_{name}")
    parts = [one.strip() for one in re.sub(r"\.reg [^;]*;", "", body).split(";") if one.strip()]
    calls = [_step(one, every) for one in parts]
    if len(parts) + len(registers) < 2 or None in calls:
        return None
    declared = "".join(f"{_REGISTER_TYPES[kind]} cuda_on_cpu_{name}{{}}; " for kind, name in registers)
    return f"[&] {{ {declared}{'; '.join(one for one in calls if one)}; }}()"


def _plain_access(match: re.Match[str], operands: list[str]) -> str | None:
    if re.sub(r"\s", "", match["operands"]) != _FORMS[match["what"]] or len(operands) < 2:
        return None
    order = "relaxed" if match["order"] == "volatile" else match["order"]
    if order not in ("relaxed", "acquire" if match["what"] == "ld" else "release"):
        return None
    of_block = str(match["scope"] == "cta").lower()
    return f"::cuda_on_cpu::ptx_{match['what']}_{order}<{of_block}>({operands[0]}, {operands[1]})"


def _atomic_update(match: re.Match[str], operands: list[str]) -> str | None:
    """A call of a function of include/cuda_on_cpu/atomic.h."""
    swaps, gives = match["does"] == "cas", match["what"] == "atom"
    shape = _FORMS[match["what"]] + (",%3" if swaps else "")
    if (
        match["does"] not in _UPDATES
        or re.sub(r"\s", "", match["operands"]) != shape
        or len(operands) <= shape.count("%") - 1
    ):
        return None
    given = operands[1:] if gives else operands
    name = _TYPES.get(match["type"][0], _TYPES["u"])[match["type"].endswith("64")]
    order = f"::cuda_on_cpu::ptx_order_{match['order'] or 'default'}"
    values = ", ".join(f"static_cast<{name}>({one})" for one in given[1:])
    what = f"::cuda_on_cpu::ptx_update({order}, {str(match['scope'] == 'cta').lower()}, {str(swaps).lower()})"
    call = f"::cuda_on_cpu::atomic_{_UPDATES[match['does']]}(({name} *)({given[0]}), {values}, {what})"
    return f"{operands[0]} = {call}" if gives else call


def _operand(word: str, operands: list[str]) -> str:
    """The expression for `%2`, or a number itself."""
    return operands[int(word[1:])] if word.startswith("%") and int(word[1:]) < len(operands) else word


def _operands(text: str) -> Iterator[str]:
    """The expressions of the outputs and inputs of an asm statement."""
    rest = text.lstrip(":, \t\n")
    while match := _OPERAND.match(rest):
        end = _closing(rest, match.end() - 1)
        if not end:
            return
        yield rest[match.end() : end - 1].strip()
        rest = rest[end:].lstrip(":, \t\n")


def _closing(text: str, start: int) -> int:
    """The place after the bracket that closes the one at `start`; 0 if there is none."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    return 0
