"""Right quantizers, of which none may be accused, and wrong ones, beside the tolerances in use elsewhere.

    python -m benchmarks.detection.quantizers [ROWS [GROUPS]]

Each right way quantizes ROWS rows in each of eight formats: 3072 make 1e8 elements. Each wrong one quantizes GROUPS
groups; a group differs if the wrong kernel writes another number or another scale there than the right one.
"""

import sys
from itertools import groupby

import numpy as np

from kfuzz.oracle.selfcheck import tasks
from kfuzz.oracle.selfcheck.planted_quantizers import CRITERIA, PlantedQuantizer, bugs, count_bug
from kfuzz.oracle.selfcheck.quantizers import FORMATS, QuantizerTally

ROWS, GROUPS = 3072, 3000
RIGHT = """Hostile rows: ties of the grid times a scale, amax at each place of a group, a power of two, zeros, outliers,
tiny and denormal numbers, in groups of 32 and of 128. The formats are {formats}.
"Several" is the share of the codes for which the oracle admits more than one number, and "not judged" the share beyond
the largest number where the claim does not say what becomes of it."""
UNTRUE = """The same ways under claims that are not true of them, which have to be accused, 600 rows of e4m3 each:"""
WRONG = """Wrong quantizers on rows of the same kinds. "Round trip 1e-1" compares the dequantized numbers with x, at a
relative 1e-1 and 2e-2 of amax; "codes within 1" and "equal codes" compare with the codes of the right kernel. The
shares are of the groups in which the wrong kernel differs. The last row is another right quantizer: x times 1 / scale
for a division, the power of two by its bits for one by its exponent."""


def row(*cells: str) -> str:
    """A line of the table."""
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the tables."""
    rows, groups = (int(word) for word in (*sys.argv[1:], *map(str, (ROWS, GROUPS)[len(sys.argv) - 1 :])))
    print_right(rows)
    print_wrong(groups)


def print_right(rows: int) -> None:
    """Print how many elements and scales of right quantizers lie outside, by way, and that the check can fail."""
    every = [task() for task in tasks.quantizer_tasks(rows)]
    print(RIGHT.format(formats=", ".join(map(str, FORMATS))), end="\n\n")
    print(f"{row('right quantizer', 'elements', 'several', 'not judged', 'accused')}\n|---|{'---:|' * 4}")
    for name, tallies in groupby(every, key=lambda one: one.name.rpartition(", ")[0]):
        print(line_of(name, list(tallies)), flush=True)
    print(line_of("all", every))
    print(f"\n{UNTRUE}\n\n{row('claim', 'accused')}\n|---|---:|")
    for one in (task() for task in tasks.untrue_quantizer_tasks()):
        print(row(one.name, f"{one.accused + one.scales:,}"), flush=True)


def line_of(name: str, tallies: list[QuantizerTally]) -> str:
    """A line on some right quantizers together."""
    elements, judged, several = (
        sum(getattr(one, what) for one in tallies) for what in ("elements", "judged", "several")
    )
    accused = sum(one.accused + one.scales for one in tallies)
    return row(name, f"{elements:,}", f"{several / judged:.3%}", f"{1 - judged / elements:.1%}", f"{accused:,}")


def print_wrong(groups: int) -> None:
    """Print the share of the groups of wrong quantizers in which each criterion sees them."""
    found = [count_bug(form, bug, groups) for form, bug in bugs()]
    print(
        f"\n{WRONG}\n\n{row('wrong quantizer', 'groups that differ', *CRITERIA)}\n|---|{'---:|' * (len(CRITERIA) + 1)}"
    )
    for bug in found:
        print(row(bug.name, str(bug.active), *(f"{share_of(bug, name):.0%}" for name in CRITERIA)))
    mean = [np.mean([share_of(bug, name) for bug in found]) for name in CRITERIA]
    print(row("mean", "", *(f"{share:.1%}" for share in mean)))
    seen = [sum(bug.caught[name] > 0 for bug in found) for name in CRITERIA]
    print(row(f"seen at all, of {len(found)}", "", *map(str, seen)))
    accused = [sum(bug.accused[name] for bug in found) / sum(bug.groups for bug in found) for name in CRITERIA]
    print(row("right groups accused", "", *(f"{share:.1%}" for share in accused)))


def share_of(bug: PlantedQuantizer, criterion: str) -> float:
    """The share of the groups that differ in which a criterion sees the bug."""
    return bug.caught[criterion] / max(bug.active, 1)


if __name__ == "__main__":
    main()
