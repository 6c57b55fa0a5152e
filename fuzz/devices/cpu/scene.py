"""The arrays and launches of a run, which give names to the numbers of a finding."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from kfuzz.devices import Job, is_host
from kfuzz.devices.cpu.abi import BufferFlags, RawBuffer, RawFinding, RawLaunched, RawRun
from kfuzz.devices.cpu.allocations import SIZES, find_allocation
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.unit import find_line
from kfuzz.oracle.numbers.plural import plural

WORD = 4


@dataclass(frozen=True)
class ArrayInRun:
    """An array of the job, or memory that a host function allocated and perhaps freed."""

    name: str
    element_bytes: int
    extent: str
    """A clause: what it is, or how much it has and what allocated it."""
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
    is_tiled: bool = False
    """Its threads are programs, as far as the source knows."""

    def launch(self, raw: RawFinding) -> LaunchShape:
        """The launch in which a finding lies."""
        number = raw.launched if self.by_host else raw.step
        return self.launches[number] if number < len(self.launches) else LaunchShape((1, 1, 1), (1, 1, 1))


def read_scene(job: Job, library: Library, run: RawRun) -> RunScene:
    """The scene of a run."""
    arrays = [
        ArrayInRun(one.name, one.element.bytes, f"{one.name} is {one.element}[{', '.join(map(str, one.shape))}]")
        for one in job.buffers
        if not one.is_returned
    ]
    arrays += _describe_allocations([run.buffers[i] for i in range(len(arrays), run.buffer_count)], library)
    by_host = any(is_host(step.entry) for step in job.steps)
    launches = [LaunchShape(step.grid, step.block) for step in job.steps]
    if by_host:
        launches = [_read_launch(run.launched[number]) for number in range(run.launched_count)]
    return RunScene(library, tuple(arrays), tuple(launches), by_host, len(job.steps), run.first_counted, job.is_tiled)


def _describe_allocations(buffers: list[RawBuffer], library: Library) -> Iterator[ArrayInRun]:
    """Arrays with the names that they have in the lines of their allocations."""
    counts = Counter(one.line for one in buffers if not one.flags & BufferFlags.is_of_earlier_call)
    places: Counter[int] = Counter()
    for one in buffers:
        if one.flags & BufferFlags.is_of_earlier_call:
            name = "an argument of an earlier call"
            yield ArrayInRun(name, WORD, f"{name} has {plural(one.bytes, 'byte')}")
        else:
            yield _describe_allocation(one, library, places[one.line], counts[one.line])
            places[one.line] += 1


def _describe_allocation(raw: RawBuffer, library: Library, place: int, count: int) -> ArrayInRun:
    path, number = find_line(library.files, raw.line)
    text = next(one.text for one in library.files.values() if one.path == path)
    found = find_allocation(text, number, place, count)
    freed = f", and {describe_line(library, raw.freed_line)} frees it" if raw.flags & BufferFlags.is_freed else ""
    if found is None:
        line = describe_line(library, raw.line)
        name = f"memory of {line}"
        return ArrayInRun(name, WORD, f"{line} allocates {plural(raw.bytes, 'byte')}", freed, raw.bytes)
    element = SIZES[found.element] if found.holds_whole(raw.bytes) else WORD
    extent = f"{found.name} has {found.describe(raw.bytes)} ({found.function}, {path.name}:{number})"
    return ArrayInRun(found.name, element, extent, freed, raw.bytes)


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
