"""Tensor memory and the products of Blackwell's tensor cores: tcgen05.

Sparse products, loads that reduce, shifts, copies of 4 lanes and copies that unpack have no row.
"""

import re
from collections.abc import Callable, Iterator
from itertools import product

from kfuzz.devices.cpu.ptx.families.memory import point
from kfuzz.devices.cpu.ptx.words import C

_U32 = f"{C}ptx_as<unsigned int>"
_U64 = f"{C}ptx_as<{C}ptx_u64>"
_GROUP = r"cta_group::(?P<group>[12])"
_SHAPES = {
    "32x32b": ("lanes32_bits32", 1), "16x64b": ("lanes16_bits64", 1), "16x128b": ("lanes16_bits128", 2),
    "16x256b": ("lanes16_bits256", 4), "16x32bx2": ("lanes16_bits32_twice", 1),
}  # fmt: skip
"""The shapes of transfers: their C++ names, and the registers of `.x1`."""
_MOST_REGISTERS = 128
_ASKED = "cuda_on_cpu_tensor_asked"


def _transfer(match: re.Match[str]) -> str | None:
    loads, (shape, each) = match["what"] == "ld", _SHAPES[match["shape"]]
    words, is_split = each * int(match["times"]), match["shape"] == "16x32bx2"
    if words > _MOST_REGISTERS or words & (words - 1) or match["packs"] not in (None, "pack" if loads else "unpack"):
        return None
    half = f"{_U32}({{{2 if loads else 1}}})" if is_split else "0"
    registers = "{w0}" if loads else "{v2}" if is_split else "{v1}"
    address = "{a1}" if loads else "{a0}"
    traits = f"{C}TensorShape::{shape}, {words}, {str(bool(match['packs'])).lower()}"
    verb = "load" if loads else "store"
    return f"{C}ptx_tensor_{verb}< {traits}>(__LINE__, {_U32}({address}), {half}, {registers})"


_KINDS = {"f16": 0, "tf32": 0, "f8f6f4": 0, "i8": 0, "mxf8f6f4": 1, "mxf4": 2, "mxf4nvf4": None}
"""The kinds of products, and how many scale factors a row has along k if the name does not say it."""
_SCALES = {"scale_vec::1X": 1, "scale_vec::2X": 2, "scale_vec::4X": 4, "block32": None, "block16": 4}
_DEPTH_IN_BLOCKS_OF_32 = {"mxf8f6f4": 1, "mxf4": 2, "mxf4nvf4": 2}


def _scales_of(name: str, word: str | None) -> int | None:
    """How many scale factors a row has; None if there is no such product."""
    if word is None:
        return _KINDS[name]
    count = _SCALES[word] or _DEPTH_IN_BLOCKS_OF_32.get(name)
    allowed = {"mxf8f6f4": (1,), "mxf4": (2,), "mxf4nvf4": (2, 4)}.get(name, ())
    return count if count in allowed else None


def _products(in_tensor_memory: bool, masks: bool, divides: bool) -> Callable[[re.Match[str]], str | None]:
    """What writes a product: where A lies, whether lanes are disabled, and whether the incoming sums are divided."""

    def write(match: re.Match[str]) -> str | None:
        name, is_scaled = match["kind"], bool(match["scaled"])
        scales = _scales_of(name, match["scales"])
        if scales is None or bool(scales) != is_scaled or (match["ws"] and (is_scaled or match["group"] == "2")):
            return None
        if (masks and (is_scaled or match["ws"])) or (
            divides and (is_scaled or match["ws"] or name in ("i8", "f8f6f4"))
        ):
            return None
        flags = f"{str(match['group'] == '2').lower()}, {str(bool(match['ws'])).lower()}"
        last = 6 if is_scaled else 5 if masks else 4
        return "; ".join((
            f"{C}TensorProduct {_ASKED} = {C}ptx_tensor_product({C}TensorKind::{name}, {scales}, {flags})",
            f"{_ASKED}.sums = {_U32}({{a0}})",
            f"{_ASKED}.a_address = {_U32}({{a1}}); {_ASKED}.a_in_tensor_memory = true"
            if in_tensor_memory
            else f"{_ASKED}.a_at = {_U64}({{1}})",
            f"{_ASKED}.b_at = {_U64}({{2}})",
            f"{_ASKED}.instruction = {_U32}({{3}})",
            *((f"{_ASKED}.a_scales = {_U32}({{a4}}); {_ASKED}.b_scales = {_U32}({{a5}})",) if is_scaled else ()),
            *((f"{C}ptx_disable_lanes({_ASKED}, {{v4}})",) if masks else ()),
            f"{_ASKED}.adds = static_cast<bool>({{{last}}})",
            *((f"{_ASKED}.scale_of_sums = {_U32}({{{last + 1}}})",) if divides else ()),
            f"cuda_on_cpu_tensor_product(&{_ASKED})",
        ))  # fmt: skip

    return write


