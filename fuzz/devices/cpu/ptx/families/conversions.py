"""Moves and conversions: mov, cvt, cvta."""

import re

from kfuzz.devices.cpu.ptx.words import TYPES, C

_CUT = r"(?:\.satfinite|\.relu)*"
_SMALL = "e4m3|e5m2|e2m3|e3m2|e2m1"
_CVT = f"{C}ptx_cvt_"
_INTEGERS = r"[us](?:8|16|32|64)"
_FLOATS = r"f16|bf16|f32|f64"
_ROUNDINGS = {"n": "nearest", "z": "to_zero", "p": "up", "m": "down"}
_DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}


def _holds(to: str, of: str) -> bool:
    """Whether an integer type has all numbers of another: then PTX has no .sat between them."""
    if to[0] == of[0]:
        return int(to[1:]) >= int(of[1:])
    return to[0] == "s" and int(to[1:]) > int(of[1:])


def _may_round(to: str, of: str, rounding: str, is_whole: bool) -> bool:
    """Whether PTX takes this rounding between two floats: between types of 16 bits none means to the nearest, and a
    wider type than bf16 has all of its numbers, whatever is written.
    """
    if to == of:
        return not rounding or is_whole
    if {to, of} == {"f16", "bf16"}:
        return not is_whole
    if _DIGITS[to] > _DIGITS[of]:
        return not rounding or (of == "bf16" and not is_whole)
    return bool(rounding) and not is_whole


def _number(match: re.Match[str]) -> str | None:
    """Between two numbers, with PTX's rules for which modifiers they need."""
    to, of = match["to"], match["from"]
    rounding, whole, ftz, sat = match["round"], bool(match["whole"]), bool(match["ftz"]), bool(match["sat"])
    to_float, of_float = "f" in to, "f" in of
    if ftz and "f32" not in (to, of):
        return None
    if to_float and of_float:
        if not _may_round(to, of, rounding, bool(whole)):
            return None
    elif to_float:
        if not rounding or whole:
            return None
    elif (of_float and not whole) or (not of_float and (rounding or (sat and _holds(to, of)))):
        return None
    types = [f"{C}ptx_{one}" for one in (to, of)]
    how = f"{C}Rounding::{_ROUNDINGS[rounding[1]] if rounding else 'nearest'}"
    flags = ", ".join(str(one).lower() for one in (whole and to_float, ftz, sat))
    return f"{C}ptx_cvt_number<{types[0]}, {types[1]}, {how}, {flags}>({{0}}, {{1}})"


def _plain(match: re.Match[str]) -> str:
    """One float to another that may be small."""
    return f'{_CVT[:-1]}<{_CVT}{match[2]}, {_CVT}{match[3]}>("{match[1] or ""}", {{0}}, {{1}})'


def _narrow(match: re.Match[str]) -> str | None:
    """Two numbers to a small type; ptxas takes these words in any order, and after the types, too."""
    words = sorted(f"{match['words']}{match['last'] or ''}"[1:].split("."))
    if words not in (["rn", "satfinite"], ["relu", "rn", "satfinite"]):
        return None
    how, to = f'"{"".join(f".{one}" for one in words)}"', f"{_CVT}{match['to']}"
    if match["from"] == "f32":
        return f"{_CVT}two<{to}>({how}, {{0}}, {C}ptx_as<float>({{1}}), {C}ptx_as<float>({{2}}))"
    return f"{_CVT}both<{to}, {_CVT}{match['from'][:-2]}>({how}, {{0}}, {{1}})"


