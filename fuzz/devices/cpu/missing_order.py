"""Finds out by experiment which order a race lacks: repeats the run, and assumes more about the order of accesses.

Knows what orders accesses on a GPU. The caller passes in how to repeat a run.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from kfuzz.devices.cpu.abi import OTHER_WORK, Assume, Relation, Traits
from kfuzz.devices.cpu.findings import Race, Sight

MOST = 3
"""Races of one job that get an experiment; the others get a general explanation."""

_SYNCHRONISES = re.compile(r"atom|fence|membar|\.acquire|\.release|\bcuda\s*::")
_REPAIRS = (
    (
        Assume.scopes_reach,
        "an atomic or a fence of block scope is used between two blocks: it needs device scope",
    ),
    (Assume.atomics_release, "needs a __threadfence() between {first} and the atomic that publishes it"),
    (Assume.atomics_acquire, "needs a __threadfence() between the atomic that observes it and {second}"),
    (
        Assume.atomics_release | Assume.atomics_acquire,
        "needs a __threadfence() before the atomic that publishes it and one after the atomic that observes it",
    ),
    (
        Assume.scopes_reach | Assume.atomics_release | Assume.atomics_acquire,
        "needs fences of device scope around the atomics that publish and observe it",
    ),
)

Again = Callable[[int], Iterable[Sight]]
"""Repeats a run with these assumptions (abi.h's Assume), and returns its sights."""


def add_missing_order(sights: list[Sight], source: str, again: Callable[[Sight], Again | None]) -> list[Sight]:
    """The sights with races that say what is missing. A race that a wider scope alone prevents becomes an error."""
    explained, tried = [], 0
    for sight in sights:
        if sight.race is None or sight.finding.line is None:
            explained.append(sight)
            continue
        repair = None
        is_in_launch = sight.race.relation not in OTHER_WORK
        if is_in_launch and _SYNCHRONISES.search(source) and tried < MOST and (run := again(sight)):
            tried += 1
            repair = _find_repair(sight, run)
        explained.append(_add_words(sight, sight.race, repair))
    return explained


def _find_repair(sight: Sight, again: Again) -> tuple[int, str] | None:
    """The weakest assumption under which the race does not occur."""
    everything, _ = _REPAIRS[-1]
    if _is_among(sight, again(everything)):
        return None
    return next((one for one in _REPAIRS[:-1] if not _is_among(sight, again(one[0]))), _REPAIRS[-1])


def _is_among(sight: Sight, among: Iterable[Sight]) -> bool:
    lines = {sight.finding.line, sight.finding.other_line}
    return any(one.race is not None and {one.finding.line, one.finding.other_line} == lines for one in among)


def _add_words(sight: Sight, race: Race, repair: tuple[int, str] | None) -> Sight:
    """The race with words for what is missing."""
    finding = sight.finding
    both = (finding.other_line, finding.other_file), (finding.line, finding.file)
    first, second = (_name_line(*place, is_alone=finding.file == finding.other_file) for place in both)
    if repair:
        words = repair[1].format(first=first, second=second)
    elif finding.severity == "warning":  # its message explains it already
        return sight
    else:
        words = _general_words(race, first, second)
    is_certain = repair is not None and repair[0] == Assume.scopes_reach
    severity = "error" if is_certain else finding.severity
    return replace(sight, finding=replace(finding, severity=severity, message=f"{finding.message}; {words}"))


def _name_line(line: int | None, file: str, is_alone: bool) -> str:
    """The words for a line, with its file if the other line is in a different one."""
    return f"line {line}" if is_alone else f"line {line} of {Path(file).name or 'the kernel file'}"


def _general_words(race: Race, first: str, second: str) -> str:
    if race.relation == Relation.in_other_node:
        return (
            "no path of the graph connects the two nodes: needs an edge (cudaGraphAddDependencies(), or an event in "
            f"captured streams) between {first} and {second}"
        )
    if race.relation == Relation.in_launch_before:
        return (
            "a kernel may begin before those before it have ended (programmatic stream serialization or edge): needs "
            f"cudaGridDependencySynchronize() before {second}, in its own thread or before a barrier of its block"
        )
    if race.relation == Relation.in_other_work and race.with_host:
        return f"the host does not wait: needs cudaStreamSynchronize() or similar between {first} and {second}"
    if race.relation == Relation.in_other_work:
        return f"nothing orders the two streams: needs an event and cudaStreamWaitEvent() between {first} and {second}"
    if race.relation == Relation.in_other_blocks:
        are_atomic = race.traits & race.other_traits & Traits.is_atomic
        if are_atomic and (race.traits | race.other_traits) & Traits.is_of_block_scope:
            return "an atomic of block scope is used between two blocks: it needs device scope"
        if race.in_shared:
            return f"needs cluster.sync() between {first} and {second}"
        return "no barrier orders blocks: needs atomics with fences, or two launches"
    where = f"between {first} and {second}" if first != second else f"between two passes through {first}"
    if race.relation == Relation.in_one_warp:
        return f"needs __syncwarp() {where}: the lanes of a warp do not run in step (warp-synchronous code)"
    return f"needs __syncthreads() {where}" + (", or an atomic" if first == second else "")
