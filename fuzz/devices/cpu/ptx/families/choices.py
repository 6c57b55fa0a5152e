"""Comparisons, predicates, and choices by them."""

import re

from kfuzz.devices.cpu.ptx.words import TYPES, C

_COMPARED = r"(?P<type>[bus](?:16|32|64)|f(?:16|32|64)|bf16)"
_HOW = r"(?P<how>eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan)"
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def compare(how: str, kind: str, flushes: bool = False) -> str | None:
    """A comparison of the second and the third operand; None if the type has none of that name."""
    is_float = "f" in kind
    if (how in _UNSIGNED and kind[0] != "u") or (kind[0] == "b" and kind[1] != "f" and how not in ("eq", "ne")):
        return None
    if not is_float and (how.endswith("u") or how in ("num", "nan")):
        return None
    if flushes and kind != "f32":
        return None
    name, number = _UNSIGNED.get(how, how), f"{C}ptx_{kind}"  # a number that counts is compared without its trail
    taken = f"{C}ptx_in<{number}, true>" if flushes else f"{C}ptx_as<{number}>"
    return f"{C}PtxIs_{name}::of({taken}({{1}}), {taken}({{2}}))"


def _setp(match: re.Match[str]) -> str | None:
    made = compare(match["how"], match["type"], bool(match["ftz"]))
    if made is None:
        return None
    if not match["bool"]:
        return f"{C}ptx_setp({{0}}, {{p0}}, {made})"
    both = f"{C}ptx_with_{match['bool']}"
    return f"{C}ptx_setp_with({both}, {{0}}, {{p0}}, {made}, {{3}})"


def _compare_both(how: str, kind: str) -> tuple[str, str]:
    """The comparisons of the lower and the upper numbers of two registers."""
    a, b = (f"{C}ptx_as<{C}ptx_{kind}x2>({{{place}}})" for place in (1, 2))
    return f"{C}PtxIs_{how}::of({a}.low, {b}.low)", f"{C}PtxIs_{how}::of({a}.high, {b}.high)"


def _setp_of_two(match: re.Match[str]) -> str:
    """Of two numbers in a register: a predicate for each."""
    low, high = _compare_both(match["how"], match["type"])
    return f"{C}ptx_setp_two({{0}}, {{p0}}, {low}, {high})"


def _set(match: re.Match[str]) -> str | None:
    made = compare(match["how"], match["type"], bool(match["ftz"]))
    if made is None:
        return None
    if match["bool"]:
        made = f"{C}ptx_with_{match['bool']}({made}, {{3}})"
    return f"{C}ptx_set<{TYPES[match['to']]}>({{0}}, {made})"


def _set_two(match: re.Match[str]) -> str | None:
    """Of two numbers in a register: a mask of 16 bits for each, or 1 for each."""
    kind, is_mask = match["type"], match["to"] in ("u32", "s32")
    if not is_mask and match["to"] != f"{kind}x2":
        return None
    yes = "0xffffu" if is_mask else {"f16": "0x3c00u", "bf16": "0x3f80u"}[kind]
    low, high = _compare_both(match["how"], kind)
    return f"{C}ptx_put({{0}}, ({low} ? {yes} : 0u) | ({high} ? {yes} << 16 : 0u))"


def _set_half(match: re.Match[str]) -> str | None:
    """Of two numbers of 16 bits: 1 or 0 of their type."""
    made = compare(match["how"], match["type"]) if match["to"] == match["type"] else None
    yes = {"f16": "0x3c00", "bf16": "0x3f80"}[match["type"]]
    return made and f"{C}ptx_put({{0}}, static_cast<{C}ptx_b16>({made} ? {yes} : 0))"


_FLOATS = _HOW.replace("lo|ls|hi|hs|", "")
COUNTS = True
ROWS = (
    (rf"setp\.{_HOW}(?:\.(?P<bool>and|or|xor))?(?P<ftz>\.ftz)?\.{_COMPARED}", _setp),
    (rf"setp\.{_FLOATS}\.(?P<type>b?f16)x2", _setp_of_two),
    (rf"set\.{_HOW}(?:\.(?P<bool>and|or|xor))?(?P<ftz>\.ftz)?\.(?P<to>[us]32|f32)\.{_COMPARED}", _set),
    (rf"set\.{_FLOATS}\.(?P<to>b?f16)\.(?P<type>b?f16)", _set_half),
    (rf"set\.{_FLOATS}\.(?P<to>[us]32|b?f16x2)\.(?P<type>b?f16)x2", _set_two),
    (r"selp\.([bus](?:16|32|64))", f"{C}ptx_selp<{C}ptx_<1>>({{0}}, {{1}}, {{2}}, {{3}})"),
    (r"selp\.(f(?:32|64))", lambda match: f"{C}ptx_selp<{TYPES[match[1]]}>({{0}}, {{1}}, {{2}}, {{3}})"),
    (r"slct\.([bus](?:16|32|64)|f32|f64)\.s32", f"{C}ptx_slct<{C}ptx_<1>, {C}ptx_s32>({{0}}, {{1}}, {{2}}, {{3}})"),
)
