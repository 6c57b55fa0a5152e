"""wmma: products of fragments that a warp loads and stores, in PTX."""

import re
from dataclasses import dataclass

from kfuzz.devices.cpu.ptx.families.memory import point
from kfuzz.devices.cpu.ptx.words import C

_LARGE = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
_FACTORS = {"f16": _LARGE, "bf16": _LARGE, "s8": _LARGE, "u8": _LARGE, "tf32": ((16, 16, 8),), "f64": ((8, 8, 4),)}
"""The shapes of each type of a factor."""
_SUMS = {
    "f16": (f"{C}ptx_c_f16", _LARGE), "f32": (f"{C}ptx_c_f32", (*_LARGE, (16, 16, 8))), "s32": ("int", _LARGE),
    "f64": ("double", ((8, 8, 4),)),
}  # fmt: skip
"""The C++ type and the shapes of each type of sums."""
_SUMS_OF = {
    "bf16": ("f32",), "tf32": ("f32",), "s8": ("s32",), "u8": ("s32",), "f64": ("f64",), "f16": ("f16", "f32")
}  # fmt: skip
_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8}
_SPACES = ("global", "shared", "shared::cta")


@dataclass(frozen=True)
class _Words:
    """The words of an instruction by their meaning; its types in their order."""

    orders: tuple[str, ...]
    shape: tuple[int, int, int]
    space: str | None
    types: tuple[str, ...]
    saturates: bool


def _read(text: str) -> _Words | None:
    """The words of an instruction, which people write in any order; None if one is missing or comes twice."""
    words = text.strip(".").split(".")
    shapes = [found for one in words if (found := re.fullmatch(r"m(\d+)n(\d+)k(\d+)", one))]
    spaces = [one for one in words if one in _SPACES]
    if len(shapes) != 1 or len(spaces) > 1 or words.count("satfinite") > 1:
        return None
    m, n, k = map(int, shapes[0].groups())
    return _Words(
        tuple(one for one in words if one in ("row", "col")),
        (m, n, k),
        spaces[0] if spaces else None,
        tuple(one for one in words if one in (*_FACTORS, *_SUMS)),
        "satfinite" in words,
    )


def _fragment(which: str, element: str, shape: tuple[int, int, int]) -> tuple[str, int, int] | None:
    """The C++ type of a fragment, with its rows and columns; None if there is none."""
    m, n, k = shape
    rows, cols = {"a": (m, k), "b": (k, n)}.get(which, (m, n))
    if which in "ab":
        if shape not in _FACTORS.get(element, ()):
            return None
        return f"{C}PtxWmma{which.upper()}<{C}ptx_n_{element}::type, {rows}, {cols}>", rows, cols
    if element not in _SUMS or shape not in _SUMS[element][1]:
        return None
    return f"{C}PtxWmmaSum<{_SUMS[element][0]}, {rows}, {cols}>", rows, cols


def _moves(match: re.Match[str], has_stride: bool) -> str | None:
    read = _read(match["words"])
    parts = 2 + (read is not None and read.space is not None)
    if read is None or len(read.orders) != 1 or len(read.types) != 1 or read.saturates:
        return None
    if match["words"].count(".") != parts + 1:
        return None
    of = _fragment(match["which"], read.types[0], read.shape)
    if of is None:
        return None
    fragment, rows, cols = of
    by_column = read.orders[0] == "col"
    stride = f"{C}ptx_as<uint32_t>({{2}})" if has_stride else str(rows if by_column else cols)
    loads = match["does"] == "load"
    function = f"{C}ptx_wmma_{match['does']}<{fragment}, {str(by_column).lower()}>"
    return f"{function}(__LINE__, {point(read.space, int(loads))}, {stride}, {{v{int(not loads)}}})"


def _registers(which: str, element: str, shape: tuple[int, int, int]) -> int:
    """How many registers a factor has; those of f16 are eight, of which some may be copies."""
    m, n, k = shape
    return 8 if element == "f16" else (m if which == "a" else n) * k * _BITS[element] // 1024


def _product(match: re.Match[str]) -> str | None:
    read = _read(match["words"])
    if read is None or len(read.orders) != 2 or read.space or len(read.types) not in (2, 4):
        return None
    if match["words"].count(".") != 3 + len(read.types) + read.saturates:
        return None
    d, a, b, c = read.types if len(read.types) == 4 else (read.types[0], "f16", "f16", read.types[1])
    if a != b or a not in _FACTORS or not {d, c} <= {*_SUMS_OF[a]} or (read.saturates and d != "s32"):
        return None
    if a != "f16" and len(read.types) == 2:
        return None
    parts = [_fragment(*one, read.shape) for one in (("a", a), ("b", b), ("d", d), ("c", c))]
    if None in parts:
        return None
    if a == "f64":
        return f"{C}ptx_mma_doubles<8, 4>(__LINE__, {{all}})"
    counts = ", ".join(str(_registers(which, a, read.shape)) for which in "ab")
    names = ", ".join(one[0] for one in parts if one)
    return f"{C}ptx_wmma_mma<{names}, {counts}, {str(read.saturates).lower()}>(__LINE__, {{all}})"


_LOAD = r"wmma\.(?P<does>load)\.(?P<which>[abc])\.sync\.aligned(?P<words>\.[\w.:]+)"
_STORE = r"wmma\.(?P<does>store)\.(?P<which>d)\.sync\.aligned(?P<words>\.[\w.:]+)"
ROWS = (
    *((pattern, lambda match: _moves(match, True)) for pattern in (_LOAD, _STORE)),
    *((pattern, lambda match: _moves(match, False)) for pattern in (_LOAD, _STORE)),
    (r"wmma\.mma\.sync\.aligned(?P<words>\.[\w.]+)", _product),
)
