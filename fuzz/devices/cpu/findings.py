"""Findings of the cpu device: the sights of a run, with messages and lines of the `.cu` file.

Looks up the lines of instructions. experiments.py decides whether a doubtful sight is a defect.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from kfuzz.devices import Finding, Job
from kfuzz.devices.cpu.abi import OTHER_WORK, Place, RawFinding, RawRun, Relation, Traits, Work
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.outside import lines_of
from kfuzz.devices.cpu.scene import LaunchShape, RunScene, coordinates, describe_line, locate_line, read_scene
from kfuzz.devices.cpu.sights import Doubt, sight_type
from kfuzz.devices.cpu.unit import KERNEL_NAME
from kfuzz.devices.cpu.wording import has_been_freed, message, place_of

WITH_ACCESS = ("race", "out-of-bounds", "uninitialised", "use-after-free")
"""The kinds that an access shows."""


@dataclass(frozen=True)
class Race:
    """Two unordered accesses: how close their threads are, and properties of the accesses."""

    relation: int
    traits: int
    other_traits: int
    writes: bool
    other_writes: bool
    with_host: bool
    """Whether the host makes one of the two."""
    in_shared: bool = False


@dataclass(frozen=True)
class Sight:
    """A finding, and what an experiment has to change to see whether the result depends on it (None: it is certain)."""

    finding: Finding
    doubt: Doubt | None
    precise: bool
    """Whether it comes from the access itself, with its line, and not from traces that the access left."""
    is_partial: bool = False
    """Whether the read is partly initialised: most likely a struct whose padding is not used."""
    race: Race | None = None


class Lines:
    """The lines of a library's instructions, each of which is looked up once."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known: dict[int, int | None] = {0: None}
        self._chains: dict[int, tuple[tuple[str, int], ...]] = {0: ()}

    def look_up(self, addresses: Iterable[int]) -> None:
        """Look up many addresses at once."""
        wanted = sorted({one for one in addresses if one not in self._known})
        if not wanted:
            return
        # A return address lies after its call, and one less lies inside it. addr2line lists inlined functions from
        # the innermost outwards; the first in the author's files counts, not __ldg or atomicAdd.
        said = lines_of(self._library.path, [one - 1 for one in wanted])
        current, function = -1, ""
        chains: dict[int, list[tuple[str, int]]] = {one: [] for one in wanted}
        for line in said.splitlines():
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

    def line_at(self, address: int) -> int | None:
        """The number of a line of the author's files, as unit.locate reads it; None if it is in none."""
        self.look_up([address])
        return self._known[address]

    def frames_at(self, address: int) -> tuple[tuple[str, int], ...]:
        """The author's functions around an address, from the innermost through inlining, and their lines."""
        self.look_up([address])
        return self._chains[address]


def describe_sights(raw: Iterable[RawFinding], job: Job, library: Library, lines: Lines, run: RawRun) -> list[Sight]:
    """The sights of a run with their messages and lines."""
    raw, scene = list(raw), read_scene(job, library, run)
    with_code = [one for one in raw if "left_behind" not in sight_type(one.kind).traits]
    addresses = [address for one in with_code for address in (one.pc, one.other_pc)]
    lines.look_up([*addresses, *(address for one in with_code for address in scene.launch(one).calls)])
    return [_describe(one, scene, lines) for one in raw]


