"""Translates one PTX instruction into a C++ expression or a call of a function in include/cuda_on_cpu/ptx_table.h.

Knows instructions by name and operands by place: `{0}` is the first in the instruction, without its brackets; `{v0}`
may also be a vector of several words; `{all}` are the words of all operands. A template that leaves out an operand, or
is given a vector where it names one word, does not fit: the next row of that name is tried.
"""

import re

_FTZ = r"(?:\.ftz)?"
_INT = r"(?:[usb]32|[usb]64)"
_EVERY = r"(?:[usbf](?:8|16|32|64))"
_CACHE = r"(?:\.(?:ca|cg|cs|lu|wb|L[12]::\w+))*"
_SHARED = r"(?:\.shared(?:::cta)?)?"
_ALIGNED = r"(?:\.aligned)?"
_C = "::cuda_on_cpu::"
_CUT = r"(?:\.satfinite|\.relu)*"
_SMALL = "e4m3|e5m2|e2m3|e3m2|e2m1"
_CVT = f"{_C}ptx_cvt_"
_UNUSED_2 = "static_cast<void>({2})"
"""A cache policy: it changes how fast an access is, not what it does."""

EXPRESSIONS = (
    (rf"ex2\.approx{_FTZ}\.f32", "{0} = exp2f({1})"),
    (rf"lg2\.approx{_FTZ}\.f32", "{0} = log2f({1})"),
    (rf"rcp\.(?:approx|rn){_FTZ}\.f32", "{0} = 1.0f / ({1})"),
    (rf"rsqrt\.approx{_FTZ}\.f32", "{0} = rsqrtf({1})"),
    (rf"sqrt\.(?:approx|rn){_FTZ}\.f32", "{0} = sqrtf({1})"),
    (rf"sin\.approx{_FTZ}\.f32", "{0} = sinf({1})"),
    (rf"cos\.approx{_FTZ}\.f32", "{0} = cosf({1})"),
    (r"tanh\.approx\.f32", "{0} = tanhf({1})"),
    (rf"(?:add(?:\.rn)?{_FTZ}\.f(?:32|64)|add\.{_INT})", "{0} = ({1}) + ({2})"),
    (rf"(?:sub(?:\.rn)?{_FTZ}\.f(?:32|64)|sub\.{_INT})", "{0} = ({1}) - ({2})"),
    (rf"(?:mul(?:\.rn)?{_FTZ}\.f(?:32|64)|mul\.lo\.{_INT})", "{0} = ({1}) * ({2})"),
    (rf"div\.(?:full|approx|rn){_FTZ}\.f(?:32|64)", "{0} = ({1}) / ({2})"),
    (rf"mad\.lo\.{_INT}", "{0} = ({1}) * ({2}) + ({3})"),
    (rf"fma\.rn{_FTZ}\.f32", "{0} = fmaf({1}, {2}, {3})"),
    (r"fma\.rn\.f64", "{0} = fma({1}, {2}, {3})"),
    (rf"max{_FTZ}\.f32", "{0} = fmaxf({1}, {2})"),
    (rf"min{_FTZ}\.f32", "{0} = fminf({1}, {2})"),
    (rf"max\.{_INT}", "{0} = ({1}) < ({2}) ? ({2}) : ({1})"),
    (rf"min\.{_INT}", "{0} = ({2}) < ({1}) ? ({2}) : ({1})"),
    (r"and\.b(?:32|64)", "{0} = ({1}) & ({2})"),
    (r"or\.b(?:32|64)", "{0} = ({1}) | ({2})"),
    (r"xor\.b(?:32|64)", "{0} = ({1}) ^ ({2})"),
    (r"not\.b(?:32|64)", "{0} = ~({1})"),
    (rf"setp\.eq\.({_EVERY})", f"{{0}} = {_C}ptx_<1>({{1}}) == {_C}ptx_<1>({{2}})"),
    (rf"setp\.ne\.({_EVERY})", f"{{0}} = {_C}ptx_<1>({{1}}) != {_C}ptx_<1>({{2}})"),
    (rf"setp\.lt\.({_EVERY})", f"{{0}} = {_C}ptx_<1>({{1}}) < {_C}ptx_<1>({{2}})"),
    (rf"setp\.le\.({_EVERY})", f"{{0}} = {_C}ptx_<1>({{1}}) <= {_C}ptx_<1>({{2}})"),
    (rf"setp\.gt\.({_EVERY})", f"{{0}} = {_C}ptx_<1>({{1}}) > {_C}ptx_<1>({{2}})"),
    (rf"setp\.ge\.({_EVERY})", f"{{0}} = {_C}ptx_<1>({{1}}) >= {_C}ptx_<1>({{2}})"),
    (r"popc\.b32", "{0} = __popc({1})"),
    (r"clz\.b32", "{0} = __clz({1})"),
    (r"vabsdiff4\.u32\.u32\.u32\.add", "{0} = __vsadu4({1}, {2}) + ({3})"),
    (r"brev\.b32", "{0} = __brev({1})"),
    (r"prmt\.b32", "{0} = __byte_perm({1}, {2}, {3})"),
    (r"lop3\.b32", f"{{0}} = {_C}ptx_lop3({{1}}, {{2}}, {{3}}, {{4}})"),
    (r"bfe\.u32", f"{{0}} = {_C}ptx_bfe({{1}}, {{2}}, {{3}})"),
    (r"cvt\.rna\.tf32\.f32", f"{_C}ptx_tf32({{0}}, {{1}})"),
    (
        rf"cvt((?:\.r[nzpm])?{_CUT})\.(f16|bf16|f32)\.(f16|bf16|f32)",
        f'{_C}ptx_cvt<{_CVT}<2>, {_CVT}<3>>("<1>", {{0}}, {{1}})',
    ),
    (rf"cvt(\.r[nz]{_CUT})\.(b?f16|{_SMALL}|ue8m0)x2\.f32", f'{_C}ptx_cvt_two<{_CVT}<2>>("<1>", {{0}}, {{1}}, {{2}})'),
    (rf"cvt(\.rp{_CUT})\.(ue8m0)x2\.f32", f'{_C}ptx_cvt_two<{_CVT}<2>>("<1>", {{0}}, {{1}}, {{2}})'),
    (
        rf"cvt(\.rn\.satfinite{_CUT})\.({_SMALL})x2\.(b?f16)x2",
        f'{_C}ptx_cvt_both<{_CVT}<2>, {_CVT}<3>>("<1>", {{0}}, {{1}})',
    ),
    (rf"cvt(\.r[zp]{_CUT})\.(ue8m0)x2\.(bf16)x2", f'{_C}ptx_cvt_both<{_CVT}<2>, {_CVT}<3>>("<1>", {{0}}, {{1}})'),
    (
        rf"cvt(\.rn{_CUT})\.(b?f16)x2\.({_SMALL}|ue8m0)x2",
        f'{_C}ptx_cvt_both<{_CVT}<2>, {_CVT}<3>>("<1>", {{0}}, {{1}})',
    ),
    (rf"mov\.{_EVERY}", f"{_C}ptx_move({{0}}, {{1}})"),
    (r"mov\.b(16|32|64)", f"{_C}ptx_pack<<1>>({{0}}, {{v1}})"),
    (r"mov\.b(16|32|64)", f"{_C}ptx_unpack<<1>>({{1}}, {{v0}})"),
    (r"cvta\.to\.shared\.u64", "{0} = __cvta_generic_to_shared(reinterpret_cast<const void *>({1}))"),
    (r"shfl\.sync\.bfly\.b32", f"{_C}ptx_move({{0}}, __shfl_xor_sync({{4}}, {{1}}, {{2}}, {_C}ptx_width({{3}})))"),
    (r"shfl\.sync\.down\.b32", f"{_C}ptx_move({{0}}, __shfl_down_sync({{4}}, {{1}}, {{2}}, {_C}ptx_width({{3}})))"),
    (r"shfl\.sync\.up\.b32", f"{_C}ptx_move({{0}}, __shfl_up_sync({{4}}, {{1}}, {{2}}, {_C}ptx_width({{3}})))"),
    (r"shfl\.sync\.idx\.b32", f"{_C}ptx_move({{0}}, __shfl_sync({{4}}, {{1}}, {{2}}, {_C}ptx_width({{3}})))"),
    (r"redux\.sync\.(add|min|max|and|or|xor)\.[usb]32", "{0} = __reduce_<1>_sync({2}, {1})"),
    (r"activemask\.b32", "{0} = __activemask()"),
    (r"bar\.warp\.sync", "__syncwarp({0})"),
    (rf"bar(?:rier)?(?:\.cta)?\.sync{_ALIGNED}", f"{_C}ptx_barrier(__LINE__, {{all}})"),
    (rf"bar(?:rier)?(?:\.cta)?\.arrive{_ALIGNED}", f"{_C}ptx_arrive(__LINE__, {{all}})"),
    (rf"mbarrier\.init{_SHARED}\.b64", f"{_C}ptx_mbarrier_init({{all}})"),
    (rf"mbarrier\.inval{_SHARED}\.b64", "static_cast<void>({0})"),
    (rf"mbarrier\.arrive(?:\.release)?(?:\.cta)?{_SHARED}\.b64", f"{_C}ptx_mbarrier_arrive<false>({{all}})"),
    (rf"mbarrier\.arrive_drop(?:\.release)?(?:\.cta)?{_SHARED}\.b64", f"{_C}ptx_mbarrier_arrive<true>({{all}})"),
    (
        rf"mbarrier\.(?:test|try)_wait(?:\.(parity))?(?:\.acquire)?(?:\.cta)?{_SHARED}\.b64",
        f"{{0}} = {_C}ptx_mbarrier_test_<1>({{1}}, {{2}})",
    ),
    (
        rf"mbarrier\.try_wait(?:\.(parity))?(?:\.acquire)?(?:\.cta)?{_SHARED}\.b64",
        f"static_cast<void>({{3}}), {{0}} = {_C}ptx_mbarrier_test_<1>({{1}}, {{2}})",  # {3}: how long it may sleep
    ),
    (r"elect\.sync", f"{{0}} = __ffs(static_cast<int>(__ballot_sync({{1}}, 1))) - 1 == {_C}lane()"),
    (r"nanosleep\.u32", "__nanosleep({0})"),
    (r"trap", "__trap()"),
    (r"prefetch(?:u)?(?:\.global)?\.L[12](?:::\w+)*", "static_cast<void>({0})"),
    (r"griddepcontrol\.wait", "cudaGridDependencySynchronize()"),
    (r"griddepcontrol\.launch_dependents", "cudaTriggerProgrammaticLaunchCompletion()"),
    (rf"ld\.global(?:\.nc)?{_CACHE}(?:\.v[24])?\.({_EVERY})", f"{_C}ptx_load<{_C}ptx_<1>>({{1}}, {{v0}})"),
    (rf"ld\.global(?:\.nc)?{_CACHE}(?:\.v[24])?\.({_EVERY})", f"{_UNUSED_2}, {_C}ptx_load<{_C}ptx_<1>>({{1}}, {{v0}})"),
    (rf"ld\.shared{_CACHE}(?:\.v[24])?\.({_EVERY})", f"{_C}ptx_load_shared<{_C}ptx_<1>>({{1}}, {{v0}})"),
    (rf"st\.global{_CACHE}(?:\.v[24])?\.({_EVERY})", f"{_C}ptx_store<{_C}ptx_<1>>({{0}}, {{v1}})"),
    (rf"st\.global{_CACHE}(?:\.v[24])?\.({_EVERY})", f"{_UNUSED_2}, {_C}ptx_store<{_C}ptx_<1>>({{0}}, {{v1}})"),
    (rf"st\.shared{_CACHE}(?:\.v[24])?\.({_EVERY})", f"{_C}ptx_store_shared<{_C}ptx_<1>>({{0}}, {{v1}})"),
    (
        r"ldmatrix\.sync\.aligned\.m8n8\.x([124])\.shared(?:::cta)?\.b16",
        f"{_C}ptx_ldmatrix< <1>, false>(__LINE__, {{1}}, {{v0}})",
    ),
    (
        r"ldmatrix\.sync\.aligned\.m8n8\.x([124])\.trans\.shared(?:::cta)?\.b16",
        f"{_C}ptx_ldmatrix< <1>, true>(__LINE__, {{1}}, {{v0}})",
    ),
    (
        r"mma\.sync\.aligned(?:\.kind::f8f6f4)?\.m16n8k(\d+)\.row\.col(\.satfinite)?\.(f32|f16|s32)"
        r"\.(f16|bf16|tf32|s8|u8|e4m3|e5m2)\.(f16|bf16|tf32|s8|u8|e4m3|e5m2)\.\3",
        f"{_C}ptx_mma<{_C}ptx_c_<3>, {_C}ptx_m_<4>, {_C}ptx_m_<5>, <1>, \"<2>\"[0] == '.'>(__LINE__, {{all}})",
    ),
)
SPECIAL = {
    "laneid": f"{_C}lane()",
    "warpid": f"({_C}thread_rank() / 32)",
    "nwarpid": "64",
    "smid": "(blockIdx.x % 132)",
    "nsmid": "132",
    "clock": "static_cast<unsigned int>(clock64())",
    "clock64": "clock64()",
    "globaltimer": "clock64()",
    "lanemask_eq": f"(1u << {_C}lane())",
    "lanemask_lt": f"((1u << {_C}lane()) - 1)",
    "lanemask_le": f"(~0u >> (31 - {_C}lane()))",
    "lanemask_gt": f"~(~0u >> (31 - {_C}lane()))",
    "lanemask_ge": f"(~0u << {_C}lane())",
    **{f"{short}.{axis}": f"{name}.{axis}" for axis in "xyz" for short, name in
       (("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim"))},
}  # fmt: skip
_TO_SHARED = re.compile(
    r"\{ ?\.reg \.u64 (?P<wide>\w+); ?cvta\.to\.shared\.u64 (?P=wide), ?%1; ?cvt\.u32\.u64 %0, ?(?P=wide); ?\}"
)
_INSTRUCTION = re.compile(r"([\w.:]+)(?: ([^;]*))?;?")
_FIELD = re.compile(r"\{(v?\d+|all)\}")
_WORD = re.compile(r"%%?[\w.]+|-?\w+")


