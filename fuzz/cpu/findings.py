"""Says in words what the runtime saw in numbers, with lines of the `.cu` file.

Knows the runtime's kinds, and how to ask for the line of an instruction. It decides nothing: whether a doubtful
sight is a defect, experiments.py finds out.
Long, since each kind has words of its own.
"""

import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import PurePath
from signal import Signals
from typing import Literal, NamedTuple

from kfuzz.cpu.abi import BufferFlags, Place, RawBuffer, RawFinding, RawLaunched, RawRun, Relation, Traits, Work
from kfuzz.cpu.compiler import Library
from kfuzz.cpu.unit import KERNEL_NAME, place, text_at
from kfuzz.devices import Finding, Job, is_host
from kfuzz.kinds import Kind, Severity

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
    "host_access": Seen("illegal-address"),
    "host_fault": Seen("trap"),
    "copy_outside": Seen("out-of-bounds"),
    "refusal_unseen": Seen("launch-refused"),
    "refusal_seen": Seen("launch-refused", "warning"),
    "earlier_answer_changed": Seen("stateful"),
    "remote_too_early": Seen("race"),
    "remote_too_late": Seen("race"),
    "cluster_never_meets": Seen("divergent-barrier"),
    "cluster_barrier_misused": Seen("divergent-barrier"),
    "grid_not_cooperative": Seen("hang"),
    "race_in_step": Seen("race", "warning"),
}
"""What the runtime may see, in the order of abi.h's Kind, where 0 is nothing."""
NAMES = ("none", *SEEN)
ALLOCATED = re.compile(
    r"\b(?:cudaMalloc\w*|cudaHostAlloc)\s*\(\s*(?:\(\s*void\s*\*\*\s*\)\s*)?&?\s*([\w.>\[\]-]+)|"
    r"\b(\w+)\s*=\s*(?:torch|at)\s*::\s*(?:empty|zeros|ones|full)\w*\s*\("
)
LEFT_BEHIND = frozenset({"guard_overwritten", "input_changed"})
OF_HOST = frozenset(
    {"host_access", "host_fault", "copy_outside", "refusal_unseen", "refusal_seen", "earlier_answer_changed"}
)


