"""Loads, stores, atomics, copies, and hints for caches."""

import re

from kfuzz.devices.cpu.ptx.words import TYPES, C

_SCOPE = r"(?P<scope>cta|cluster|gpu|sys)"
_SPACE = r"(?:\.(?P<space>global|shared(?:::cta|::cluster)?))?"
_HINT = r"(?P<hint>\.L2::cache_hint)?"
_MODIFIERS = {
    "order": r"weak|volatile|relaxed|acquire|release",
    "scope": r"cta|cluster|gpu|sys",
    "space": r"global|shared(?:::cta|::cluster)?|const|local|param(?:::entry|::func)?",
    "cache": r"ca|cg|cs|lu|cv|wb|wt",
    "nc": r"nc",
    "first": r"L1::(?:evict_(?:normal|unchanged|first|last)|no_allocate)",
    "second": r"L2::evict_(?:normal|first|last)",
    "hint": r"L2::cache_hint",
    "ahead": r"L2::(?:64|128|256)B",
    "vector": r"v[248]",
    "type": r"[bus](?:8|16|32|64)|f(?:32|64)|b128",
}
"""The words after `ld` and `st`, which people write in any order; each at most once."""
_FRESH = ("cg", "cv", "wt")
"""Past the cache that other multiprocessors do not see."""
_POINTS = {
    "shared": "shared",
    "shared::cta": "shared",
    "shared::cluster": "cluster_shared",
    "local": "local",
    "const": "const",
}
_LARGEST = 32
"""Bytes that one instruction loads or stores at most."""


def point(space: str | None, place: int) -> str:
    """A pointer to the address in an operand's brackets."""
    name = _POINTS.get(space or "", "generic")
    return f"{C}ptx_{name}({{a{place}}})"


def _unused(hint: str | None, place: int) -> str:
    """A cache policy: it changes how fast an access is, not what it does."""
    return f"; static_cast<void>({{{place}}})" if hint else ""


def read_modifiers(words: str) -> dict[str, str] | None:
    """The modifiers of a load or store by their meaning; None if one is unknown, or two have one meaning."""
    found: dict[str, str] = {}
    for word in words.split("."):
        meaning = next((one for one, pattern in _MODIFIERS.items() if re.fullmatch(pattern, word)), None)
        if meaning is None or meaning in found:
            return None
        found[meaning] = word
    return found


def _access(match: re.Match[str]) -> str | None:
    """A load or a store, plain or with an order."""
    loads, modifiers = match["what"] == "ld", read_modifiers(match["words"])
    if modifiers is None or "type" not in modifiers:
        return None
    order, strong = modifiers.get("order", "weak"), "acquire" if loads else "release"
    is_atomic = order in ("relaxed", strong)
    of_call = modifiers.get("space", "").startswith("param")
    plain_alone = of_call or {"cache", "nc", "const"} & {*modifiers, *modifiers.values()}
    if (
        is_atomic != ("scope" in modifiers)
        or (order in ("acquire", "release") and order != strong)
        or (order != "weak" and plain_alone)
        or ("nc" in modifiers and (not loads or modifiers.get("space") != "global"))
        or (modifiers.get("cache") in ("ca", "lu", "cv") and not loads)
        or (modifiers.get("cache") in ("wb", "wt") and loads)
        or ("ahead" in modifiers and not loads)
    ):
        return None
    bits, count = int(modifiers["type"].strip("busf")), int(modifiers.get("vector", "v1")[1:])
    if bits * count > 8 * _LARGEST:
        return None
    kind, place = TYPES[modifiers["type"]], point(modifiers.get("space"), int(loads))
    what, words = ("load", "{v0}") if loads else ("store", "{v1}")
    if is_atomic:
        of_block = str(modifiers["scope"] == "cta").lower()
        traits = f"{C}ptx_{what}_traits({str(order == strong).lower()}, {of_block})"
        made = f"{C}ptx_{what}_atomic<{kind}, {count}>({traits}, {place}, {words})"
    elif of_call:
        made = f"{C}ptx_{what}_parameter<{kind}, {count}>({place}, {words})"
    else:
        fresh = str(modifiers.get("cache") in _FRESH or order == "volatile").lower()
        made = f"{C}ptx_{what}<{kind}, {count}, {fresh}>(__LINE__, {place}, {words})"
    return made + _unused(modifiers.get("hint"), 2)


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
    return called + _unused(match["hint"], first + (3 if what == "cas" else 2))


def _vector_of_sums(match: re.Match[str]) -> str | None:
    kind, first = match["type"], int(match["what"] == "atom")
    if bool(match["noftz"]) != ("f16" in kind):
        return None
    of_block = str(match["scope"] == "cta").lower()
    number = f"{C}ptx_{kind}" if "f16" in kind else TYPES[kind]
    traits = f"{C}ptx_update({C}ptx_order_{match['order'] or ''}, {of_block}, false)"
    place, values = point("global", first), f"{{v{first + 1}}}"
    called = (
        f"{C}ptx_atom_vector<{number}>({traits}, {place}, {C}ptx_addends<{number}>({values}), {{v0}})"
        if first
        else f"{C}ptx_red_vector<{number}>({traits}, {place}, {values})"
    )
    return called + _unused(match["hint"], first + 2)


