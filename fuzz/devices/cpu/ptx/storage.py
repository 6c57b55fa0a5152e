"""Writes the variables of a PTX module as C++: where each lies, what it holds at first, its address in a register."""

import re
from collections.abc import Iterator

from kfuzz.devices.cpu.ptx.asm_text import AsmError
from kfuzz.devices.cpu.ptx.variables import SIZES, PtxVariable

MARK = "cuda_on_cpu_ptx_"
"""Begins the C++ names of a module's variables, functions and registers."""
_ENDS = re.compile(r"(?<!\d)(?=(\d+)([A-Za-z_]\w*)$)")
"""Each length in a mangled name, and what follows it: the name itself, and a number if functions have several of it."""
_NUMBER = re.compile(r"_\d+")
_MOST_ALIGNED = 128


def identifier(name: str) -> str:
    """A name of PTX as C++ can write it."""
    return re.sub(r"\W", "_", name)


def cpp_name(variable: PtxVariable) -> str:
    """The C++ name of a variable."""
    return f"{MARK}{identifier(variable.name)}"


def shown_name(name: str) -> str:
    """A variable by its C++ name as findings show it: for one of a module the last part of a mangled name."""
    if not name.startswith(MARK):
        return name
    name, shown = name.removeprefix(MARK), ""
    for one in _ENDS.finditer(name) if name.startswith("_Z") else ():
        last, number = one[2][: int(one[1])], one[2][int(one[1]) :]
        shown = last if not number or _NUMBER.fullmatch(number) else shown
    return shown or name


def shown_register(name: str) -> str:
    """A register as PTX names it; any other variable unchanged."""
    made = re.fullmatch(rf"{MARK}(_?)(\w+)_\d+", name)
    return f"{'%' if made[1] else ''}{made[2]}" if made else name


def address_of(one: PtxVariable) -> str:
    """The address of a variable as a register holds it."""
    if one.space != "shared":
        return f"reinterpret_cast<uint64_t>({cpp_name(one)})"
    name = "cuda_on_cpu_dynamic_shared" if one.count is None else cpp_name(one)
    return f"cuda_on_cpu_address_of_shared({name})"


def declare(one: PtxVariable, is_static: bool = False) -> str:
    """A variable of a module or a function."""
    if one.is_extern and one.space != "shared":
        raise AsmError(f"the variable {one.name}, which another module defines", one.line)
    if one.space == "shared":
        return f"{'static ' if is_static else ''}__shared__ unsigned char {cpp_name(one)}[{one.bytes}];"
    # used: g++ removes the stores to a variable that no function of the module reads
    static = "__attribute__((used)) static " if one.space in ("global", "const") else ""
    aligned = f"alignas({min(max(one.align, 1), _MOST_ALIGNED)}) {static}"
    if any(re.search(r"[A-Za-z_$]", value) and not _bits(value, one.type) for value in one.initial):
        return f"{aligned}uint64_t {cpp_name(one)}[{one.count}] = {{{', '.join(_symbols_in(one))}}};"
    made = [str(byte) for value in one.initial for byte in _bits(value, one.type) or ()]
    values = f" = {{{', '.join(made)}}}" if made or static else ""
    return f"{aligned}unsigned char {cpp_name(one)}[{one.bytes}]{values};"


def _symbols_in(one: PtxVariable) -> Iterator[str]:
    """The values of an array of addresses."""
    for value in one.initial:
        named = re.fullmatch(r"(?:generic\()?([\w$%]+)\)?(?:\+(\d+))?", value)
        if SIZES[one.type] != 8 or not named:
            raise AsmError(f"the value {value} of {one.name}", one.line)
        is_number = re.fullmatch(r"0[xX]\w+|\d+", named[1])
        at = named[1] if is_number else f"reinterpret_cast<uint64_t>({MARK}{identifier(named[1])})"
        yield f"{at} + {named[2] or 0}"


def _bits(value: str, kind: str) -> bytes | None:
    """The bytes of an initial value; None if it is no number."""
    size = SIZES[kind]
    if re.fullmatch(r"-?(?:0[xX][0-9a-fA-F]+|\d+)U?", value):
        return (int(value.rstrip("U"), 0) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    floats = re.fullmatch(r"0([fFdD])([0-9a-fA-F]+)", value)
    return int(floats[2], 16).to_bytes(size, "little") if floats else None
