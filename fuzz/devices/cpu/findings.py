"""Says in words what the runtime saw in numbers, with lines of the `.cu` file.

Knows the runtime's kinds, and how to ask for the line of an instruction. It decides nothing: whether a doubtful
sight is a defect, experiments.py finds out.
"""

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from signal import Signals
from typing import Literal, NamedTuple

from kfuzz.devices import DTYPES, Finding, Job
from kfuzz.devices.cpu.abi import (
    IN_BUFFER,
    IN_DYNAMIC_SHARED,
    IN_GLOBAL_VARIABLE,
    IN_ONE_WARP,
    IN_OTHER_BLOCKS,
    IN_STATIC_SHARED,
    IS_ATOMIC,
    IS_OF_BLOCK_SCOPE,
    IS_VOLATILE,
    ON_HEAP,
    RawFinding,
)
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.unit import KERNEL_NAME, place
from kfuzz.devices.kinds import Kind, Severity

Doubt = Literal["schedule", "poison", "lane"]

WORD = 4


class Seen(NamedTuple):
    """The finding that a sight of the runtime is, and how grave it is as long as no experiment says more.

    `doubt`: it may never show in the results, and what has to be changed to see whether it does: the order of threads,
    or what is read of uninitialised memory or of a lane that takes no part. A race is undefined behaviour whether it
    shows or not, unless every write leaves the same value.
    """

    kind: Kind
    severity: Severity = "error"
    doubt: Doubt | None = None


SEEN: dict[str, Seen] = {
    "out_of_bounds": Seen("out-of-bounds"),
    "uninitialised": Seen("uninitialised", "warning", "poison"),
    "partly_uninitialised": Seen("uninitialised", "warning", "poison"),
    "race": Seen("race", doubt="schedule"),
    "same_value_race": Seen("race", "warning"),
    "divergent_barrier": Seen("divergent-barrier"),
    # No defect on hardware since Volta, which waits for the others alone.
    "barrier_after_exit": Seen("divergent-barrier", "warning"),
    "inactive_lane": Seen("inactive-lane", "warning", "lane"),
    "mask_without_caller": Seen("inactive-lane"),
    "lanes_never_meet": Seen("divergent-barrier"),
    "misaligned": Seen("misaligned"),
    "illegal_address": Seen("illegal-address"),
    "stack_overflow": Seen("illegal-address"),
    "divide_error": Seen("trap"),
    "trap": Seen("trap"),
    "assertion": Seen("trap"),
    "signal": Seen("trap"),
    "hang": Seen("hang"),
    "guard_overwritten": Seen("out-of-bounds"),
    "input_changed": Seen("input-changed"),
    "index_out_of_range": Seen("out-of-bounds"),
    "volatile_race": Seen("race", "warning"),
    "guessed_read": Seen("race", "warning"),
    "use_after_free": Seen("out-of-bounds"),
    "bad_free": Seen("illegal-address"),
    "constant_written": Seen("illegal-address"),
    "waits_for_more_blocks": Seen("hang"),
    "grid_never_meets": Seen("hang"),
}
"""What the runtime may see, in the order of abi.h's Kind, where 0 is nothing."""
NAMES = ("none", *SEEN)


@dataclass(frozen=True)
class Race:
    """Of two accesses that nothing orders: how near their threads are, and what they are besides reads and writes."""

    relation: int
    traits: int
    other_traits: int
    writes: bool
    other_writes: bool


@dataclass(frozen=True)
class Sight:
    """A finding, and what would have to change for it to show in the result (None: it is certain as it is)."""

    finding: Finding
    doubt: Doubt | None
    precise: bool
    """Seen at the access itself, with its line, not by what it left behind."""
    is_partial: bool = False
    """A read of which a part is initialised: most likely of a struct with padding, which nobody looks at."""
    race: Race | None = None


class Lines:
    """Lines of a library's instructions, each looked up once."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known: dict[int, int | None] = {0: None}

    def look_up(self, addresses: Iterable[int]) -> None:
        """Ask for many at once."""
        wanted = sorted({one for one in addresses if one not in self._known})
        if not wanted:
            return
        # A return address lies behind its call: one less is inside it. Inlined functions are listed from the
        # innermost outwards; the first that stands in the author's files is meant, not __ldg or atomicAdd.
        command = ["addr2line", "--addresses", "--inlines", "--exe", str(self._library.path)]
        command += [hex(one - 1) for one in wanted]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        current = -1
        self._known |= dict.fromkeys(wanted)
        for line in done.stdout.splitlines():
            if line.startswith("0x"):
                current = int(line, 16) + 1
                continue
            file, _, number = line.partition(" ")[0].rpartition(":")
            if file.rpartition("/")[2] == KERNEL_NAME and number.isdigit() and self._known.get(current) is None:
                self._known[current] = int(number)

    def of(self, address: int) -> int | None:
        """The line of the author's files, by the number that unit.place tells; None where it is in none."""
        self.look_up([address])
        return self._known[address]