def _describe(raw: RawFinding, scene: RunScene, lines: Lines) -> Sight:
    sight = sight_type(raw.kind)
    left_behind = "left_behind" in sight.traits
    of_host = "by_host" in sight.traits or raw.work != Work.kernel
    launch, array, index = scene.launch(raw), *place_of(raw, scene)
    line = None if left_behind else raw.line or lines.line_at(raw.pc) or _torch_line(raw.work, launch, lines)
    other = None if left_behind else raw.other_line or lines.line_at(raw.other_pc)
    if other is None and raw.other_launched < len(scene.launches):
        other = _torch_line(raw.other_work, scene.launches[raw.other_launched], lines)
    is_after_free = raw.place == Place.buffer and has_been_freed(raw, scene)
    (file, line), (other_file, other) = (locate_line(scene.library, number) for number in (line, other))
    is_freed_meanwhile = sight.kind == "race" and Work.freeing in (raw.work, raw.other_work)
    is_after_free = is_freed_meanwhile or (is_after_free and sight.kind == "out-of-bounds")
    finding = Finding(
        kind="use-after-free" if is_after_free else sight.kind,
        message=message(raw, scene),
        severity=sight.severity,
        line=line,
        other_line=other,
        file=file,
        other_file=other_file,
        array=array,
        index=index,
        thread=None if left_behind or of_host else coordinates(raw.thread, launch.block),
        block=None if left_behind or of_host else coordinates(raw.block, launch.grid),
        step=None if left_behind and scene.steps > 1 else raw.step - scene.first_step,
        count=raw.count,
        calls=() if left_behind else _calls(raw, launch, scene, lines, of_host),
        access=_access(raw) if sight.kind in WITH_ACCESS and not left_behind else "",
        multiprocessors=0,  # experiments.py compares runs
        is_at_home=False,  # properties/checks/home_launches.py chooses the sizes
        in_one_warp="is_race" in sight.traits and raw.relation == Relation.in_one_warp,
        **_other_thread(raw, launch) if "is_race" in sight.traits and not of_host else {},
    )
    if "of_claim" in sight.traits:
        return Sight(_without_lines(finding), sight.doubt, True)
    race = _race(raw) if "is_race" in sight.traits else None
    return Sight(finding, sight.doubt, not left_behind, "is_partial" in sight.traits, race)


def _other_thread(raw: RawFinding, launch: LaunchShape) -> dict[str, tuple[int, int, int]]:
    """The other thread of a race and the launch, if both threads are in one."""
    if raw.relation in OTHER_WORK:
        return {}
    other = raw.other_block if raw.relation == Relation.in_other_blocks else raw.block
    return {
        "other_thread": coordinates(raw.other_thread, launch.block),
        "other_block": coordinates(other, launch.grid),
        "grid": launch.grid,
        "block_size": launch.block,
    }


def _access(raw: RawFinding) -> Literal["", "reads", "writes"]:
    if raw.traits & Traits.is_atomic:
        return ""
    return "writes" if raw.writes else "reads"


def _race(raw: RawFinding) -> Race:
    return Race(
        relation=raw.relation,
        traits=raw.traits,
        other_traits=raw.other_traits,
        writes=bool(raw.writes),
        other_writes=bool(raw.other_writes),
        with_host=Work.host in (raw.work, raw.other_work),
        in_shared=raw.place in (Place.static_shared, Place.dynamic_shared),
    )


def _torch_line(work: int, launch: LaunchShape, lines: Lines) -> int | None:
    """The author's line that calls an operation of torch, if this work is one."""
    calls = launch.calls if work == Work.operation else ()
    return next((line for address in calls for _, line in lines.frames_at(address)), None)


def _without_lines(finding: Finding) -> Finding:
    """The finding without lines, so that all lines that rely on one claim count as one finding."""
    text = f"{finding.message} (lines {finding.line} and {finding.other_line})"
    return replace(finding, message=text, line=None, other_line=None, file="", other_file="", array=None, index=None)


def _calls(raw: RawFinding, launch: LaunchShape, scene: RunScene, lines: Lines, of_host: bool) -> tuple[str, ...]:
    """The chain of calls from the host to the sight; empty if it is only the line itself."""
    frames = [] if of_host else list(lines.frames_at(raw.pc))
    launched = [frame for address in launch.calls for frame in lines.frames_at(address)]
    named = [
        f"{_plain_name(name)} ({describe_line(scene.library, number)})"
        for name, number in (*frames, *launched)
        if not _plain_name(name).startswith("cuda_on_cpu")
    ]
    apart = [one for one, _ in groupby(reversed(named))]  # a lambda has the name of its function
    return tuple(apart) if scene.by_host and launched and not of_host else ()


def _plain_name(name: str) -> str:
    """A function's name without its parameters and result type."""
    depth, start, plain = 0, 0, name.replace("(anonymous namespace)::", "")
    for at, letter in enumerate(plain):
        depth += (letter == "<") - (letter == ">")
        if depth == 0 and letter == " ":
            start = at + 1
        if depth == 0 and letter == "(":
            return plain[start:at]
    return plain[start:]
