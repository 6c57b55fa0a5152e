"""The arrays and launches of a run, which give names to the numbers of a finding."""

import re
from dataclasses import dataclass
from pathlib import PurePath

from kfuzz.devices import Job, is_host
from kfuzz.devices.cpu.abi import BufferFlags, RawBuffer, RawFinding, RawLaunched, RawRun
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.unit import find_line, text_at
from kfuzz.oracle.numbers.plural import plural

WORD = 4
ALLOCATED = re.compile(
    r"\b(?:cudaMalloc\w*|cudaHostAlloc)\s*\(\s*(?:\(\s*void\s*\*\*\s*\)\s*)?&?\s*([\w.>\[\]-]+)|"
    r"\b(\w+)\s*=\s*(?:torch|at)\s*::\s*(?:empty|zeros|ones|full)\w*\s*\("
)


@dataclass(frozen=True)
class ArrayInRun:
    """An array of the job, or memory that a host function allocated and perhaps freed."""

    name: str
    element_bytes: int
    shown: str
    freed: str = ""
    """Words for the line that frees it; empty if nothing does."""
    bytes: int = 0


@dataclass(frozen=True)
class LaunchShape:
    """The blocks and threads of a launch, and its line where the host launches."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    line: int | None = None
    shared: int = 0
    refused: int = 0
    calls: tuple[int, ...] = ()
    """Addresses of the host's calls that led to the launch, innermost first."""
    graph_line: int = 0
    """The line that launches the graph whose node it is; 0 if it is none."""


@dataclass(frozen=True)
class RunScene:
    """The arrays and launches of a run."""

    library: Library
    arrays: tuple[ArrayInRun, ...]
    launches: tuple[LaunchShape, ...]
    by_host: bool
    steps: int
    first_step: int
    """The number of steps of earlier calls, before those of the job."""

    def launch(self, raw: RawFinding) -> LaunchShape:
        """The launch in which a finding lies."""
        number = raw.launched if self.by_host else raw.step
        return self.launches[number] if number < len(self.launches) else LaunchShape((1, 1, 1), (1, 1, 1))


def read_scene(job: Job, library: Library, run: RawRun) -> RunScene:
    """The scene of a run."""
    arrays = [
        ArrayInRun(one.name, one.element.bytes, f"{one.element}[{', '.join(map(str, one.shape))}]")
        for one in job.buffers
        if not one.is_returned
    ]
    arrays += [_describe_allocation(run.buffers[number], library) for number in range(len(arrays), run.buffer_count)]
    by_host = any(is_host(step.entry) for step in job.steps)
    launches = [LaunchShape(step.grid, step.block) for step in job.steps]
    if by_host:
        launches = [_read_launch(run.launched[number]) for number in range(run.launched_count)]
    return RunScene(library, tuple(arrays), tuple(launches), by_host, len(job.steps), run.first_counted)


def _describe_allocation(raw: RawBuffer, library: Library) -> ArrayInRun:
    """An array with the name that it has in the line of its allocation."""
    if raw.flags & BufferFlags.is_of_earlier_call:
        return ArrayInRun("an argument of an earlier call", WORD, f"its {plural(raw.bytes, 'byte')}")
    allocations = ALLOCATED.findall(text_at(library.files, raw.line))
    name = allocations[0] if len(allocations) == 1 else None  # of several in one line, it may be any
    line, freed_line = (describe_line(library, number) for number in (raw.line, raw.freed_line))
    freed = f" and {freed_line} frees" if raw.flags & BufferFlags.is_freed else ""
    shown = f"the {plural(raw.bytes, 'byte')} that {line} allocates"
    return ArrayInRun((name[0] or name[1]) if name else f"memory of {line}", WORD, shown, freed, raw.bytes)


def describe_line(library: Library, number: int) -> str:
    """`line 7`, or `line 7 of rows.cuh` if it is in a header."""
    file, line = locate_line(library, number)
    return f"line {line} of {PurePath(file).name}" if file else f"line {line}"


def _read_launch(raw: RawLaunched) -> LaunchShape:
    (gx, gy, gz), (bx, by, bz) = raw.grid, raw.block
    calls = tuple(address for address in raw.calls if address)
    return LaunchShape((gx, gy, gz), (bx, by, bz), raw.line, raw.shared, raw.refused, calls, raw.graph_line)


def locate_line(library: Library, number: int | None) -> tuple[str, int | None]:
    """The header that a line is in (empty for the kernel file), and its number there."""
    if number is None:
        return "", None
    path, line = find_line(library.files, number)
    return ("" if path == library.files[0].path else str(path)), line


def coordinates(number: int, extent: tuple[int, int, int]) -> tuple[int, int, int]:
    """The coordinates of thread or block number `number` in a block or grid of this extent."""
    return number % extent[0], number // extent[0] % extent[1], number // extent[0] // extent[1]