COUNTS = True
ROWS = (
    (
        rf"cvt(?:\.(?P<round>r[nzmp])(?P<whole>i)?)?(?P<ftz>\.ftz)?(?P<sat>\.sat)?"
        rf"\.(?P<to>{_INTEGERS}|{_FLOATS})\.(?P<from>{_INTEGERS}|{_FLOATS})",
        _number,
    ),
    (r"cvt\.rna((?:\.satfinite)?)\.tf32\.f32", f'{C}ptx_tf32<true>("<1>", {{0}}, {C}ptx_as<float>({{1}}))'),
    (rf"cvt(\.r[nz]{_CUT})\.tf32\.f32", f'{C}ptx_tf32<false>("<1>", {{0}}, {C}ptx_as<float>({{1}}))'),
    (r"cvt(\.r[nz](?:\.satfinite|\.relu)+)\.(f16|bf16)\.(f32)", _plain),
    (
        rf"cvt(?P<words>(?:\.rn|\.relu|\.satfinite)+)\.(?P<to>{_SMALL})x2\.(?P<from>f32|b?f16x2)"
        r"(?P<last>(?:\.relu|\.satfinite)*)",
        _narrow,
    ),
    (
        rf"cvt(\.r[nz]{_CUT})\.(b?f16)x2\.f32",
        f'{_CVT}two<{_CVT}<2>>("<1>", {{0}}, {C}ptx_as<float>({{1}}), {C}ptx_as<float>({{2}}))',
    ),
    (
        rf"cvt(\.r[zp]{_CUT})\.(ue8m0)x2\.f32",
        f'{_CVT}two<{_CVT}<2>>("<1>", {{0}}, {C}ptx_as<float>({{1}}), {C}ptx_as<float>({{2}}))',
    ),
    (rf"cvt(\.r[zp]{_CUT})\.(ue8m0)x2\.(bf16)x2", f'{_CVT}both<{_CVT}<2>, {_CVT}<3>>("<1>", {{0}}, {{1}})'),
    (rf"cvt(\.rn{_CUT})\.(b?f16)x2\.({_SMALL}|ue8m0)x2", f'{_CVT}both<{_CVT}<2>, {_CVT}<3>>("<1>", {{0}}, {{1}})'),
    (
        r"cvt(\.rs(?:\.relu|\.satfinite){0,2})\.(b?f16)x2\.f32",
        f'{_CVT}two_at_random<{_CVT}<2>>("<1>", {{0}}, {C}ptx_as<float>({{1}}), {C}ptx_as<float>({{2}}), {{3}})',
    ),
    (
        rf"cvt(\.rs(?:\.relu)?\.satfinite(?:\.relu)?)\.({_SMALL})x4\.f32",
        f'{_CVT}four_at_random<{_CVT}<2>>("<1>", {{0}}, {{v1}}, {{2}})',
    ),
    (
        r"cvt\.pack\.sat\.([us])([248])\.s32\.b32",
        lambda match: f"{C}ptx_cvt_pack<{match[2]}, {str(match[1] == 's').lower()}>({{0}}, {{1}}, {{2}}, {{3}})",
    ),
    (
        r"cvt\.pack\.sat\.([us])16\.s32",
        lambda match: f"{C}ptx_cvt_pack<16, {str(match[1] == 's').lower()}>({{0}}, {{1}}, {{2}}, 0)",
    ),
    (r"mov\.pred", f"{C}ptx_put({{0}}, static_cast<bool>({{1}}))"),
    (r"mov\.b?f16", f"{C}ptx_move<{C}ptx_b16>({{0}}, {{1}})"),
    (r"mov\.b?f16x2", f"{C}ptx_move<{C}ptx_b32>({{0}}, {{1}})"),
    (r"mov\.([bus](?:16|32|64|128))", f"{C}ptx_move<{C}ptx_<1>>({{0}}, {{1}})"),
    (r"mov\.(f(?:32|64))", lambda match: f"{C}ptx_move<{TYPES[match[1]]}>({{0}}, {{1}})"),
    (r"mov\.b(16|32|64|128)", f"{C}ptx_pack<<1>>({{0}}, {{v1}})"),
    (r"mov\.b(16|32|64|128)", f"{C}ptx_unpack<<1>>({{1}}, {{v0}})"),
    (
        r"cvta\.to\.shared(?:::cta|::cluster)?\.u64",
        f"{C}ptx_put({{0}}, cuda_on_cpu_address_of_shared({C}ptx_generic({{1}})))",
    ),
    (r"cvta\.shared(?:::cta)?\.u64", f"{C}ptx_put_address({{0}}, {C}ptx_shared({{1}}))"),
    (r"cvta\.shared::cluster\.u64", f"{C}ptx_put_address({{0}}, {C}ptx_cluster_shared({{1}}))"),
    (
        r"cvta\.(?P<space>const|local)\.u64",
        lambda match: f"{C}ptx_move<{C}ptx_u64>({{0}}, {C}ptx_whole_{match['space']}({{1}}))",
    ),
    (r"cvta(?:\.to)?\.(?:global|const|local|param(?:::entry)?)\.u64", f"{C}ptx_move<{C}ptx_u64>({{0}}, {{1}})"),
    (r"isspacep\.shared(?:::cta)?", f"{C}ptx_put({{0}}, cuda_on_cpu_is_shared({C}ptx_generic({{1}})))"),
)
