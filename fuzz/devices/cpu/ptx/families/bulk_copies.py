"""Bulk copies and reductions, of bytes and of boxes of tensors; groups of them; the fences between proxies.

Copies of boxes are tiled: im2col, gather4 and scatter4 have no row.
"""

import re

from kfuzz.devices.cpu.ptx.families.memory import point
from kfuzz.devices.cpu.ptx.words import C

_U32 = f"{C}ptx_as<unsigned int>"
_BYTES = r"\.mbarrier::complete_tx::bytes"
_HINT = r"(?P<hint>\.L2::cache_hint)?"
_AXES = r"\.(?P<axes>[1-5])d"
_GROUP = r"\.bulk_group"
_REDUCTION = r"\.(?P<op>add|min|max|inc|dec|and|or|xor)(?P<noftz>\.noftz)?\.(?P<type>[usb](?:32|64)|f(?:32|64)|b?f16)"
_TYPES = {
    "add": ("u32", "s32", "u64", "f32", "f64", "f16", "bf16"),
    "min": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "max": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "inc": ("u32",), "dec": ("u32",), "and": ("b32", "b64"), "or": ("b32", "b64"), "xor": ("b32", "b64"),
}  # fmt: skip
_COPY = f"{C}bulk_copy, {C}bulk_bytes"


def _hinted(match: re.Match[str], call: str, place: int) -> str:
    """A cache policy changes how fast a copy is, not what it does."""
    return f"static_cast<void>({{{place}}}); {call}" if match["hint"] else call


def _load(match: re.Match[str]) -> str:
    mask = f"{_U32}({{4}})" if match["many"] else "0"
    places = f"{point(match['to'], 0)}, {point(match['from'], 1)}, {_U32}({{2}}), {point(match['to'], 3)}"
    return _hinted(match, f"cuda_on_cpu_bulk_load({places}, {mask}, {_COPY})", 5 if match["many"] else 4)


def _store(match: re.Match[str]) -> str:
    places = f"{point('global', 0)}, {point('shared', 1)}, {_U32}({{2}})"
    return _hinted(match, f"cuda_on_cpu_bulk_store({places}, {_COPY})", 3)


def _operation(match: re.Match[str]) -> str | None:
    """The reduction and its type; None if there is none of this type."""
    op, kind = match["op"], match["type"]
    if kind not in _TYPES[op] or bool(match["noftz"]) != (op == "add" and kind in ("f16", "bf16")):
        return None
    return f"{C}bulk_{op}, {C}bulk_{'bytes' if kind.startswith('b') and kind != 'bf16' else kind}"


def _reduce_global(match: re.Match[str]) -> str | None:
    operation = _operation(match)
    places = f"{point('global', 0)}, {point('shared', 1)}, {_U32}({{2}})"
    return _hinted(match, f"cuda_on_cpu_bulk_store({places}, {operation})", 3) if operation else None


def _reduce_shared(match: re.Match[str]) -> str | None:
    operation = None if match["type"].startswith("f") or "f16" in match["type"] else _operation(match)
    cluster = "shared::cluster"
    places = f"{point(cluster, 0)}, {point('shared', 1)}, {_U32}({{2}}), {point(cluster, 3)}"
    return f"cuda_on_cpu_bulk_load({places}, 0, {operation})" if operation else None


def _load_box(match: re.Match[str]) -> str:
    mask = f"{_U32}({{3}})" if match["many"] else "0"
    places = f"{point(match['to'], 0)}, {C}ptx_generic({{a1}}), {point(match['to'], 2)}, {mask}, {{c1}}"
    return _hinted(match, f"{C}ptx_box_load<{match['axes']}u>({places})", 4 if match["many"] else 3)


def _store_box(match: re.Match[str]) -> str:
    operation = f"{C}bulk_{match.groupdict().get('op') or 'copy'}"
    places = f"{C}ptx_generic({{a0}}), {point('shared', 1)}, {operation}, {{c0}}"
    return _hinted(match, f"{C}ptx_box_store<{match['axes']}u>({places})", 2)


def _prefetch_box(match: re.Match[str]) -> str:
    return _hinted(match, f"{C}ptx_box_prefetch<{match['axes']}u>({C}ptx_generic({{a0}}), {{c0}})", 1)


def _fence(*memory: str) -> str:
    return f"cuda_on_cpu_proxy_fence({' | '.join(f'{C}fence_{one}' for one in memory)})"


def _with_tile(word: str) -> str:
    """People write .tile before the word or after it."""
    return rf"(?:(?:\.tile)?{word}|{word}\.tile)"


