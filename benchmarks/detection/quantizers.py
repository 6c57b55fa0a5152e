"""Right quantizers, of which none may be accused, and wrong ones, beside the tolerances in use elsewhere.

    python -m benchmarks.detection measure quantizers [ROWS [GROUPS]]

Each right way quantizes ROWS rows in each of eight formats: 3072 make 1e8 elements. Each wrong one quantizes GROUPS
groups; a group differs if the wrong kernel writes another number or another scale there than the right one.
"""

from collections.abc import Sequence
from itertools import groupby

from benchmarks.measurement import Figures, Record
from tests.oracle.selfcheck import tasks
from tests.oracle.selfcheck.planted_quantizers import CRITERIA, PlantedQuantizer, bugs, count_bug
from tests.oracle.selfcheck.quantizers import FORMATS, QuantizerTally

ROWS, GROUPS = 3072, 3000


def measure(arguments: Sequence[str]) -> Figures:
    """Right and wrong quantizers, and claims that are not true."""
    rows, groups = (int(word) for word in (*arguments, *map(str, (ROWS, GROUPS)[len(arguments) :])))
    every = [task() for task in tasks.quantizer_tasks(rows)]
    alike = groupby(every, key=lambda one: one.name.rpartition(", ")[0])
    untrue = [task() for task in tasks.untrue_quantizer_tasks()]
    found = [count_bug(form, bug, groups) for form, bug in bugs()]
    right_accused = {
        name: sum(bug.accused[name] for bug in found) / sum(bug.groups for bug in found) for name in CRITERIA
    }
    numbers = {"formats": [str(form) for form in FORMATS], "criteria": [*CRITERIA], "right_accused": right_accused}
    return Figures(numbers, {
        "right": [*(record(name, list(tallies)) for name, tallies in alike), record("all", every)],
        "untrue": [{"claim": one.name, "accused": one.accused + one.scales} for one in untrue],
        "wrong": [
            {"bug": bug.name, "groups": bug.active, "seen": {name: share_of(bug, name) for name in CRITERIA}}
            for bug in found
        ],
    })  # fmt: skip


def record(name: str, tallies: Sequence[QuantizerTally]) -> Record:
    """Some right quantizers together."""
    elements, judged, several = (
        sum(getattr(one, what) for one in tallies) for what in ("elements", "judged", "several")
    )
    return {
        "name": name, "elements": elements, "several": several / judged, "unjudged": 1 - judged / elements,
        "accused": sum(one.accused + one.scales for one in tallies),
    }  # fmt: skip


def share_of(bug: PlantedQuantizer, criterion: str) -> float:
    """The share of the groups that differ in which a criterion sees the bug."""
    return bug.caught[criterion] / max(bug.active, 1)
