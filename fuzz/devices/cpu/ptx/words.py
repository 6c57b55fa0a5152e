"""Writes the words of an instruction in C++: operands by number, registers, special registers, constants."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from kfuzz.devices.cpu.ptx.asm_text import AsmError
from kfuzz.devices.cpu.ptx.grammar import PtxWord
from kfuzz.devices.cpu.ptx.variables import SIZES

C = "::cuda_on_cpu::"
TYPES = {
    **{f"{letter}{bits}": f"{C}ptx_{letter}{bits}" for letter in "bus" for bits in (8, 16, 32, 64)},
    "b128": "unsigned __int128",
    "f16": f"{C}ptx_b16", "bf16": f"{C}ptx_b16", "f16x2": f"{C}ptx_b32", "bf16x2": f"{C}ptx_b32",
    "f32": "float", "f64": "double", "pred": "bool",
}  # fmt: skip
"""The C++ types of registers. `float` is written out: the count flavour gives the word another meaning."""
COUNTED = {
    name: made if made == "bool" else f"{C}PtxCounted<{C}ptx_b{8 * SIZES[name]}>" for name, made in TYPES.items()
}
"""The same in the count flavour: registers that know what their numbers went through."""
CONSTRAINTS = {
    "h": TYPES["b16"], "r": TYPES["b32"], "l": TYPES["b64"], "q": TYPES["b128"], "f": "float", "d": "double",
}  # fmt: skip
_LANE = f"{C}lane()"
SPECIAL = {
    "laneid": _LANE,
    "warpid": f"({C}thread_rank() / 32)",
    "nwarpid": "64",
    "smid": "(blockIdx.x % 132)",
    "nsmid": "132",
    "clock": "static_cast<unsigned int>(clock64())",
    "clock_hi": "static_cast<unsigned int>(clock64() >> 32)",
    "clock64": "clock64()",
    "globaltimer": "clock64()",
    "globaltimer_lo": "static_cast<unsigned int>(clock64())",
    "globaltimer_hi": "static_cast<unsigned int>(clock64() >> 32)",
    "lanemask_eq": f"(1u << {_LANE})",
    "lanemask_lt": f"((1u << {_LANE}) - 1)",
    "lanemask_le": f"(~0u >> (31 - {_LANE}))",
    "lanemask_gt": f"~(~0u >> (31 - {_LANE}))",
    "lanemask_ge": f"(~0u << {_LANE})",
    "envreg1": f"{C}ptx_grid_workspace_at(1)",
    "envreg2": f"{C}ptx_grid_workspace_at(0)",
    "dynamic_smem_size": "cuda_on_cpu_dynamic_shared_bytes()",
    "cluster_ctarank": "cuda_on_cpu_cluster_rank()",
    "cluster_nctarank": f"{C}ptx_cluster_blocks()",
    **{f"{short}.{axis}": f"{name}.{axis}" for axis in "xyz" for short, name in
       (("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim"))},
    **{f"{short}.{axis}": f"{C}ptx_{short}({number})" for number, axis in enumerate("xyz")
       for short in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")},
}  # fmt: skip
"""Special registers. The cpu device is an H200 with its 132 multiprocessors."""
_INTEGER = re.compile(r"(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)U?")
_BITS = re.compile(r"0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})")
_OF_SYMBOL = re.compile(r"([\w$%]+)\+(\d+)")
"""A place in a variable."""
_DECIMAL = re.compile(r"-?\d+\.\d*(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class PtxNames:
    """What the words of a statement can name: how many operands there are, and the registers' C++ names."""

    operands: int
    registers: Mapping[str, str]
    places: Mapping[str, str] = field(default_factory=dict)
    """The C++ variables behind operands that an instruction reads or writes after its statement, by their words."""

    def write(self, word: PtxWord, line: int) -> str:
        """The word in C++."""
        text = self._write(word.text)
        if text is None:
            raise AsmError(f"the PTX operand {word.text}", line)
        return f"!{text}" if word.is_negated else text

    def place(self, word: PtxWord, line: int, with_registers: bool = False) -> str:
        """The variable behind an operand, or a register of the statement itself."""
        if word.text in self.places:
            return self.places[word.text]
        if with_registers and word.text in self.registers:
            return f"CUDA_ON_CPU_PLACE({self.registers[word.text]})"
        raise AsmError(f"a sum in flight in {word.text}, a register of the asm statement itself", line)

    def _write(self, text: str) -> str | None:
        if text == "_":
            return f"{C}PtxSink()"
        if text in self.registers:
            return self.registers[text]
        if re.fullmatch(r"%\d+", text):
            number = int(text[1:])
            return f"cuda_on_cpu_{number}" if number < self.operands else None
        if text.startswith("%"):  # an asm without operands writes one sign, others two
            return SPECIAL.get(text.lstrip("%"))
        if (of_symbol := _OF_SYMBOL.fullmatch(text)) and of_symbol[1] in self.registers:
            return f"({self.registers[of_symbol[1]]} + {of_symbol[2]})"
        if text == "WARP_SZ":
            return "32"
        return _constant(text)


def _constant(text: str) -> str | None:
    if match := _INTEGER.fullmatch(text):
        value = int(match[2], 8) if re.fullmatch(r"0[0-7]+", match[2]) else int(match[2], 0)
        return f"{match[1]}{value}LL" if value < 1 << 63 else f"{match[1]}{value}ULL"
    if match := _BITS.fullmatch(text):
        return f"{C}ptx_float_of_bits(0x{match[1]}u)" if match[1] else f"{C}ptx_double_of_bits(0x{match[2]}ull)"
    return text if _DECIMAL.fullmatch(text) else None
