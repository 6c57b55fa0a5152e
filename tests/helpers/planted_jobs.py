"""Jobs for the planted kernels: small inputs, and lines by the marks that stand in the sources."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from paths import DATA

from kfuzz.devices import Buffer, Finding, Job, Step
from kfuzz.oracle.numbers.elements import ELEMENTS

PLANTED = DATA / "planted"

Mark = tuple[str, str, int]
"""Severity, or note; the kind of finding; and the line."""
Value = NDArray[np.generic] | int | str
"""An argument: an input's content, a C int, or the element type and length of an output, as in "f32[64]"."""


@cache
def source(file: str) -> str:
    """The text of a planted file."""
    return (PLANTED / f"{file}.cu").read_text(encoding="utf-8")


def marked(file: str, mark: str) -> list[int]:
    """The lines that carry a mark."""
    return [number for number, line in enumerate(source(file).splitlines(), 1) if f"// {mark}" in line + "\n"]


def lines_of(text: str, entry: str) -> range:
    """The lines of a kernel and of the functions between it and the kernel before."""
    name = entry.partition("<")[0]
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines, 1) if re.search(rf"__global__ void {name}\(", line))
    end = next(number for number in range(first, len(lines) + 1) if lines[number - 1] == "}")
    kernels = [number for number in range(1, first) if re.match(r'(extern "C" )?__global__', lines[number - 1])]
    before = next(number for number in range(kernels[-1], first) if lines[number - 1] == "}") if kernels else 0
    return range(before + 1, end + 1)


def head_of(text: str, entry: str) -> int:
    """The line on which a kernel begins, where a finding without a line is expected."""
    return next(number for number in lines_of(text, entry) if text.splitlines()[number - 1].startswith("__global__"))


def expected(text: str, entry: str) -> set[Mark]:
    """The findings that the lines of a kernel name: `//~ error: race`, `//~ warning: race`.

    `//~ note: race` marks the other place of a race that is reported at one place alone.
    """
    lines = text.splitlines()
    return {
        (mark[1], mark[2], number)
        for number in lines_of(text, entry)
        for mark in re.finditer(r"//~ (\w+): ([\w-]+)", lines[number - 1])
    }


def expected_if(file: str, variant: str) -> Mark:
    """The finding that a line names for one variant of a file: `//~ error: race if no_event`."""
    (mark,) = (
        (severity, kind, number)
        for number, line in enumerate(source(file).splitlines(), 1)
        for severity, kind, name in re.findall(r"//~ (\w+): ([\w-]+) if (\w+)$", line)
        if name == variant
    )
    return mark


def reported(text: str, entry: str, findings: Iterable[Finding]) -> set[Mark]:
    """Findings as the marks that they should have."""
    findings = tuple(findings)
    found = {(one.severity, one.kind, one.line or head_of(text, entry)) for one in findings}
    places = {(kind, line) for _, kind, line in found}
    others = {(one.kind, one.other_line) for one in findings if one.other_line}
    return {*found, *(("note", kind, line) for kind, line in others - places)}


def entries(file: str) -> tuple[str, ...]:
    """Every kernel of a planted file; templates with 256 threads."""
    found = re.findall(r'^(template.*\n|extern "C" )?__global__ void (\w+)', source(file), re.MULTILINE)
    return tuple(f"{name}<256>" if before.startswith("template") else name for before, name in found)


def planted(
    file: str,
    entry: str,
    arguments: Mapping[str, Value],
    block: int = 64,
    grid: int = 1,
    shared: int = 0,
    align: int = 256,
    flags: tuple[str, ...] = (),
) -> Job:
    """A job that launches one planted kernel once."""
    return job_of(source(file), entries(file), entry, arguments, block, grid, shared, align, flags)


def job_of(
    text: str,
    every: tuple[str, ...],
    entry: str,
    arguments: Mapping[str, Value],
    block: int = 64,
    grid: int = 1,
    shared: int = 0,
    align: int = 256,
    flags: tuple[str, ...] = (),
) -> Job:
    """A job that launches one kernel of a source once."""
    buffers = [_buffer(name, value) for name, value in arguments.items() if not isinstance(value, int)]
    passed = tuple(value if isinstance(value, int) else name for name, value in arguments.items())
    step = Step(entry, (grid, 1, 1), (block, 1, 1), shared, passed)
    return Job("planted", Path("planted.cu"), text, flags, align, tuple(buffers), (step,), every)


def _buffer(name: str, value: NDArray[np.generic] | str) -> Buffer:
    if isinstance(value, str):
        element, length, fill = re.fullmatch(r"(\w+)\[(\d+)\](?: = (\d+))?", value).groups()  # type: ignore[union-attr]  # tests write it right
        return Buffer(
            name, ELEMENTS[element], (int(length),), fill=None if fill is None else int(fill), is_output=name == "y"
        )
    element = next(one for one in ELEMENTS.values() if one.dtype == value.dtype)
    return Buffer(name, element, value.shape, content=value, is_output=name == "y")


def floats(count: int) -> NDArray[np.float32]:
    """1, 2, 3, ...: exact in sums, and every element tells where it came from."""
    return np.arange(1, count + 1, dtype=np.float32)