def sights(raw: Iterable[RawFinding], job: Job, library: Library, lines: Lines) -> list[Sight]:
    """What a run saw, in words."""
    raw = list(raw)
    with_code = [one for one in raw if NAMES[one.kind] not in ("guard_overwritten", "input_changed")]
    lines.look_up([address for one in with_code for address in (one.pc, one.other_pc)])
    return [_sight(one, job, library, lines) for one in raw]


def _sight(raw: RawFinding, job: Job, library: Library, lines: Lines) -> Sight:
    seen = NAMES[raw.kind]
    kind, severity, doubt = SEEN[seen]
    left_behind = seen in ("guard_overwritten", "input_changed")
    line = None if left_behind else raw.line or lines.of(raw.pc)
    other = None if left_behind else raw.other_line or lines.of(raw.other_pc)
    step = job.steps[raw.step] if job.steps else None
    array, index = _place(raw, job, library)
    (file, line), (other_file, other) = (in_file(library, number) for number in (line, other))
    finding = Finding(
        kind=kind,
        message=_message(seen, raw, job, array, index),
        severity="warning" if seen == "waits_for_more_blocks" and not raw.bytes else severity,
        line=line,
        other_line=other,
        file=file,
        other_file=other_file,
        array=array,
        index=index,
        thread=None if left_behind or step is None else _coordinates(raw.thread, step.block),
        block=None if left_behind or step is None else _coordinates(raw.block, step.grid),
        step=None if left_behind and len(job.steps) > 1 else raw.step,
        count=raw.count,
    )
    race = None
    if kind == "race":
        race = Race(raw.relation, raw.traits, raw.other_traits, bool(raw.writes), bool(raw.other_writes))
    return Sight(finding, doubt, not left_behind, seen == "partly_uninitialised", race)


def in_file(library: Library, number: int | None) -> tuple[str, int | None]:
    """The header that a line is in, or nothing where it is in the kernel file; and its number there."""
    if number is None:
        return "", None
    path, line = place(library.files, number)
    return ("" if path == library.files[0].path else str(path)), line


def _coordinates(number: int, extent: tuple[int, int, int]) -> tuple[int, int, int]:
    return number % extent[0], number // extent[0] % extent[1], number // extent[0] // extent[1]


def _place(raw: RawFinding, job: Job, library: Library) -> tuple[str | None, int | None]:
    """The array, and the index in its elements (of shared arrays, whose type is not known: in accesses' width)."""
    if raw.place == IN_BUFFER:
        buffer = job.buffers[raw.place_number]
        return buffer.name, raw.offset // DTYPES[buffer.element].itemsize
    if raw.place == IN_STATIC_SHARED:
        return library.shared_arrays[raw.place_number][0], raw.offset // (raw.bytes or WORD)
    if raw.place == IN_GLOBAL_VARIABLE:
        return library.variables[raw.place_number][0], raw.offset // (raw.bytes or WORD)
    if raw.place == ON_HEAP:
        return f"an array of {raw.place_number} bytes from malloc", raw.offset // (raw.bytes or WORD)
    if raw.place == IN_DYNAMIC_SHARED:
        names = library.dynamic_shared
        return names[0] if len(names) == 1 else "dynamic shared memory", raw.offset // (raw.bytes or WORD)
    return None, None


