"""Which sights count in a program, whose compiler writes what a reader of CUDA would not accept.

A program has no threads. Its compiler keeps one element in several threads, which store it by one instruction, and
lets a thread read elements whose values it never uses, while another thread of the program overwrites them.
"""

from collections.abc import Iterable
from dataclasses import replace

from kfuzz.devices.cpu.abi import Relation, Traits
from kfuzz.devices.cpu.findings import Race, Sight
from kfuzz.devices.cpu.sights import Doubt

_IN_PROGRAM = (Relation.in_one_warp, Relation.in_one_block)
_STORES = "threads of one program store several values there, and which of them stays is not defined"
_LAYOUTS = "the program keeps these elements in two layouts: put tl.debug_barrier() between the two lines"
_SHARED = "no line of the kernel can order them: the compiler has left out a barrier"
_FENCES = "no line of the kernel can write the fence: the compiler has left it out"
_WAITS = "no line of the kernel can wait for it: the compiler waits too late in PTX, and ptxas may wait earlier (C7515)"
_PROGRAMS = "nothing orders programs: let each write elements of its own, use atomics, or launch twice"


def judge_program(sights: Iterable[Sight], is_fenced: bool) -> list[Sight]:
    """The sights that count, each as severe as it is in a program. `is_fenced`: its compiler writes proxy fences and
    waits for products."""
    return [made for one in sights if (made := _judge(one, is_fenced)) is not None]


def _judge(sight: Sight, is_fenced: bool) -> Sight | None:
    race, is_error = sight.race, sight.finding.severity == "error"
    if is_fenced and sight.finding.kind == "missing-proxy-fence":
        return _as_warning(_explain(sight, _FENCES))
    if is_fenced and sight.finding.kind == "product-in-flight":
        return _as_warning(_explain(sight, _WAITS))
    if race is None or sight.finding.kind != "race" or _is_in_flight(race):
        return sight
    if race.relation == Relation.in_other_blocks:
        return _explain(sight, _PROGRAMS) if is_error else sight
    if race.relation not in _IN_PROGRAM:
        return sight
    if not is_error:  # every write left the same value, or one of the two is an atomic
        return sight if race.traits or race.other_traits else None
    if race.writes and race.other_writes and _is_one_line(sight):  # between turns of a loop, reads would race, too
        return _doubt(_explain(sight, _STORES), "copies")
    if race.in_shared:
        return _explain(sight, _SHARED)
    return _doubt(_explain(sight, _LAYOUTS), "reads")


def _is_one_line(sight: Sight) -> bool:
    finding = sight.finding
    return finding.line is not None and (finding.file, finding.line) == (finding.other_file, finding.other_line)


def _is_in_flight(race: Race) -> bool:
    """Whether one of the two is a copy or a product that no thread makes, for which a program must wait."""
    return bool((race.traits | race.other_traits) & Traits.is_bulk)


def _as_warning(sight: Sight) -> Sight:
    return replace(sight, finding=replace(sight.finding, severity="warning"))


def _doubt(sight: Sight, doubt: Doubt) -> Sight:
    """The sight as one that an experiment has to settle."""
    return replace(_as_warning(sight), doubt=doubt)


def _explain(sight: Sight, words: str) -> Sight:
    return replace(sight, finding=replace(sight.finding, message=f"{sight.finding.message}; {words}"))
