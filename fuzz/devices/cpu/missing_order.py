"""Finds out by experiment which order a race lacks: repeats the run, and assumes more about the order of accesses, or
writes a barrier into the text.

Knows what orders accesses on a GPU. The caller passes in how to repeat a run.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from kfuzz.devices.cpu.abi import OTHER_WORK, Assume, Relation, Traits
from kfuzz.devices.cpu.barriers import WARP, Repair, propose_repairs
from kfuzz.devices.cpu.findings import Race, Sight

MOST = 3
"""Races of one job that get an experiment; the others get a general explanation."""

IN_BLOCK = (Relation.in_one_block, Relation.in_one_warp)
_SYNCHRONISES = re.compile(r"atom|fence|membar|\.acquire|\.release|\bcuda\s*::")
_REPAIRS = (
    (Assume.scopes_reach, "an atomic or a fence of block scope is used between two blocks: it needs device scope"),
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
WithText = Callable[[Sight, str], list[Sight] | None]
"""Repeats the run that showed a sight with another text, and returns its sights; None if that text does not run."""


def add_missing_order(
    sights: list[Sight], source: str, again: Callable[[Sight], Again | None], with_text: WithText
) -> list[Sight]:
    """The sights with races that say what is missing. A race that a wider scope alone prevents becomes an error.

    A race of relaxed accesses that a writer's fence alone prevents is an error if a late write changes the result.
    """
    explained: list[Sight] = []
    tried, barriers = 0, BarrierSearch(source, with_text)
    for sight in sights:
        if sight.race is None or sight.finding.line is None:
            explained.append(sight)
            continue
        repair = None
        is_in_launch = sight.race.relation not in OTHER_WORK
        if is_in_launch and _SYNCHRONISES.search(source) and tried < MOST and (run := again(sight)):
            tried += 1
            repair = _find_repair(sight, run)
        is_for_barrier = repair is None and sight.finding.severity == "error" and sight.race.relation in IN_BLOCK
        barrier = barriers.find(sight) if is_for_barrier else None
        if barrier:
            explained.append(_add_barrier(sight, sight.race, *barrier))
        else:
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


@dataclass
class BarrierSearch:
    """Looks for barriers that prevent the races of one job."""

    source: str
    with_text: WithText
    left: int = MOST
    """The races that may still be searched for."""
    found: dict[str, Repair] = field(default_factory=dict)
    """Barriers that prevented a race, by the text with them: they often prevent the next one too."""

    def find(self, sight: Sight) -> tuple[Repair, bool] | None:
        """A repair of a race, and whether a run with it has shown that it is one. None if there is none to try."""
        finding = sight.finding
        if finding.file or finding.other_file or finding.line is None or finding.other_line is None:
            return None
        proposed = list(propose_repairs(self.source, finding.line, finding.other_line, finding.in_one_warp))
        tries = {one.write(self.source): one for one in proposed}
        known = [text for text in self.found if text in tries]
        self.left -= 1
        has_run = False
        for text in dict.fromkeys((*known, *(tries if self.left >= 0 else ()))):
            seen = self.with_text(sight, text)
            has_run |= seen is not None
            if seen is not None and not _is_among(sight, seen) and not _is_stuck(tries[text], seen):
                self.found[text] = tries[text]
                return tries[text], True
        return None if has_run else next(((one, False) for one in proposed if _is_safe(one, sight)), None)


def _is_safe(repair: Repair, sight: Sight) -> bool:
    """Whether all threads that a barrier waits for come there, as far as the text says."""
    return repair.barrier == WARP or not (sight.finding.in_one_warp and repair.in_branch)


def _is_stuck(repair: Repair, sights: Iterable[Sight]) -> bool:
    """Whether a barrier stands where not all threads come."""
    stuck = [one.finding for one in sights if one.finding.kind in ("divergent-barrier", "hang")]
    return any(one.severity == "error" or one.line in (repair.between, repair.behind) for one in stuck)


def _add_barrier(sight: Sight, race: Race, repair: Repair, is_shown: bool) -> Sight:
    """The race with the barrier that is missing, as one reads it in the text: in whichever order the threads came."""
    finding = sight.finding
    places = [(finding.other_line or 0, _verbs(race.other_writes, race.other_traits))]
    places.append((finding.line or 0, _verbs(race.writes, race.traits)))
    (first, (does, does_again, _)), (second, (uses, _, may_use)) = sorted(places)
    what = f"{finding.array}[{finding.index}]" if finding.array else "a word"
    parts = []
    if repair.between:
        order = f"line {first} {does} {what} and line {second} {uses} it"
        parts.append(f"{order}: put `{repair.barrier}` after line {repair.between}")
    if repair.behind:
        when = "in the next turn of the loop" if repair.in_loop else "when this code runs again,"
        order = f"line {first} {does_again} {what}, which line {second} may still {may_use}"
        if first == second:
            order = f"line {first} uses {what} again, too early"
        parts.append(f"{when} {order}: put `{repair.barrier}` after line {repair.behind}")
    shown = " (kfuzz tried it: it prevents this race)" if is_shown else ""
    of_warp = "; the lanes of a warp do not run in step (warp-synchronous code)" if finding.in_one_warp else ""
    message = f"missing barrier: {'; and '.join(parts)}{shown}; {finding.message}{'' if repair.behind else of_warp}"
    return replace(sight, finding=replace(finding, message=message))


def _verbs(writes: bool, traits: int) -> tuple[str, str, str]:
    """What a line does, what it does to a word that another line uses, and what it may still do."""
    if traits & Traits.is_atomic:
        return "updates", "updates", "update"
    return ("writes", "overwrites", "write") if writes else ("reads", "reads", "read")


def _add_words(sight: Sight, race: Race, repair: tuple[int, str] | None) -> Sight:
    """The race with words for what is missing."""
    finding = sight.finding
    both = [(finding.other_line, finding.other_file), (finding.line, finding.file)]
    if (
        race.relation in IN_BLOCK
        and finding.file == finding.other_file
        and None not in (finding.line, finding.other_line)
    ):
        both.sort(key=lambda place: place[0] or 0)  # as they stand in the text, in whichever order they ran
    first, second = (_name_line(*place, is_alone=finding.file == finding.other_file) for place in both)
    if repair:
        words = repair[1].format(first=first, second=second)
    elif finding.severity == "warning":  # its message explains it already
        return sight
    else:
        words = _general_words(race, first, second)
    is_certain = repair is not None and repair[0] == Assume.scopes_reach
    severity = "error" if is_certain else finding.severity
    doubt = "late" if repair is not None and _is_published_too_early(sight, race, repair[0]) else sight.doubt
    named = replace(finding, severity=severity, message=f"{finding.message}; {words}")
    return replace(sight, finding=named, doubt=doubt)


def _is_published_too_early(sight: Sight, race: Race, repair: int) -> bool:
    """Whether a relaxed read follows an atomic that publishes a relaxed write, and only the writer's fence is missing.

    GPUs make the writes of a thread visible in any order. They keep the order of a thread's volatile reads, so a
    reader's missing fence stays a warning.
    """
    is_relaxed = race.traits & race.other_traits & Traits.is_volatile
    is_doubtful = sight.finding.severity == "warning" and sight.doubt is None
    return bool(is_relaxed and is_doubtful and race.writes != race.other_writes and repair == Assume.atomics_release)


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
