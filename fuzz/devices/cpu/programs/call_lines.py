"""The lines of calls that are known by their place in the program: nvcc's host code passes none (host/nvcc/nvcc.h)."""

import ctypes
from collections.abc import Sequence

from kfuzz.devices.cpu.findings import Lines

IS_CALL = 1 << 31
"""The bit that no line has: the other bits are the distance of the call from the start of the program."""
NAMES = ("line", "other_line", "freed_line", "graph_line")


def name_line(number: int, lines: Lines) -> int:
    """The line that a number stands for; 0 for a call outside of the author's files."""
    return (lines.line_at(number - IS_CALL) or 0) if number & IS_CALL else number


def name_call_lines(structs: Sequence[ctypes.Structure], lines: Lines) -> None:
    """Give these structs of the runtime's lines in the place of calls."""
    found = [(one, name, getattr(one, name)) for one in structs for name in NAMES if hasattr(one, name)]
    calls = [(one, name, number) for one, name, number in found if number & IS_CALL]
    lines.look_up([number - IS_CALL for _, _, number in calls])
    for one, name, number in calls:
        setattr(one, name, name_line(number, lines))