def _message(seen: str, raw: RawFinding, job: Job, array: str | None, index: int | None) -> str:
    step = job.steps[raw.step] if job.steps else None
    block = step.block if step else (1, 1, 1)
    me, other = (f"thread {_shown(_coordinates(one, block))}" for one in (raw.thread, raw.other_thread))
    where = f"{array}[{index}]" if array is not None else f"address 0x{raw.address:x}"
    mask = f"mask {raw.detail:#010x}"
    if seen in _RACES:
        grid = step.grid if step else (1, 1, 1)
        return f"{me} {_does(raw.writes, raw.traits)} {where}, which {_other(raw, other, grid)}{_RACES[seen]}"
    there = "in a barrier of the block" if raw.bytes else "in another warp collective"
    signal = f"signal {raw.detail}" if seen != "signal" else Signals(raw.detail).name
    holder = "an H200 holds no more of them at once" if raw.bytes else "the cpu device holds no more: not judged"
    return {
        "out_of_bounds": f"{me} {_DOES[bool(raw.writes)]} {raw.bytes} bytes at {where}, {_outside(raw, job)}",
        "guard_overwritten": f"something was written at {where}, {_outside(raw, job)}",
        "input_changed": f"the input {array} was changed, first at {where}",
        "uninitialised": f"{me} reads {where}, which nobody has written",
        "partly_uninitialised": f"{me} reads {raw.bytes} bytes at {where}, of which nobody has written all",
        "divergent_barrier": f"{me} waits in one barrier and other threads of its block in another",
        "barrier_after_exit": f"{raw.detail} threads of the block ({other} for one) had returned before this barrier, "
        "which hardware before Volta does not allow",
        "inactive_lane": f"{me} reads from {other}, which takes no part in the collective ({mask})",
        "mask_without_caller": f"{me} calls a warp collective whose {mask} leaves out its own lane",
        "lanes_never_meet": f"{me} waits for {other} ({mask}), which waits {there}: neither can go on",
        "misaligned": f"{me} accesses {where} at 0x{raw.address:x}, no multiple of {raw.bytes}",
        "illegal_address": f"{me} accesses 0x{raw.address:x}, which is in no array",
        "stack_overflow": f"{me} overflows its stack: over 512 KB of local memory, or recursion without end",
        "divide_error": f"{me} divides an integer by zero, or the smallest integer by -1",
        "trap": f"{me} executes __trap()",
        "assertion": f"an assertion failed in {me}",
        "signal": f"{me} ends by {signal}",
        "hang": f"{me} was running when time was up",
        "index_out_of_range": f"{me} uses index {_signed(raw.detail)}, out of range of its array",
        "use_after_free": f"{me} {_DOES[bool(raw.writes)]} {where}, which was freed",
        "bad_free": f"{me} frees 0x{raw.address:x}, "
        + ("which was freed before" if raw.detail else "which malloc has not given out"),
        "constant_written": f"{me} writes {where}, which is __constant__",
        "waits_for_more_blocks": f"{raw.detail} blocks wait for one that has not started; {holder}",
        "grid_never_meets": f"{raw.detail} blocks wait in grid.sync() for "
        + (f"one that cannot start: {holder}" if raw.writes else "others that have ended without it"),
    }[seen]


_RACES = {
    "race": ", and nothing orders the two",
    "same_value_race": ", and nothing orders the two; every write left the same value",
    "volatile_race": ", and nothing orders the two: well-defined in PTX, where volatile is relaxed, and a data race in "
    "CUDA C++; use cuda::atomic_ref or the atomic functions",
    "guessed_read": ", and nothing orders the two: a plain read beside atomics is a data race, harmless where "
    "atomicCAS goes on to compare what was read; read by an atomic",
}
_DOES = {False: "reads", True: "writes"}


def _does(writes: int, traits: int) -> str:
    if traits & IS_ATOMIC:
        return "updates atomically" + (" in block scope" if traits & IS_OF_BLOCK_SCOPE else "")
    return _DOES[bool(writes)] + (" (volatile)" if traits & IS_VOLATILE else "")


def _other(raw: RawFinding, other: str, grid: tuple[int, int, int]) -> str:
    whose = {
        IN_OTHER_BLOCKS: f"{other} of block {_shown(_coordinates(raw.other_block, grid))}",
        IN_ONE_WARP: f"{other} of its warp",
    }.get(raw.relation, f"{other} of another warp")
    did = "updated atomically" if raw.other_traits & IS_ATOMIC else "wrote" if raw.other_writes else "read"
    scope = " in block scope" if raw.other_traits & IS_OF_BLOCK_SCOPE else ""
    return f"{whose} {did}{scope}" + (" (volatile)" if raw.other_traits & IS_VOLATILE else "")


def _shown(coordinates: tuple[int, int, int]) -> str:
    used = max((i for i, one in enumerate(coordinates) if one), default=0) + 1
    return str(coordinates[0]) if used == 1 else str(coordinates[:used])


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _outside(raw: RawFinding, job: Job) -> str:
    if raw.place != IN_BUFFER:
        return f"{raw.offset} bytes from its start, outside the array"
    buffer = job.buffers[raw.place_number]
    return f"outside {buffer.element}[{', '.join(map(str, buffer.shape))}]"