_FIELDS = {
    "global_address": ("start", "b64"), "rank": ("rank", "b32"), "elemtype": ("type", "b32"),
    "interleave_layout": ("interleave", "b32"), "swizzle_mode": ("swizzle", "b32"), "fill_mode": ("fill", "b32"),
    "global_dim": ("size", "b32"), "global_stride": ("stride", "b64"), "box_dim": ("box", "b32"),
    "element_stride": ("step", "b32"),
}  # fmt: skip
"""The fields of a tensor map that a kernel may replace here, and the type of the new value."""
_OF_AXES = ("size", "stride", "box", "step")


def _replace(match: re.Match[str]) -> str | None:
    name, kind = _FIELDS[match["field"]]
    if match["type"] != kind:
        return None
    has_axis = name in _OF_AXES
    axis, value = (f"{_U32}({{1}})", "{2}") if has_axis else ("0", "{1}")
    given = f"{point(match['space'], 0)}, {C}map_{name}, {axis}, {C}ptx_as<{C}ptx_u{kind[1:]}>({value}), __LINE__"
    return f"cuda_on_cpu_map_replace({given})"


_SCOPE = r"\.(?:cta|cluster|gpu|sys)"
_MANY = r"(?P<many>\.multicast::cluster)?"
_TO = r"\.(?P<to>shared::(?:cta|cluster))"
ROWS = (
    (rf"cp\.async\.bulk{_TO}\.(?P<from>global){_BYTES}{_MANY}{_HINT}", _load),
    (rf"cp\.async\.bulk\.(?P<to>shared::cluster)\.(?P<from>shared::cta){_BYTES}(?P<many>)(?P<hint>)", _load),
    (rf"cp\.async\.bulk\.global\.shared::cta{_GROUP}{_HINT}", _store),
    (rf"cp\.reduce\.async\.bulk\.global\.shared::cta{_GROUP}{_HINT}{_REDUCTION}", _reduce_global),
    (rf"cp\.reduce\.async\.bulk\.shared::cluster\.shared::cta{_BYTES}{_REDUCTION}", _reduce_shared),
    (
        rf"cp\.async\.bulk\.prefetch\.L2\.global{_HINT}",
        lambda match: _hinted(match, f"cuda_on_cpu_bulk_prefetch({point('global', 0)}, {_U32}({{1}}))", 2),
    ),
    (rf"cp\.async\.bulk\.tensor{_AXES}{_TO}\.global{_with_tile(_BYTES)}{_MANY}{_HINT}", _load_box),
    (rf"cp\.async\.bulk\.tensor{_AXES}\.global\.shared::cta{_with_tile(_GROUP)}{_HINT}", _store_box),
    (
        rf"cp\.reduce\.async\.bulk\.tensor{_AXES}\.global\.shared::cta\.(?P<op>add|min|max|inc|dec|and|or|xor)"
        rf"(?:\.tile)?{_GROUP}{_HINT}",
        _store_box,
    ),
    (rf"cp\.async\.bulk\.prefetch\.tensor{_AXES}\.L2\.global(?:\.tile)?{_HINT}", _prefetch_box),
    (r"prefetch(?:\.(?:param|const))?\.tensormap", "static_cast<void>({a0})"),
    (r"cp\.async\.bulk\.commit_group", "cuda_on_cpu_bulk_commit()"),
    (r"cp\.async\.bulk\.wait_group", f"cuda_on_cpu_bulk_wait({_U32}({{0}}), false)"),
    (r"cp\.async\.bulk\.wait_group\.read", f"cuda_on_cpu_bulk_wait({_U32}({{0}}), true)"),
    (r"fence\.proxy\.async", _fence("async_shared", "async_global")),
    (r"fence\.proxy\.async\.global", _fence("async_global")),
    (r"fence\.proxy\.async\.shared::(?:cta|cluster)", _fence("async_shared")),
    (r"fence\.proxy\.alias", "static_cast<void>(0)"),
    (rf"fence\.proxy\.tensormap::generic\.release{_SCOPE}", _fence("map_release")),
    (
        rf"fence\.proxy\.tensormap::generic\.acquire{_SCOPE}",
        f"cuda_on_cpu_map_acquire({C}ptx_generic({{a0}})); static_cast<void>({{1=128}})",
    ),
    (
        rf"tensormap\.replace\.tile\.(?P<field>{'|'.join(_FIELDS)})(?:\.(?P<space>global|shared::cta))?"
        r"\.b1024\.(?P<type>b32|b64)",
        _replace,
    ),
    (
        rf"tensormap\.cp_fenceproxy\.global\.shared::cta\.tensormap::generic\.release{_SCOPE}\.sync\.aligned",
        f"{C}ptx_publish_map(__LINE__, {point('global', 0)}, {point('shared', 1)}); static_cast<void>({{2=128}})",
    ),
    (r"fence\.mbarrier_init\.release\.cluster", "cuda_on_cpu_fence_of_inits()"),
)