def expression(instruction: str, operands: list[str]) -> str | None:
    """The C++ for one instruction; None if the table lacks the instruction or cannot read an operand."""
    if _TO_SHARED.fullmatch(instruction) and len(operands) > 1:
        address = f"__cvta_generic_to_shared(reinterpret_cast<const void *>({operands[1]}))"
        return f"{operands[0]} = static_cast<unsigned int>({address})"
    match = _INSTRUCTION.fullmatch(_without_braces(instruction))
    groups = [[_operand(one, operands) for one in group] for group in _split((match and match[2]) or "")]
    if match is None or any(None in group for group in groups):
        return None
    given = [[one for one in group if one is not None] for group in groups]
    fits = (
        _fill_in(template, name, given)
        for pattern, template in EXPRESSIONS
        if (name := re.fullmatch(pattern, match[1]))
    )
    return next((one for one in fits if one is not None), None)


def _without_braces(instruction: str) -> str:
    """One instruction in a block of its own, without the block."""
    in_block = instruction.startswith("{") and instruction.endswith("}")
    return (instruction[1:-1] if in_block else instruction).strip()


def _fill_in(template: str, name: re.Match[str], groups: list[list[str]]) -> str | None:
    """The template with parts of the instruction's name for `<1>`, and operands for `{0}`; None if they do not fit.

    An operand that the template does not use would be lost: `mov.b64 %0, {%1, %2}` is not a move of %1.
    """
    for number, part in enumerate(name.groups(), 1):
        template = template.replace(f"<{number}>", "state" if part is None else part)
    words = {str(place): group[0] for place, group in enumerate(groups) if len(group) == 1}
    words |= {f"v{place}": ", ".join(group) for place, group in enumerate(groups)}
    words["all"] = ", ".join(one for group in groups for one in group)
    used = set(_FIELD.findall(template))
    left_out = {str(place) for place in range(len(groups))} - {field.removeprefix("v") for field in used}
    if not used <= set(words) or (left_out and "all" not in used):
        return None
    return _FIELD.sub(lambda field: words[field[1]], template)


