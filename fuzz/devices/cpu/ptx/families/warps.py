"""What the threads of a warp do together, and what a thread does by itself: sleep, trap."""

from kfuzz.devices.cpu.ptx.words import C

_U32 = f"{C}ptx_as<unsigned int>"

COUNTS = True
ROWS = (
    (
        r"shfl\.sync\.(up|down|bfly|idx)\.b32",
        f"{C}ptx_shfl<{C}ptx_b32, {C}Shuffle::<1>>(__LINE__, {{0}}, {{p0}}, {{1}}, {{2}}, {{3}}, {_U32}({{4}}))",
    ),
    (r"vote\.sync\.(all|any)\.pred", f"{C}ptx_put({{0}}, __<1>_sync({_U32}({{2}}), {{1}}) != 0)"),
    (r"vote\.sync\.uni\.pred", f"{C}ptx_vote_uni(__LINE__, {{0}}, {{1}}, {_U32}({{2}}))"),
    (r"vote\.sync\.ballot\.b32", f"{C}ptx_put({{0}}, __ballot_sync({_U32}({{2}}), {{1}}))"),
    (r"match\.any\.sync\.(b32|b64)", f"{C}ptx_match_any<{C}ptx_<1>>(__LINE__, {{0}}, {{1}}, {_U32}({{2}}))"),
    (r"match\.all\.sync\.(b32|b64)", f"{C}ptx_match_all<{C}ptx_<1>>(__LINE__, {{0}}, {{p0}}, {{1}}, {_U32}({{2}}))"),
    (
        r"redux\.sync\.(add|min|max)\.([us]32)",
        f"{C}ptx_put({{0}}, __reduce_<1>_sync({_U32}({{2}}), {C}ptx_as<{C}ptx_<2>>({{1}})))",
    ),
    (r"redux\.sync\.(and|or|xor)\.b32", f"{C}ptx_put({{0}}, __reduce_<1>_sync({_U32}({{2}}), {_U32}({{1}})))"),
    (r"elect\.sync", f"{C}ptx_elect(__LINE__, {{0}}, {{p0}}, {_U32}({{1}}))"),
    (r"activemask\.b32", f"{C}ptx_put({{0}}, __activemask())"),
    (r"nanosleep\.u32", f"__nanosleep({_U32}({{0}}))"),
    (
        r"redux\.sync\.(min|max)(?P<abs>\.abs)?(?P<nan>\.NaN)?\.f32",
        lambda match: (
            f"{C}ptx_redux_{match[1]}<{str(bool(match['nan'])).lower()}, {str(bool(match['abs'])).lower()}>"
            f"(__LINE__, {{0}}, {{1}}, {_U32}({{2}}))"
        ),
    ),
    (r"trap|brkpt", "__trap()"),  # without a debugger a breakpoint ends the kernel, too
)
