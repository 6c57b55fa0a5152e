"""Tensor cores: mma.sync, and the loads, stores and moves of matrices."""

import re

from kfuzz.cpu.ptx.words import C

_SHAPES = {
    ("ld", "m8n8", "b16", False): "16, false", ("ld", "m8n8", "b16", True): "16, true",
    ("st", "m8n8", "b16", False): "16, false", ("st", "m8n8", "b16", True): "16, true",
}  # fmt: skip
"""The shapes, element types and whether a matrix is transposed, and the bits and order of the C++ function."""


def _matrix(match: re.Match[str]) -> str | None:
    """A load or a store of matrices; people write the words behind .aligned in any order."""
    words = match["words"].split(".")
    shape = [one for one in words if re.fullmatch(r"m\d+n\d+", one)]
    count = [one for one in words if re.fullmatch(r"x[124]", one)]
    kind = [one for one in words if re.fullmatch(r"b\d+", one)]
    space = [one for one in words if one in ("shared", "shared::cta")]
    rest = [one for one in words if one not in (*shape, *count, *kind, *space)]
    if any(len(one) != 1 for one in (shape, count, kind, space)) or rest not in ([], ["trans"]):
        return None
    if len(words) != 4 + len(rest):
        return None
    given = _SHAPES.get((match["what"], shape[0], kind[0], bool(rest)))
    if given is None:
        return None
    operands = "{a1}, {v0}" if match["what"] == "ld" else "{a0}, {v1}"
    transposed = given.split(", ")[1]
    return f"{C}ptx_{match['what']}matrix< {count[0][1:]}, {transposed}>(__LINE__, {operands})"


_DEPTHS_OF_FLOATS = {"f16": (8, 16), "bf16": (8, 16), "tf32": (4, 8), "e4m3": (16, 32), "e5m2": (16, 32)}


def _product(match: re.Match[str]) -> str | None:
    """m16n8, of floats; only those of 8 bits may differ, and only f16 and they have sums in f16."""
    a, b = match["a"], match["b"]
    if int(match["k"]) not in _DEPTHS_OF_FLOATS[a] or (a != b and "f" in a + b) or (match["kind"] and "f" in a):
        return None
    if match["d"] == "f16" and a in ("bf16", "tf32"):
        return None
    kinds = ", ".join(f"{C}ptx_{letter}_{match[name]}" for letter, name in (("c", "d"), ("m", "a"), ("m", "b")))
    return f"{C}ptx_mma<{kinds}, {match['k']}>(__LINE__, {{all}})"


_DEPTHS = {(8, 8): (16,), (8, 16): (16, 32), (4, 8): (32,), (4, 16): (32, 64), (1, 8): (128,), (1, 16): (128, 256)}
"""How deep the products of integers are, by their bits and the rows."""


def _integers(match: re.Match[str]) -> str | None:
    """Integers of 8, 4 and 1 bits; those of 1 bit are multiplied, .and, and counted, .popc."""
    rows, k, bits = int(match["rows"]), int(match["k"]), int(match["a"][1])
    letters = match["a"][0] + match["b"][0]
    last = match["last"] or ""
    if match["b"][1] != match["a"][1] or k not in _DEPTHS[bits, rows] or (match["sat"] and last):
        return None
    if (bits == 1) != (letters == "bb") or (bits == 1) != (last == ".and.popc") or (bits == 1 and match["sat"]):
        return None
    if bits != 1 and "b" in letters:
        return None
    flags = ", ".join(
        str(one).lower() for one in (letters[0] == "s", letters[1] == "s", bool(match["sat"] or last) and bits > 1)
    )
    return f"{C}ptx_mma_integers<{rows}, {k}, {bits}, {flags}>(__LINE__, {{all}})"


_FACTORS = "f16|bf16|tf32|e4m3|e5m2"
ROWS = (
    (r"(?P<what>ld|st)matrix\.sync\.aligned\.(?P<words>[\w.:]+)", _matrix),
    (r"movmatrix\.sync\.aligned\.m8n8\.trans\.b16", f"{C}ptx_movmatrix(__LINE__, {{0}}, {{1}})"),
    (
        r"mma\.sync\.aligned(?P<kind>\.kind::f8f6f4)?\.m16n8k(?P<k>\d+)\.row\.col"
        rf"\.(?P<d>f32|f16)\.(?P<a>{_FACTORS})\.(?P<b>{_FACTORS})\.(?P=d)",
        _product,
    ),
    (
        r"mma\.sync\.aligned\.m(?P<rows>8|16)n8k(?P<k>\d+)\.row\.col(?P<sat>\.satfinite)?"
        r"\.s32\.(?P<a>[usb][148])\.(?P<b>[usb][148])\.s32(?P<last>\.satfinite|\.and\.popc)?",
        _integers,
    ),
)
