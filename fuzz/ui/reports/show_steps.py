"""The text of one run of a reference: its steps, with lines, values and radii. Knows no reference and no torch."""

from collections.abc import Mapping, Sequence
from typing import Any

WIDEST = 44
"""The characters of an expression that are shown."""


def steps_text(name: str, steps: Sequence[Mapping[str, Any]]) -> str:
    """The steps as a table, and the one that moves the answer most."""
    rows: list[tuple[str, ...]] = [
        ("line", "expression", "operation", "result", "values", "largest radius", "moves the answer by")
    ]
    rows += [tuple(cells_of(one)) for one in steps]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    moving = [one for one in steps if one["moves"]]
    if not moving:
        return "\n".join((f"one run of {name}", *lines, "no step rounds anything"))
    most, total = max(moving, key=lambda one: one["moves"]), sum(one["moves"] for one in moving)
    where = f"{most['place']} {most['text'] or most['operation']}"
    share = f"{most['moves'] / total:.0%}" if total < float("inf") else "most"
    return "\n".join((f"one run of {name}", *lines, f"{share} of what the answer may be off comes from {where}"))


def cells_of(step: Mapping[str, Any]) -> list[str]:
    """One step in words."""
    text = step["text"] if len(step["text"]) <= WIDEST else step["text"][: WIDEST - 3] + "..."
    return [
        step["place"], text, step["operation"], step["result"], f"{step['least']:.4g} .. {step['greatest']:.4g}",
        f"{step['radius']:.2g}" if step["radius"] else "exact", f"{step['moves']:.2g}" if step["moves"] else "-",
    ]  # fmt: skip
