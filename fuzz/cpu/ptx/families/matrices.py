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


def _product(match: re.Match[str]) -> str:
    """m16n8: a saturating sum is said in front of the types or behind them."""
    saturates = str(bool(match["sat"] or match["last"])).lower()
    kinds = ", ".join(f"{C}ptx_{letter}_{match[name]}" for letter, name in (("c", "d"), ("m", "a"), ("m", "b")))
    return f"{C}ptx_mma<{kinds}, {match['k']}, {saturates}>(__LINE__, {{all}})"


_FACTORS = "f16|bf16|tf32|s8|u8|e4m3|e5m2"
ROWS = (
    (r"(?P<what>ld|st)matrix\.sync\.aligned\.(?P<words>[\w.:]+)", _matrix),
    (r"movmatrix\.sync\.aligned\.m8n8\.trans\.b16", f"{C}ptx_movmatrix(__LINE__, {{0}}, {{1}})"),
    (
        r"mma\.sync\.aligned(?:\.kind::f8f6f4)?\.m16n8k(?P<k>\d+)\.row\.col(?P<sat>\.satfinite)?"
        rf"\.(?P<d>f32|f16)\.(?P<a>{_FACTORS})\.(?P<b>{_FACTORS})\.(?P=d)(?P<last>)",
        _product,
    ),
    (
        r"mma\.sync\.aligned\.m16n8k(?P<k>16|32)\.row\.col(?P<sat>\.satfinite)?"
        r"\.(?P<d>s32)\.(?P<a>[us]8)\.(?P<b>[us]8)\.s32(?P<last>\.satfinite)?",
        _product,
    ),
)
