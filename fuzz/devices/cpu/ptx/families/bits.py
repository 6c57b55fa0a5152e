"""Bits: logic, shifts, fields, permutations, counts."""

from kfuzz.devices.cpu.ptx.words import C

_WORDS = r"b(?:16|32|64)"
_U32 = f"{C}ptx_as<unsigned int>"
_LOP3 = f"{C}ptx_lop3({{0}}, {{1}}, {{2}}, {{3}}, {{4}})"

COUNTS = True
ROWS = (
    (rf"(and|or|xor)\.({_WORDS})", f"{C}ptx_<1><{C}ptx_<2>>({{0}}, {{1}}, {{2}})"),
    (r"(and|or|xor)\.pred", f"{C}ptx_<1>_pred({{0}}, {{1}}, {{2}})"),
    (r"not\.pred", f"{C}ptx_not_pred({{0}}, {{1}})"),
    (rf"(not|cnot)\.({_WORDS})", f"{C}ptx_<1><{C}ptx_<2>>({{0}}, {{1}})"),
    (rf"shl\.({_WORDS})", f"{C}ptx_shl<{C}ptx_<1>>({{0}}, {{1}}, {{2}})"),
    (r"shr\.([bus](?:16|32|64))", f"{C}ptx_shr<{C}ptx_<1>>({{0}}, {{1}}, {{2}})"),
    (r"shf\.([lr])\.wrap\.b32", f"{C}ptx_put({{0}}, __funnelshift_<1>({_U32}({{1}}), {_U32}({{2}}), {_U32}({{3}})))"),
    (r"shf\.([lr])\.clamp\.b32", f"{C}ptx_put({{0}}, __funnelshift_<1>c({_U32}({{1}}), {_U32}({{2}}), {_U32}({{3}})))"),
    (r"lop3\.b32", _LOP3),
    (
        r"lop3\.(and|or)\.b32",
        f"{_LOP3}; {C}ptx_put({{p0}}, {C}ptx_with_<1>({C}ptx_as<unsigned int>({{0}}) != 0, {{5}}))",
    ),
    (r"bfe\.([us](?:32|64))", f"{C}ptx_bfe<{C}ptx_<1>>({{0}}, {{1}}, {{2}}, {{3}})"),
    (r"bfi\.(b(?:32|64))", f"{C}ptx_bfi<{C}ptx_<1>>({{0}}, {{1}}, {{2}}, {{3}}, {{4}})"),
    (r"bfind\.([us](?:32|64))", f"{C}ptx_bfind<{C}ptx_<1>, false>({{0}}, {{1}})"),
    (r"bfind\.shiftamt\.([us](?:32|64))", f"{C}ptx_bfind<{C}ptx_<1>, true>({{0}}, {{1}})"),
    (r"fns\.b32", f"{C}ptx_fns({{0}}, {{1}}, {{2}}, {{3}})"),
    (r"popc\.(b(?:32|64))", f"{C}ptx_popc<{C}ptx_<1>>({{0}}, {{1}})"),
    (r"(clz|brev)\.(b(?:32|64))", f"{C}ptx_<1><{C}ptx_<2>>({{0}}, {{1}})"),
    (r"prmt\.b32(?:\.(f4e|b4e|rc8|ecl|ecr|rc16))?", f"{C}ptx_prmt<{C}ptx_prmt_<1>>({{0}}, {{1}}, {{2}}, {{3}})"),
)
