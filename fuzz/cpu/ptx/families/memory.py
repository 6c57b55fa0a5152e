"""Loads, stores, atomics, copies, and hints for caches."""

import re

from kfuzz.cpu.ptx.words import TYPES, C

_SCOPE = r"(?P<scope>cta|cluster|gpu|sys)"
_SPACE = r"(?:\.(?P<space>global|shared(?:::cta|::cluster)?|const))?"
_EVICT = (
    r"(?:L1::(?:evict_(?:normal|unchanged|first|last)|no_allocate)|L2::(?:evict_(?:normal|first|last)|(?:64|128|256)B))"
)
_HINT = r"(?P<hint>\.L2::cache_hint)?"
_TYPE = r"(?P<type>[bus](?:8|16|32|64)|f(?:32|64))"
_FRESH = (".cg", ".cv", ".wt")
"""Past the cache that other multiprocessors do not see."""
_POINTS = {"global": "generic", "const": "generic", "shared::cluster": "cluster_shared"}


def point(space: str | None, place: int) -> str:
    """A pointer to the address in an operand's brackets."""
    name = _POINTS.get(space or "global", "shared")
    return f"{C}ptx_{name}({{a{place}}})"


def _unused(match: re.Match[str], place: int) -> str:
    """A cache policy: it changes how fast an access is, not what it does."""
    return f"; static_cast<void>({{{place}}})" if match["hint"] else ""


def _load(match: re.Match[str]) -> str | None:
    if match["nc"] and match["space"] != "global":
        return None
    fresh = str(match["cache"] in _FRESH or bool(match["volatile"])).lower()
    called = f"{C}ptx_load<{TYPES[match['type']]}, {fresh}>({point(match['space'], 1)}, {{v0}})"
    return called + _unused(match, 2) if _fits(match) else None


def _store(match: re.Match[str]) -> str | None:
    fresh = str(match["cache"] in _FRESH or bool(match["volatile"])).lower()
    called = f"{C}ptx_store<{TYPES[match['type']]}, {fresh}>({point(match['space'], 0)}, {{v1}})"
    return called + _unused(match, 2) if _fits(match) else None


def _fits(match: re.Match[str]) -> bool:
    """At most 16 bytes at once."""
    bits = int(re.sub(r"\D", "", match["type"]))
    return bits * int(match["vector"] or 1) <= 128


def _ordered(match: re.Match[str]) -> str:
    gives = match["what"] == "ld"
    of_block = str(match["scope"] == "cta").lower()
    strong = str(match["order"] in ("acquire", "release")).lower()
    kind = TYPES[match["type"]]
    if gives:
        traits = f"{C}ptx_load_traits({strong}, {of_block})"
        called = f"{C}ptx_load_atomic<{kind}>({traits}, {point(match['space'], 1)}, {{v0}})"
    else:
        traits = f"{C}ptx_store_traits({strong}, {of_block})"
        called = f"{C}ptx_store_atomic<{kind}>({traits}, {point(match['space'], 0)}, {{v1}})"
    return called + _unused(match, 2)


_ATOMIC_TYPES = {
    "add": ("u32", "s32", "u64", "s64", "f32", "f64", "f16", "f16x2", "bf16", "bf16x2"),
    "min": ("u32", "s32", "u64", "s64"), "max": ("u32", "s32", "u64", "s64"),
    "inc": ("u32",), "dec": ("u32",), "exch": ("b32", "b64"), "cas": ("b16", "b32", "b64"),
    "and": ("b32", "b64"), "or": ("b32", "b64"), "xor": ("b32", "b64"),
}  # fmt: skip


def _atomic(match: re.Match[str]) -> str | None:
    """An atomic with or without a result; 16-bit floats always keep subnormal numbers."""
    what, kind, gives = match["does"], match["type"], match["what"] == "atom"
    if (
        kind not in _ATOMIC_TYPES[what]
        or bool(match["noftz"]) != ("f16" in kind)
        or (what in ("exch", "cas") and not gives)
    ):
        return None
    swaps = str(what == "cas").lower()
    of_block = str(match["scope"] == "cta").lower()
    traits = f"{C}ptx_update({C}ptx_order_{match['order'] or ''}, {of_block}, {swaps})"
    first = int(gives)
    values = ", ".join(f"{{{first + 1 + i}}}" for i in range(2 if what == "cas" else 1))
    number = f"{C}ptx_{kind}" if "f16" in kind else TYPES[kind]
    result = "{0}" if gives else f"{C}PtxSink()"
    called = f"{C}ptx_atom_{what}<{number}>({traits}, {result}, {point(match['space'], first)}, {values})"
    return called + _unused(match, first + (3 if what == "cas" else 2))