def _split(text: str) -> list[list[str]]:
    """The operands; each is a list of words, of which a vector has several."""
    found = re.findall(r"\{[^{}]*\}|[^,{}]+", text)
    groups = [[word.strip() for word in one.strip("{}").split(",") if word.strip()] for one in found]
    return [group for group in groups if group]


def _operand(word: str, operands: list[str]) -> str | None:
    """`%0`, `[%1]`, `[%1+16]`, a special register or a number, in C++."""
    inner = word[1:-1].strip() if word.startswith("[") and word.endswith("]") else word
    if inner == "_":
        return f"{_C}PtxSink()"
    place, _, offset = (one.strip() for one in inner.partition("+"))
    if offset and not (offset.isdigit() or offset.startswith("%")):
        return None
    if not _WORD.fullmatch(place):
        return None
    if offset:
        first, more = _operand(place, operands), _operand(offset, operands)
        return None if first is None or more is None else f"{_C}ptx_at({first}, {more})"
    if place.startswith("%%"):
        return SPECIAL.get(place[2:])
    if place.startswith("%"):
        number = place[1:]
        if not number.isdigit():  # as an asm without operands writes it
            return SPECIAL.get(number)
        return operands[int(number)] if int(number) < len(operands) else None
    return place if re.fullmatch(r"-?\d+|0[xX][0-9a-fA-F]+", place) else None