_ATOMIC_TYPE = r"(?P<type>[bus](?:16|32|64)|f(?:32|64)|b?f16(?:x2)?)"
_VECTOR_TYPE, _ORDER = r"(?P<type>f32|b?f16(?:x2)?)", r"(?P<order>relaxed|acquire|release|acq_rel)"
_COPY = r"cp\.async\.c[ag]\.shared(?:::cta)?\.global"
_COPIED = f"{C}ptx_cp_async({C}ptx_shared({{a0}}), {C}ptx_generic({{a1}}), {C}ptx_as<unsigned int>({{2}})"
COUNTS = True
ROWS = (
    (r"(?P<what>ld|st)\.(?P<words>(?!async|bulk)[\w.:]+)", _access),
    (
        rf"(?P<what>atom|red)(?:\.(?P<order>relaxed|acquire|release|acq_rel))?(?:\.{_SCOPE})?{_SPACE}"
        rf"\.(?P<does>add|min|max|inc|dec|exch|cas|and|or|xor)(?P<noftz>\.noftz)?{_HINT}"
        rf"\.{_ATOMIC_TYPE}",
        _atomic,
    ),
    (  # the operation may also come first
        rf"(?P<what>atom|red)\.(?P<does>add|min|max|inc|dec|exch|cas|and|or|xor)"
        rf"\.(?P<order>relaxed|acquire|release|acq_rel)(?:\.{_SCOPE})?{_SPACE}(?P<noftz>\.noftz)?{_HINT}\.{_ATOMIC_TYPE}",
        _atomic,
    ),
    (  # or the order last, which nvcc leaves out of the atomics of a block
        rf"(?P<what>atom|red){_SPACE}\.{_SCOPE}(?:\.(?P<order>relaxed|acquire|release|acq_rel))?"
        rf"\.(?P<does>add|min|max|inc|dec|exch|cas|and|or|xor)(?P<noftz>\.noftz)?{_HINT}\.{_ATOMIC_TYPE}",
        _atomic,
    ),
    (  # or the space first, as Triton writes it
        rf"(?P<what>atom|red)\.(?P<space>global|shared(?:::cta|::cluster)?)\.(?P<order>relaxed|acquire|release|acq_rel)"
        rf"\.{_SCOPE}\.(?P<does>add|min|max|inc|dec|exch|cas|and|or|xor)(?P<noftz>\.noftz)?{_HINT}\.{_ATOMIC_TYPE}",
        _atomic,
    ),
    (  # ptxas takes the space before the scope, too; what is asynchronous about it is only that no thread waits
        rf"(?P<what>red)(?:\.async)?\.(?P<order>release)\.(?P<space>global)\.{_SCOPE}\.(?P<does>add)(?P<noftz>)(?P<hint>)"
        r"\.(?P<type>[us](?:32|64))",
        _atomic,
    ),
    *(
        (rf"(?P<what>atom|red){words}\.add(?P<noftz>\.noftz)?{_HINT}\.v[248]\.{_VECTOR_TYPE}", _vector_of_sums)
        for words in (rf"(?:\.{_ORDER})?(?:\.{_SCOPE})?\.global", rf"\.global\.{_SCOPE}(?:\.{_ORDER})?")
    ),
    (
        r"st\.bulk(?:\.weak)?(?:\.(?P<space>shared::cta))?",
        lambda match: f"{C}ptx_store_bulk(__LINE__, {point(match['space'], 0)}, {C}ptx_as<{C}ptx_u64>({{1}}), {{2}})",
    ),
    (rf"{_COPY}(?:\.L2::(?:64|128|256)B)?", f"{_COPIED})"),
    (rf"{_COPY}(?:\.L2::(?:64|128|256)B)?", f"{_COPIED}, {{3}})"),
    (rf"{_COPY}\.L2::cache_hint(?:\.L2::(?:64|128|256)B)?", f"{_COPIED}); static_cast<void>({{3}})"),
    (rf"{_COPY}\.L2::cache_hint(?:\.L2::(?:64|128|256)B)?", f"{_COPIED}, {{3}}); static_cast<void>({{4}})"),
    (r"cp\.async\.commit_group", "cuda_on_cpu_async_commit()"),
    (r"cp\.async\.wait_all", "cuda_on_cpu_async_commit(); cuda_on_cpu_async_wait(0)"),  # copies in no batch, too
    (r"cp\.async\.wait_group", f"cuda_on_cpu_async_wait({C}ptx_as<unsigned int>({{0}}))"),
    (r"prefetch(?:u)?(?:\.global)?\.L[12](?:::evict_(?:last|normal))?", "static_cast<void>({a0})"),
    (r"createpolicy\.fractional(?:\.L2::\w+){1,2}\.b64", f"{C}ptx_put({{0}}, {C}ptx_u64{{}})"),
    (
        r"createpolicy\.fractional(?:\.L2::\w+){1,2}\.b64",
        f"static_cast<void>({{1}}); {C}ptx_put({{0}}, {C}ptx_u64{{}})",
    ),
    (r"applypriority(?:\.global)?\.L2::evict_normal", "static_cast<void>({a0}), static_cast<void>({1})"),
)