def _red_vector(match: re.Match[str]) -> str | None:
    kind = match["type"]
    if bool(match["noftz"]) != ("f16" in kind):
        return None
    of_block = str(match["scope"] == "cta").lower()
    number = f"{C}ptx_{kind}" if "f16" in kind else TYPES[kind]
    traits = f"{C}ptx_update({C}ptx_order_{match['order'] or ''}, {of_block}, false)"
    return f"{C}ptx_red_vector<{number}>({traits}, {point('global', 0)}, {{v1}})" + _unused(match, 2)


_ORDERED = rf"\.(?P<order>relaxed|acquire|release)\.{_SCOPE}{_SPACE}(?:\.{_EVICT})*{_HINT}(?:\.L2::(?:64|128|256)B)?"
_VECTOR = r"(?:\.v(?P<vector>[24]))?"
_COPY = r"cp\.async\.c[ag]\.shared(?:::cta)?\.global"
_COPIED = f"{C}ptx_cp_async({C}ptx_shared({{a0}}), {C}ptx_generic({{a1}}), {C}ptx_as<unsigned int>({{2}})"
ROWS = (
    (
        rf"ld(?:\.weak|(?P<volatile>\.volatile))?{_SPACE}(?P<cache>\.ca|\.cg|\.cs|\.lu|\.cv)?(?P<nc>\.nc)?"
        rf"(?:\.{_EVICT})*{_HINT}(?:\.L2::(?:64|128|256)B)?{_VECTOR}\.{_TYPE}",
        _load,
    ),
    (
        rf"st(?:\.weak|(?P<volatile>\.volatile))?{_SPACE}(?P<cache>\.wb|\.cg|\.cs|\.wt)?"
        rf"(?:\.{_EVICT})*{_HINT}{_VECTOR}\.{_TYPE}",
        _store,
    ),
    (rf"(?P<what>ld)(?!\.release){_ORDERED}{_VECTOR}\.{_TYPE}", _ordered),
    (rf"(?P<what>st)(?!\.acquire){_ORDERED}{_VECTOR}\.{_TYPE}", _ordered),
    (
        rf"(?P<what>atom|red)(?:\.(?P<order>relaxed|acquire|release|acq_rel))?(?:\.{_SCOPE})?{_SPACE}"
        rf"\.(?P<does>add|min|max|inc|dec|exch|cas|and|or|xor)(?P<noftz>\.noftz)?{_HINT}"
        rf"\.(?P<type>[bus](?:16|32|64)|f(?:32|64)|b?f16(?:x2)?)",
        _atomic,
    ),
    (
        rf"red(?:\.(?P<order>relaxed|release))?(?:\.{_SCOPE})?\.global\.add(?P<noftz>\.noftz)?{_HINT}"
        rf"\.v[248]\.(?P<type>f32|b?f16(?:x2)?)",
        _red_vector,
    ),
    (rf"{_COPY}(?:\.L2::(?:64|128|256)B)?", f"{_COPIED})"),
    (rf"{_COPY}(?:\.L2::(?:64|128|256)B)?", f"{_COPIED}, {{3}})"),
    (rf"{_COPY}\.L2::cache_hint(?:\.L2::(?:64|128|256)B)?", f"{_COPIED}); static_cast<void>({{3}})"),
    (rf"{_COPY}\.L2::cache_hint(?:\.L2::(?:64|128|256)B)?", f"{_COPIED}, {{3}}); static_cast<void>({{4}})"),
    (r"cp\.async\.commit_group", "cuda_on_cpu_async_commit()"),
    (r"cp\.async\.wait_all", "cuda_on_cpu_async_wait(0)"),
    (r"cp\.async\.wait_group", f"cuda_on_cpu_async_wait({C}ptx_as<unsigned int>({{0}}))"),
    (r"prefetch(?:u)?(?:\.global)?\.L[12](?:::evict_(?:last|normal))?", "static_cast<void>({a0})"),
    (r"createpolicy\.fractional(?:\.L2::\w+){1,2}\.b64", f"{C}ptx_put({{0}}, {C}ptx_u64{{}})"),
    (
        r"createpolicy\.fractional(?:\.L2::\w+){1,2}\.b64",
        f"static_cast<void>({{1}}); {C}ptx_put({{0}}, {C}ptx_u64{{}})",
    ),
    (r"applypriority(?:\.global)?\.L2::evict_normal", "static_cast<void>({a0}), static_cast<void>({1})"),
)
