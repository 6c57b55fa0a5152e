"""Tensor maps in the bits that a Hopper or Blackwell GPU reads, which CuTe DSL's host code writes itself.

Seen in maps of tensors whose sizes, strides, element types, boxes and swizzles were known (CuTe DSL 4.8, one to five
axes). Only the first half of the 128 bytes is written. A bit that was never seen to be set is not understood.
"""

from kfuzz.devices import TensorMap

VERSION = 0x2
TYPES = {**{number: number for number in range(8)}, 9: 8, 10: 9}
"""A type's number in CUtensorMapDataType by the one in the bits, where a float32 that flushes stands before float64."""
TYPE_AT, SWIZZLE_AT = 7, 13
IGNORED = 1 << 18 | 1 << 21
"""Always set; set for tensors of 128 KiB and more."""
STRIDE_UNIT = 16


def decode_map(given: bytes) -> tuple[int, TensorMap] | None:
    """The address and description of a tensor map, or nothing if its bits are not understood."""
    words = [int.from_bytes(given[at : at + 4], "little") for at in range(0, 64, 4)]
    flags = words[2] & ~IGNORED
    rank, kind, swizzle = (flags >> 4 & 7) + 1, flags >> TYPE_AT & 15, flags >> SWIZZLE_AT & 3
    understood = VERSION | (rank - 1) << 4 | kind << TYPE_AT | swizzle << SWIZZLE_AT
    others = words[13] & 0x00FFFFFF or words[15] >> 8
    if flags != understood or kind not in TYPES or rank > 5 or others:
        return None
    strides = [(words[3 + axis] | (words[7] >> 4 * axis & 15) << 32) * STRIDE_UNIT for axis in range(4)]
    sizes = [one + 1 for one in words[8:13]]
    box = [one + 1 for one in (words[13] >> 24, *words[14].to_bytes(4, "little"))]
    described = TensorMap(TYPES[kind], tuple(sizes[:rank]), tuple(strides[: rank - 1]), tuple(box[:rank]), swizzle, 0)
    return words[0] | words[1] << 32, described
