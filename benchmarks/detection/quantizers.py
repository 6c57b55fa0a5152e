"""Wrong quantizers, and the share of the groups in which each is seen, beside the tolerances in use elsewhere.

    python -m benchmarks.detection.quantizers [GROUPS]

A group differs if the wrong kernel writes another number or another scale there than the right one. The last row is
another right quantizer: x times 1 / scale for a division, the power of two by its bits for one by its exponent.
"""

import sys

import numpy as np

from kfuzz.oracle.selfcheck.planted_quantizers import CRITERIA, PlantedQuantizer, bugs, count_bug

TEXT = """Hostile rows: ties of the grid times a scale, amax at each place of a group, a power of two, zeros, outliers,
tiny and denormal numbers. "Round trip 1e-1" compares the dequantized numbers with x, at a relative 1e-1 and 2e-2 of
amax; "codes within 1" and "equal codes" compare with the codes of the right kernel. The shares are of the groups in
which the wrong kernel differs."""


def row(*cells: str) -> str:
    """A line of the table."""
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    groups = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    found = [count_bug(form, bug, groups) for form, bug in bugs()]
    print(f"{TEXT}\n\n{row('wrong quantizer', 'groups that differ', *CRITERIA)}\n|---|{'---:|' * (len(CRITERIA) + 1)}")
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