def _without_mask_of_columns(match: re.Match[str]) -> str | None:
    """`tcgen05.mma.ws` with a mask of columns of B that is 0: none is left out."""
    made = _products(False, False, False)(match) if match["ws"] else None
    return f"static_cast<void>({{5=0}}); {made}" if made else None


def _without_mask_of_columns_and_a_in_tensor_memory(match: re.Match[str]) -> str | None:
    made = _products(True, False, False)(match) if match["ws"] else None
    return f"static_cast<void>({{5=0}}); {made}" if made else None


_COPIES = {
    "128x256b": "lanes128_bits256", "128x128b": "lanes128_bits128", "64x128b.warpx2::02_13": "lanes64_pairs_02_13",
    "64x128b.warpx2::01_23": "lanes64_pairs_01_23", "32x128b.warpx4": "lanes32_fourfold",
}  # fmt: skip


def _copy(match: re.Match[str]) -> str:
    kind = f"static_cast<unsigned int>({C}TensorCopy::{_COPIES[match['shape']]})"
    pair = str(match["group"] == "2").lower()
    return f"cuda_on_cpu_tensor_copy({_U32}({{a0}}), {_U64}({{1}}), {kind}, {pair})"


def _commit(match: re.Match[str]) -> str:
    mask = f"{_U32}({{1}})" if match["many"] else "0"
    return f"cuda_on_cpu_tensor_commit({point(match['space'], 0)}, {mask})"


def _allocate(match: re.Match[str]) -> str:
    return f"cuda_on_cpu_tensor_allocate({point(match['space'], 0)}, {_U32}({{1}}), __LINE__)"


_MMA = (
    rf"tcgen05\.mma(?P<ws>\.ws)?\.{_GROUP}\.kind::(?P<kind>{'|'.join(_KINDS)})(?P<scaled>\.block_scale)?"
    rf"(?:\.(?P<scales>{'|'.join(_SCALES)}))?(?:\.collector::(?:a|b[0-3])::(?:fill|use|lastuse|discard))?"
)


def _rows_of_products() -> Iterator[tuple[str, Callable[[re.Match[str]], str | None]]]:
    for in_tensor_memory, masks, divides in product((False, True), repeat=3):
        yield _MMA, _products(in_tensor_memory, masks, divides)
    yield _MMA, _without_mask_of_columns
    yield _MMA, _without_mask_of_columns_and_a_in_tensor_memory


ROWS = (
    *_rows_of_products(),
    (
        rf"tcgen05\.(?P<what>ld|st)\.sync\.aligned\.(?P<shape>{'|'.join(_SHAPES)})\.x(?P<times>\d+)"
        r"(?:\.(?P<packs>pack|unpack)::16b)?\.b32",
        _transfer,
    ),
    (r"tcgen05\.wait::ld\.sync\.aligned", "cuda_on_cpu_tensor_wait(true)"),
    (r"tcgen05\.wait::st\.sync\.aligned", "cuda_on_cpu_tensor_wait(false)"),
    (r"tcgen05\.fence::before_thread_sync", "cuda_on_cpu_tensor_fence(true)"),
    (r"tcgen05\.fence::after_thread_sync", "cuda_on_cpu_tensor_fence(false)"),
    (rf"tcgen05\.cp\.{_GROUP}\.(?P<shape>{'|'.join(_COPIES)})", _copy),
    (
        rf"tcgen05\.commit\.{_GROUP}\.mbarrier::arrive::one(?:\.(?P<space>shared::cluster))?"
        r"(?P<many>\.multicast::cluster)?\.b64",
        _commit,
    ),
    (rf"tcgen05\.alloc\.{_GROUP}\.sync\.aligned(?:\.(?P<space>shared::cta))?\.b32", _allocate),
    (
        rf"tcgen05\.dealloc\.{_GROUP}\.sync\.aligned\.b32",
        f"cuda_on_cpu_tensor_free({_U32}({{0}}), {_U32}({{1}}), __LINE__)",
    ),
    (rf"tcgen05\.relinquish_alloc_permit\.{_GROUP}\.sync\.aligned", "cuda_on_cpu_tensor_relinquish(__LINE__)"),
)
