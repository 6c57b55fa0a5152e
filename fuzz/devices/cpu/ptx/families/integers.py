"""Arithmetic of integers, with carries; products of bytes."""

import re

from kfuzz.devices.cpu.ptx.words import C

_SIZES = r"[us](?:16|32|64)"
_OF_TWO = f"{C}ptx_<1><{C}ptx_<2>>({{0}}, {{1}}, {{2}})"
_CARRY = "cuda_on_cpu_carry"


def _carrying(match: re.Match[str]) -> str:
    """Sums that take a carry (addc) or leave one (.cc), or both."""
    takes = match["takes"] is not None
    leaves = _CARRY if match["leaves"] else f"{C}PtxSink()"
    called = {"add": "add_carry", "sub": "sub_borrow"}[match["what"]]
    more = _CARRY if takes else "false"
    return f"{C}ptx_{called}<{C}ptx_{match['type']}>({leaves}, {{0}}, {{1}}, {{2}}, {more})"


def _carrying_product(match: re.Match[str]) -> str:
    leaves = _CARRY if match["leaves"] else f"{C}PtxSink()"
    more = _CARRY if match["takes"] else "false"
    upper = str(match["half"] == "hi").lower()
    return f"{C}ptx_mad_carry<{C}ptx_{match['type']}, {upper}>({leaves}, {{0}}, {{1}}, {{2}}, {{3}}, {more})"


COUNTS = True
ROWS = (
    (rf"(add|sub|div|rem|min|max)\.({_SIZES})", _OF_TWO),
    (r"(add|sub)\.sat\.s32", f"{C}ptx_<1>_sat<{C}ptx_s32>({{0}}, {{1}}, {{2}})"),
    (r"(min|max)\.relu\.s32", f"{C}ptx_<1>_relu<{C}ptx_s32>({{0}}, {{1}}, {{2}})"),
    (r"(min|max)\.([us])16x2", f"{C}ptx_on_words(__v<1><2>2, {{0}}, {{1}}, {{2}})"),
    (r"add\.[us]16x2", f"{C}ptx_on_words(__vadd2, {{0}}, {{1}}, {{2}})"),
    (r"(?P<what>add|sub)(?P<takes>c)?(?P<leaves>\.cc)?\.(?P<type>[us](?:32|64))", _carrying),
    (r"mad(?P<takes>c)?\.(?P<half>lo|hi)(?P<leaves>\.cc)?\.(?P<type>[us](?:32|64))", _carrying_product),
    (rf"mul\.(lo|hi)\.({_SIZES})", f"{C}ptx_mul_<1><{C}ptx_<2>>({{0}}, {{1}}, {{2}})"),
    (r"mul\.wide\.([us](?:16|32))", f"{C}ptx_mul_wide<{C}ptx_<1>>({{0}}, {{1}}, {{2}})"),
    (rf"mad\.(lo|hi)\.({_SIZES})", f"{C}ptx_mad_<1><{C}ptx_<2>>({{0}}, {{1}}, {{2}}, {{3}})"),
    (r"mad\.wide\.([us](?:16|32))", f"{C}ptx_mad_wide<{C}ptx_<1>>({{0}}, {{1}}, {{2}}, {{3}})"),
    (r"mad\.hi\.sat\.s32", f"{C}ptx_mad_hi_sat<{C}ptx_s32>({{0}}, {{1}}, {{2}}, {{3}})"),
    (r"mul24\.(lo|hi)\.([us]32)", f"{C}ptx_mul24_<1><{C}ptx_<2>>({{0}}, {{1}}, {{2}})"),
    (r"mad24\.(lo|hi)\.([us]32)", f"{C}ptx_mad24_<1><{C}ptx_<2>>({{0}}, {{1}}, {{2}}, {{3}})"),
    (rf"sad\.({_SIZES})", f"{C}ptx_sad<{C}ptx_<1>>({{0}}, {{1}}, {{2}}, {{3}})"),
    (r"(neg|abs)\.(s(?:16|32|64))", f"{C}ptx_<1><{C}ptx_<2>>({{0}}, {{1}})"),
    (r"dp4a\.([us]32)\.([us]32)", f"{C}ptx_dp4a<{C}ptx_<1>, {C}ptx_<2>>({{0}}, {{1}}, {{2}}, {{3}})"),
    (r"dp2a\.lo\.([us]32)\.([us]32)", f"{C}ptx_dp2a<{C}ptx_<1>, {C}ptx_<2>, 0>({{0}}, {{1}}, {{2}}, {{3}})"),
    (r"dp2a\.hi\.([us]32)\.([us]32)", f"{C}ptx_dp2a<{C}ptx_<1>, {C}ptx_<2>, 2>({{0}}, {{1}}, {{2}}, {{3}})"),
    (r"vabsdiff4\.u32\.u32\.u32\.add", f"{C}ptx_vabsdiff4_add({{0}}, {{1}}, {{2}}, {{3}})"),
)
