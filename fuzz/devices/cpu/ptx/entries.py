"""Writes how a launch calls a kernel of a PTX module: its parameters, laid out in memory as a GPU has them."""

from collections.abc import Iterator

from kfuzz.devices.cpu.ptx.module import PtxFunction
from kfuzz.devices.cpu.ptx.storage import MARK, identifier
from kfuzz.devices.cpu.ptx.variables import PtxVariable
from kfuzz.devices.cpu.ptx.words import TYPES, C

_MOST_ALIGNED = 128


def entry_name(name: str) -> str:
    """The C++ function that a launch of a kernel calls."""
    return f"{MARK}launch_{identifier(name)}"


def body_name(name: str) -> str:
    """The C++ function of a kernel, which takes the address of its parameters."""
    return f"{MARK}{identifier(name)}"


def places_of_parameters(function: PtxFunction) -> Iterator[tuple[PtxVariable, int]]:
    """Each parameter of a kernel, and where it lies among all of them, as a GPU lays them out."""
    at = 0
    for one in function.parameters:
        at += -at % one.align
        yield one, at
        at += one.bytes


def bytes_of_parameters(function: PtxFunction) -> int:
    return max((at + one.bytes for one, at in places_of_parameters(function)), default=1)


def launched_parameters(function: PtxFunction) -> list[tuple[str, str]]:
    """The name and the type of each value that a launch gives: a structure comes in words of eight bytes."""
    made = []
    for one in function.parameters:
        words = len(_types_of(one))
        is_whole = words == 1 and not one.is_array
        kind = "b64" if not is_whole else one.type if one.bytes in (4, 8) else "b32"
        made += [(one.name if is_whole else f"{one.name}_{word}", kind) for word in range(words)]
    return made


def _types_of(one: PtxVariable) -> tuple[str, ...]:
    if one.is_array or one.bytes > 8:
        return (f"{C}PtxParameter",) * ((one.bytes + 7) // 8)
    if one.type in ("f32", "f64"):
        return (TYPES[one.type],)
    return (f"{C}PtxParameter",) if one.bytes == 8 else ("uint32_t",)


def write_entry(function: PtxFunction, counts: bool = False) -> str:
    """The function that a launch calls: it lays the parameters out and calls the kernel.

    `counts`: in the count flavour, in which they are constants.
    """
    taken, passed, number = [], [], 0
    for one, at in places_of_parameters(function):
        for word, kind in enumerate(_types_of(one)):
            taken.append(f"{kind} p{number}")
            size = min(8, one.bytes - 8 * word)
            passed.append(f"__builtin_memcpy({MARK}given + {at + 8 * word}, &p{number}, {size});")
            number += 1
    size, given = bytes_of_parameters(function), f"{MARK}given"
    size += -size % 4
    if counts:
        passed.append(f"{C}ptx_note_given({given}, {size});")
    return (
        f"__global__ void {entry_name(function.name)}({', '.join(taken)}) {{ alignas({_MOST_ALIGNED}) unsigned char "
        f"{given}[{size}]; {' '.join(passed)} {body_name(function.name)}(reinterpret_cast<uint64_t>({given})); }}"
    )