@dataclass(frozen=True)
class Race:
    """Of two accesses that nothing orders: how near their threads are, and what they are besides reads and writes."""

    relation: int
    traits: int
    other_traits: int
    writes: bool
    other_writes: bool
    with_host: bool
    """One of the two is the host's own."""
    in_shared: bool = False


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
        self._chains: dict[int, tuple[tuple[str, int], ...]] = {0: ()}

    def look_up(self, addresses: Iterable[int]) -> None:
        """Ask for many at once."""
        wanted = sorted({one for one in addresses if one not in self._known})
        if not wanted:
            return
        # A return address lies behind its call: one less is inside it. Inlined functions are listed from the
        # innermost outwards; the first that stands in the author's files is meant, not __ldg or atomicAdd.
        command = ["addr2line", "--addresses", "--inlines", "--functions", "--demangle"]
        command += ["--exe", str(self._library.path), *(hex(one - 1) for one in wanted)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        current, function = -1, ""
        chains: dict[int, list[tuple[str, int]]] = {one: [] for one in wanted}
        for line in done.stdout.splitlines():
            file, _, number = line.partition(" (")[0].rpartition(":")
            if line.startswith("0x"):
                current, function = int(line, 16) + 1, ""
            elif not function:
                function = line
            else:
                if file.rpartition("/")[2] == KERNEL_NAME and number.isdigit():
                    chains[current].append((function, int(number)))
                function = ""
        for one, chain in chains.items():
            self._chains[one] = tuple(chain)
            self._known[one] = chain[0][1] if chain else None

    def of(self, address: int) -> int | None:
        """The line of the author's files, by the number that unit.place tells; None where it is in none."""
        self.look_up([address])
        return self._known[address]

    def chain(self, address: int) -> tuple[tuple[str, int], ...]:
        """The functions of the author's that an address lies in by inlining, the innermost first, and their lines."""
        self.look_up([address])
        return self._chains[address]


def sights(raw: Iterable[RawFinding], job: Job, library: Library, lines: Lines, run: RawRun) -> list[Sight]:
    """What a run saw, in words."""
    raw, scene = list(raw), scene_of(job, library, run)
    with_code = [one for one in raw if NAMES[one.kind] not in LEFT_BEHIND]
    addresses = [address for one in with_code for address in (one.pc, one.other_pc)]
    lines.look_up([*addresses, *(address for one in with_code for address in scene.launch(one).calls)])
    return [_sight(one, scene, lines) for one in raw]


@dataclass(frozen=True)
class ArrayInRun:
    """An array of the job, or one that a host function has allocated, and may have freed."""

    name: str
    element_bytes: int
    shown: str
    freed: str = ""
    """Who frees it, in words; empty where nobody has."""
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
    """Addresses: by which calls of the host it came to this, the innermost first."""


@dataclass(frozen=True)
class RunScene:
    """What there was in a run, so that numbers can be named."""

    library: Library
    arrays: tuple[ArrayInRun, ...]
    launches: tuple[LaunchShape, ...]
    by_host: bool
    steps: int
    first_step: int
    """How many steps there were of earlier calls, before those of the job."""

    def launch(self, raw: RawFinding) -> LaunchShape:
        number = raw.launched if self.by_host else raw.step
        return self.launches[number] if number < len(self.launches) else LaunchShape((1, 1, 1), (1, 1, 1))


def scene_of(job: Job, library: Library, run: RawRun) -> RunScene:
    """The arrays and launches of a run."""
    arrays = [
        ArrayInRun(one.name, one.element.bytes, f"{one.element}[{', '.join(map(str, one.shape))}]")
        for one in job.buffers
        if not one.is_returned
    ]
    arrays += [_allocated(run.buffers[number], library) for number in range(len(arrays), run.buffer_count)]
    by_host = any(is_host(step.entry) for step in job.steps)
    launches = [LaunchShape(step.grid, step.block) for step in job.steps]
    if by_host:
        launches = [_launched(run.launched[number]) for number in range(run.launched_count)]
    return RunScene(library, tuple(arrays), tuple(launches), by_host, len(job.steps), run.first_counted)


def _allocated(raw: RawBuffer, library: Library) -> ArrayInRun:
    """An array under the name that it has where it is allocated."""
    if raw.flags & BufferFlags.is_of_earlier_call:
        return ArrayInRun("an argument of an earlier call", WORD, f"its {raw.bytes} bytes")
    found = ALLOCATED.findall(text_at(library.files, raw.line))
    named = found[0] if len(found) == 1 else None  # of several in a line nobody knows which it was
    line, freed_line = (_line_of(library, number) for number in (raw.line, raw.freed_line))
    freed = f" and {freed_line} frees" if raw.flags & BufferFlags.is_freed else ""
    shown = f"the {raw.bytes} bytes that {line} allocates"
    return ArrayInRun((named[0] or named[1]) if named else f"memory of {line}", WORD, shown, freed, raw.bytes)


def _line_of(library: Library, number: int) -> str:
    """`line 7`, or `line 7 of rows.cuh` where that is another file."""
    file, line = in_file(library, number)
    return f"line {line} of {PurePath(file).name}" if file else f"line {line}"


def _launched(raw: RawLaunched) -> LaunchShape:
    (gx, gy, gz), (bx, by, bz) = raw.grid, raw.block
    calls = tuple(address for address in raw.calls if address)
    return LaunchShape((gx, gy, gz), (bx, by, bz), raw.line, raw.shared, raw.refused, calls)


def _sight(raw: RawFinding, scene: RunScene, lines: Lines) -> Sight:
    seen = NAMES[raw.kind]
    kind, severity, doubt = SEEN[seen]
    left_behind, of_host = seen in LEFT_BEHIND, seen in OF_HOST or raw.work != Work.kernel
    launch, array, index = scene.launch(raw), *_place(raw, scene)
    line = None if left_behind else raw.line or lines.of(raw.pc) or _asked_in(raw.work, launch, lines)
    other = None if left_behind else raw.other_line or lines.of(raw.other_pc)
    if other is None and raw.other_launched < len(scene.launches):
        other = _asked_in(raw.other_work, scene.launches[raw.other_launched], lines)
    is_freed = raw.place == Place.buffer and _was_freed(seen, raw, scene)
    (file, line), (other_file, other) = (in_file(scene.library, number) for number in (line, other))
    finding = Finding(
        kind="use-after-free" if is_freed and kind == "out-of-bounds" else kind,
        message=_message(seen, raw, scene, array, index),
        severity=severity,
        line=line,
        other_line=other,
        file=file,
        other_file=other_file,
        array=array,
        index=index,
        thread=None if left_behind or of_host else _coordinates(raw.thread, launch.block),
        block=None if left_behind or of_host else _coordinates(raw.block, launch.grid),
        step=None if left_behind and scene.steps > 1 else raw.step - scene.first_step,
        count=raw.count,
        calls=() if left_behind else _calls(raw, launch, scene, lines, of_host),
    )
    if seen == "race_in_step":
        return Sight(_of_claim(finding), doubt, True)
    race = None
    if seen in _RACES:
        traits, with_host = (raw.traits, raw.other_traits), Work.host in (raw.work, raw.other_work)
        in_shared = raw.place in (Place.static_shared, Place.dynamic_shared)
        race = Race(raw.relation, *traits, bool(raw.writes), bool(raw.other_writes), with_host, in_shared)
    return Sight(finding, doubt, not left_behind, seen == "partly_uninitialised", race)


def _asked_in(work: int, launch: LaunchShape, lines: Lines) -> int | None:
    """The author's line that asks for an operation of torch's."""
    calls = launch.calls if work == Work.operation else ()
    return next((line for address in calls for _, line in lines.chain(address)), None)


def _of_claim(found: Finding) -> Finding:
    """The finding as one of the kernel and no line: there is one claim, however many lines count on it."""
    told = f"{found.message} (lines {found.line} and {found.other_line})"
    return replace(found, message=told, line=None, other_line=None, file="", other_file="", array=None, index=None)


def _calls(raw: RawFinding, launch: LaunchShape, scene: RunScene, lines: Lines, of_host: bool) -> tuple[str, ...]:
    """From where the host begins to what was seen; empty where there is no more than the line itself."""
    frames = [] if of_host else list(lines.chain(raw.pc))
    launched = [frame for address in launch.calls for frame in lines.chain(address)]
    named = [
        f"{_function(name)} ({_line_of(scene.library, number)})"
        for name, number in (*frames, *launched)
        if not _function(name).startswith("cuda_on_cpu")
    ]
    apart = [one for one, _ in groupby(reversed(named))]  # lambdas go by the name of the function they are in
    return tuple(apart) if scene.by_host and launched and not of_host else ()


def _function(name: str) -> str:
    """A function's name without its parameters and what it returns."""
    depth, start, plain = 0, 0, name.replace("(anonymous namespace)::", "")
    for at, letter in enumerate(plain):
        depth += (letter == "<") - (letter == ">")
        if depth == 0 and letter == " ":
            start = at + 1
        if depth == 0 and letter == "(":
            return plain[start:at]
    return plain[start:]


def _was_freed(seen: str, raw: RawFinding, scene: RunScene) -> bool:
    """Whether an array had been freed when this was seen, not only later; what was written beside it tells nothing."""
    array = scene.arrays[raw.place_number]
    if seen == "guard_overwritten" and not 0 <= raw.offset < array.bytes:
        return False
    return bool(array.freed) and (seen != "out_of_bounds" or bool(raw.detail))


def in_file(library: Library, number: int | None) -> tuple[str, int | None]:
    """The header that a line is in, or nothing where it is in the kernel file; and its number there."""
    if number is None:
        return "", None
    path, line = place(library.files, number)
    return ("" if path == library.files[0].path else str(path)), line


def _coordinates(number: int, extent: tuple[int, int, int]) -> tuple[int, int, int]:
    return number % extent[0], number // extent[0] % extent[1], number // extent[0] // extent[1]


def _place(raw: RawFinding, scene: RunScene) -> tuple[str | None, int | None]:
    """The array, and the index in its elements (of shared arrays, whose type is not known: in accesses' width)."""
    if raw.place == Place.buffer:
        array = scene.arrays[raw.place_number]
        return array.name, raw.offset // array.element_bytes
    if raw.place == Place.static_shared:
        return scene.library.shared_arrays[raw.place_number][0], raw.offset // (raw.bytes or WORD)
    if raw.place == Place.global_variable:
        return scene.library.variables[raw.place_number][0], raw.offset // (raw.bytes or WORD)
    if raw.place == Place.heap:
        return f"an array of {raw.place_number} bytes from malloc", raw.offset // (raw.bytes or WORD)
    if raw.place == Place.dynamic_shared:
        names = scene.library.dynamic_shared
        return names[0] if len(names) == 1 else "dynamic shared memory", raw.offset // (raw.bytes or WORD)
    return None, None


def _message(seen: str, raw: RawFinding, scene: RunScene, array: str | None, index: int | None) -> str:
    if seen in OF_HOST:
        return _of_host(seen, raw, scene, array, index)
    launch = scene.launch(raw)
    me, other = (f"thread {_shown(_coordinates(one, launch.block))}" for one in (raw.thread, raw.other_thread))
    where = f"{array}[{index}]" if array is not None else f"address 0x{raw.address:x}"
    if raw.owner:
        where += f" of block {_shown(_coordinates(raw.owner - 1, launch.grid))}"
    mask = f"mask {raw.detail:#010x}"
    if seen in _RACES:
        who = WORK.get(raw.work, me)
        return f"{who} {_does(raw.writes, raw.traits)} {where}, which {_other(raw, other, scene)}{_RACES[seen]}"
    there = "in a barrier of the block" if raw.bytes else "in another warp collective"
    signal = f"signal {raw.detail}" if seen != "signal" else Signals(raw.detail).name
    holder = "an H200 holds no more of them at once"
    return {
        "out_of_bounds": f"{me} {_DOES[bool(raw.writes)]} {raw.bytes} bytes at {where}, {_outside(seen, raw, scene)}",
        "guard_overwritten": f"something was written at {where}, {_outside(seen, raw, scene)}",
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
        "remote_too_early": f"{me} {_DOES[bool(raw.writes)]} {where}, which may not have begun: "
        "needs cluster.sync() before",
        "remote_too_late": f"{me} {_DOES[bool(raw.writes)]} {where}, which may have ended: "
        "needs cluster.sync() behind, that both blocks come to",
        "grid_not_cooperative": f"{me} waits in grid.sync(), and the launch is not cooperative: "
        "nothing says that all blocks run at once",
        "cluster_never_meets": f"{me} waits in the cluster's barrier for {raw.detail} others, which cannot come: "
        f"{other} of block {_shown(_coordinates(raw.other_block, launch.grid))} waits elsewhere",
        "cluster_barrier_misused": f"{me} waits in the cluster's barrier, and has not arrived"
        if raw.detail
        else f"{me} arrives twice at the cluster's barrier, and has not waited between",
    }[seen]


REFUSALS = (
    "",
    "an empty grid",
    "a grid of more than 2^31-1 x 65535 x 65535 blocks",
    "a block of no threads",
    "a block of more than 1024 threads, or 64 along z",
    "more dynamic shared memory than the kernel is allowed: 48 KB, or what cudaFuncSetAttribute says",
    "a cooperative grid of more blocks than are resident at once",
    "a grid that is no multiple of its clusters, or a cluster of more than 8 blocks that the kernel is not allowed",
)
"""In the order of abi.h's Refused."""


def _of_host(seen: str, raw: RawFinding, scene: RunScene, array: str | None, index: int | None) -> str:
    """What the host did, in words."""
    does = _DOES[bool(raw.writes)]
    if seen == "host_access":
        return f"the host {does} {array}[{index}], which is device memory" if array else "the host uses device memory"
    if seen == "host_fault":
        return f"the host function ends by {Signals(raw.detail).name}"
    if seen == "copy_outside":
        return f"the host {does} {raw.bytes} bytes from {array}[{index}] on, of which {raw.detail} are left"
    if seen == "earlier_answer_changed":
        return f"what an earlier call has returned is changed by the next: it lies in {array}, which both use"
    one = scene.launch(raw)
    grid, block = ("x".join(map(str, size)) for size in (one.grid, one.block))
    told = f"the launch is refused, as on a GPU: {REFUSALS[one.refused]} (grid {grid}, block {block}"
    told += f", {one.shared} bytes of shared memory)" if one.shared else ")"
    return told + ("; nobody asks for the error" if seen == "refusal_unseen" else "; the host asks, and goes on")


_RACES = {
    "race": ", and nothing orders the two",
    "same_value_race": ", and nothing orders the two; every write left the same value",
    "volatile_race": ", and nothing orders the two: well-defined in PTX, where volatile is relaxed, and a data race in "
    "CUDA C++; use cuda::atomic_ref or the atomic functions",
    "guessed_read": ", and nothing orders the two: a plain read beside atomics is a data race, harmless where "
    "atomicCAS goes on to compare what was read; read by an atomic",
    "race_in_step": ", and nothing orders the two but that lanes go in step, as warp_synchronous says: a race on every "
    "card since Volta, which needs __syncwarp()",
}
_DOES = {False: "reads", True: "writes"}
WORK = {
    Work.copy: "a copy",
    Work.set: "a memset",
    Work.host: "the host",
    Work.callback: "a host function on a stream",
    Work.allocation: "cudaMallocAsync",
    Work.freeing: "cudaFreeAsync",
    Work.operation: "an operation of torch's",
}
"""Who makes an access that no thread of a kernel makes."""


def _does(writes: int, traits: int) -> str:
    if traits & Traits.is_atomic:
        return "updates atomically" + (" in block scope" if traits & Traits.is_of_block_scope else "")
    return _DOES[bool(writes)] + (" (volatile)" if traits & Traits.is_volatile else "")


def _other(raw: RawFinding, other: str, scene: RunScene) -> str:
    whose = {
        Relation.in_other_blocks: f"{other} of block {_shown(_coordinates(raw.other_block, scene.launch(raw).grid))}",
        Relation.in_one_warp: f"{other} of its warp",
        Relation.in_other_work: _of_other_work(raw, scene),
        Relation.in_other_node: _of_other_work(raw, scene),
    }.get(raw.relation, f"{other} of another warp")
    did = "updated atomically" if raw.other_traits & Traits.is_atomic else "wrote" if raw.other_writes else "read"
    scope = " in block scope" if raw.other_traits & Traits.is_of_block_scope else ""
    return f"{whose} {did}{scope}" + (" (volatile)" if raw.other_traits & Traits.is_volatile else "")


def _of_other_work(raw: RawFinding, scene: RunScene) -> str:
    """Who made the other access, as part of what else the host has asked for."""
    if raw.other_work != Work.kernel or raw.other_launched >= len(scene.launches):
        return WORK.get(raw.other_work, "a kernel")
    one = scene.launches[raw.other_launched]
    thread = f"thread {_shown(_coordinates(raw.other_thread, one.block))}"
    block = f" of block {_shown(_coordinates(raw.other_block, one.grid))}" if raw.other_block_known else ""
    return f"{thread}{block} of the launch in {_line_of(scene.library, one.line or 0)}"


def _shown(coordinates: tuple[int, int, int]) -> str:
    used = max((i for i, one in enumerate(coordinates) if one), default=0) + 1
    return str(coordinates[0]) if used == 1 else str(coordinates[:used])


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _outside(seen: str, raw: RawFinding, scene: RunScene) -> str:
    if raw.place != Place.buffer:
        return f"{raw.offset} bytes from its start, outside the array"
    array = scene.arrays[raw.place_number]
    return f"outside {array.shown}{array.freed if _was_freed(seen, raw, scene) else ''}"
