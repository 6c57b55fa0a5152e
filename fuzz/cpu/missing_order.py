"""Says which order a race is for want of, by experiment: the run again, with more taken for granted.

Knows what orders accesses on a GPU. How a run is made again is passed in.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from kfuzz.cpu.abi import Assume, Relation, Traits
from kfuzz.cpu.findings import Race, Sight

MOST = 3
"""Races of one job that are looked into; the others are told in general words."""

_SYNCHRONISES = re.compile(r"atom|fence|membar|\.acquire|\.release|\bcuda\s*::")
_REPAIRS = (
    (
        Assume.scopes_reach,
        "an atomic or a fence of block scope meets a block other than its own: it needs device scope",
    ),
    (Assume.atomics_release, "needs a __threadfence() between {first} and the atomic that tells of it"),
    (Assume.atomics_acquire, "needs a __threadfence() between the atomic that learns of it and {second}"),
    (
        Assume.atomics_release | Assume.atomics_acquire,
        "needs a __threadfence() before the atomic that tells of it and one behind the atomic that learns of it",
    ),
    (
        Assume.scopes_reach | Assume.atomics_release | Assume.atomics_acquire,
        "needs fences of device scope around the atomics that tell of it",
    ),
)

Again = Callable[[int], Iterable[Sight]]
"""What the same run shows when this much is assumed (abi.h's Assume)."""


def add_missing_order(seen: list[Sight], source: str, again: Callable[[Sight], Again | None]) -> list[Sight]:
    """The same sights, where the races say what is missing; one that only a wider scope orders is an error for sure."""
    told, tried = [], 0
    for sight in seen:
        if sight.race is None or sight.finding.line is None:
            told.append(sight)
            continue
        granted = None
        is_in_launch = sight.race.relation not in (Relation.in_other_work, Relation.in_other_node)
        if is_in_launch and _SYNCHRONISES.search(source) and tried < MOST and (run := again(sight)):
            tried += 1
            granted = _find_repair(sight, run)
        told.append(_add_words(sight, sight.race, granted))
    return told


def _find_repair(sight: Sight, again: Again) -> tuple[int, str] | None:
    """The least that has to be taken for granted for the race to be none."""
    everything, _ = _REPAIRS[-1]
    if _is_among(sight, again(everything)):
        return None
    return next((one for one in _REPAIRS[:-1] if not _is_among(sight, again(one[0]))), _REPAIRS[-1])


def _is_among(sight: Sight, among: Iterable[Sight]) -> bool:
    lines = {sight.finding.line, sight.finding.other_line}
    return any(one.race is not None and {one.finding.line, one.finding.other_line} == lines for one in among)


def _add_words(sight: Sight, race: Race, granted: tuple[int, str] | None) -> Sight:
    finding = sight.finding
    both = (finding.other_line, finding.other_file), (finding.line, finding.file)
    first, second = (_name_line(*place, is_alone=finding.file == finding.other_file) for place in both)
    if granted:
        words = granted[1].format(first=first, second=second)
    elif finding.severity == "warning":  # it is said already
        return sight
    else:
        words = _general_words(race, first, second)
    sure = granted is not None and granted[0] == Assume.scopes_reach
    severity = "error" if sure else finding.severity
    return replace(sight, finding=replace(finding, severity=severity, message=f"{finding.message}; {words}"))


def _name_line(line: int | None, file: str, is_alone: bool) -> str:
    """A line; where the two are in different files, of which."""
    return f"line {line}" if is_alone else f"line {line} of {Path(file).name or 'the kernel file'}"


def _general_words(race: Race, first: str, second: str) -> str:
    if race.relation == Relation.in_other_node:
        return (
            "no path of the graph leads from the one node to the other: needs an edge (cudaGraphAddDependencies(), or "
            f"an event where streams are captured) between {first} and {second}"
        )
    if race.relation == Relation.in_other_work and race.with_host:
        return f"the host does not wait: needs cudaStreamSynchronize() or its like between {first} and {second}"
    if race.relation == Relation.in_other_work:
        return f"nothing orders the two streams: needs an event and cudaStreamWaitEvent() between {first} and {second}"
    if race.relation == Relation.in_other_blocks:
        are_atomic = race.traits & race.other_traits & Traits.is_atomic
        if are_atomic and (race.traits | race.other_traits) & Traits.is_of_block_scope:
            return "an atomic of block scope meets a block other than its own: it needs device scope"
        if race.in_shared:
            return f"needs cluster.sync() between {first} and {second}"
        return "no barrier orders blocks: needs atomics with fences, or a launch for each of the two"
    where = f"between {first} and {second}" if first != second else f"between two turns of {first}"
    if race.relation == Relation.in_one_warp:
        return f"needs __syncwarp() {where}: the lanes of a warp do not go in step (warp-synchronous code)"
    return f"needs __syncthreads() {where}" + (", or an atomic" if first == second else "")
