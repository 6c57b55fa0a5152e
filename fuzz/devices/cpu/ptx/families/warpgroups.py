"""Products of warpgroups: wgmma, and how many registers a warpgroup's threads have.

Those of single bits have no row.
"""

import re
from collections.abc import Callable, Sequence
from itertools import product

from kfuzz.devices.cpu.ptx.words import C

_BEGIN = r"wgmma\.mma_async(?P<sparse>\.sp)?\.sync\.aligned\.m64n(?P<n>\d+)k(?P<k>\d+)"
_DEPTHS = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32}
"""How many elements of k a product has, and half of those of a sparse one."""
_U32 = f"{C}ptx_as<unsigned int>"
_TYPES = (
    r"\.(?P<d>f16|f32)\.(?P<a>f16)\.(?P<b>f16)",
    r"\.(?P<d>f32)\.(?P<a>bf16)\.(?P<b>bf16)",
    r"\.(?P<d>f32)\.(?P<a>tf32)\.(?P<b>tf32)",
    r"\.(?P<d>f16|f32)\.(?P<a>e4m3|e5m2)\.(?P<b>e4m3|e5m2)",
    r"(?P<clamps>\.satfinite)?\.(?P<d>s32)\.(?P<a>[su]8)\.(?P<b>[su]8)(?P<clamps_too>\.satfinite)?",
)
_ASKED = "cuda_on_cpu_wgmma_asked"


def _flags_of(match: re.Match[str], in_registers: bool) -> Sequence[str]:
    """The words after whether the sums are added to: signs of factors, and which of A and B lie by columns."""
    signs = () if match["d"] == "s32" else ("negates_a", "negates_b")
    orders = () if "16" not in match["a"] else ("b_by_column",) if in_registers else ("a_by_column", "b_by_column")
    return (*signs, *orders)


def _product(in_registers: bool) -> Callable[[re.Match[str]], str | None]:
    """What writes a product whose A lies in registers, or in shared memory."""

    def write(match: re.Match[str]) -> str | None:
        columns, sums, groups = int(match["n"]), match["d"], match.groupdict()
        if int(match["k"]) != _DEPTHS[match["a"]] * (2 if match["sparse"] else 1):
            return None
        if not 8 <= columns <= 256 or columns % (16 if sums == "s32" and columns > 32 else 8):
            return None
        kinds = ", ".join(f"{C}TensorType::{match[name]}" for name in ("a", "b", "d"))
        a = f"{C}ptx_a_in_registers({_ASKED}, {{r1}})" if in_registers else f"{_ASKED}.a_at = {{1}}"
        next_place = 5 if match["sparse"] else 3
        sparse = f"{_ASKED}.is_sparse = true; {_ASKED}.metadata = {_U32}({{3}}); {_ASKED}.selector = {_U32}({{4}})"
        flags = (
            f"{_ASKED}.{name} = {C}ptx_flag< {str('negates' in name).lower()}>({{{place}}})"
            for place, name in enumerate(_flags_of(match, in_registers), next_place + 1)
        )
        words = columns // (4 if sums == "f16" else 2)
        return "; ".join((
            f"{C}Wgmma {_ASKED} = {C}ptx_product< {words}>({kinds}, {columns}, {{r0}})",
            *((f"{_ASKED}.clamps = true",) if groups.get("clamps") or groups.get("clamps_too") else ()),
            a,
            f"{_ASKED}.b_at = {{2}}",
            *((sparse,) if match["sparse"] else ()),
            f"{_ASKED}.adds = static_cast<bool>({{{next_place}}})",
            *flags,
            f"cuda_on_cpu_wgmma(&{_ASKED}, __LINE__)",
        ))  # fmt: skip

    return write


ROWS = (
    *((_BEGIN + types, _product(in_registers)) for types, in_registers in product(_TYPES, (False, True))),
    (r"wgmma\.fence\.sync\.aligned", "cuda_on_cpu_wgmma_fence()"),
    (r"wgmma\.commit_group\.sync\.aligned", "cuda_on_cpu_wgmma_commit()"),
    (r"wgmma\.wait_group\.sync\.aligned", f"cuda_on_cpu_wgmma_wait({C}ptx_as<unsigned int>({{0}}))"),
    (
        r"setmaxnreg\.(?:inc|dec)\.sync\.aligned\.u32",
        f"cuda_on_cpu_set_registers({C}ptx_as<unsigned int>({{0}}), __LINE__)",
    ),
)
