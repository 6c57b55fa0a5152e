"""A finding as a person reads it: what is wrong, how much of it, the case in words, and the commands to go on with.

Knows the report's findings; never how they were found.
"""

import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path

from kfuzz.views.report import Extent, Finding, Worst

LABEL = 10
WIDTH = 118


def failure_text(finding: Finding, option: str = "", seen: str = "") -> str:
    """The block for one finding. `option` names the kernel's file where commands would not find it by themselves.

    Its first line is the bucket, which begins with the kernel's name.
    """
    title = "WARNING" if finding["severity"] == "warning" else "BROKEN"
    lines = [f"{title}  {finding['bucket']}" + ("  (known)" if finding["known"] else "")]
    for label, said in statements(finding, option, seen):
        wrapped = [said] if label in COMMANDS else textwrap.wrap(said, WIDTH - LABEL - 2, break_long_words=False)
        lines += [f"  {label if row == 0 else '':<{LABEL}}{part}" for row, part in enumerate(wrapped)]
    return "\n".join(lines)


COMMANDS = ("file", "replay", "minimize")
"""Lines to be copied are never broken."""


def statements(finding: Finding, option: str, seen: str) -> Iterator[tuple[str, str]]:
    """What there is to say, each with its label."""
    worst, extent = finding["worst"], finding["extent"]
    if worst is None or extent is None:
        yield "seen", finding["message"]
    else:
        yield from worst_element(worst)
        yield "extent", extent_text(extent, len(worst["index"]))
        if finding["diagnosis"] or finding["detail"]:
            yield "diagnosis", ": ".join(part for part in (finding["diagnosis"], finding["detail"]) if part)
        if finding["kind"] == "race":
            yield "race", finding["message"].split(":")[0]
    yield "where", finding["where"]
    launch = " ".join(f"{name}={value}" for name, value in finding["tune"].items())
    yield "case", finding["words"]
    if launch:
        yield "launch", launch
    if seen:
        yield "again", seen
    elif finding["first_trial"] is not None:
        times = f", {finding['count']} times in all" if finding["count"] > 1 else ""
        yield "found", f"in trial {finding['first_trial']} of this kernel{times}"
    if finding["case"]:
        place = shlex.quote(finding["case"]) + (f" --kernel {shlex.quote(option)}" if option else "")
        yield "file", finding["case"]
        yield "replay", f"kfuzz replay {place}"
        if not finding["minimized"]:
            yield "minimize", f"kfuzz minimize {place}"


def worst_element(worst: Worst) -> Iterator[tuple[str, str]]:
    """Index, got and want in decimal and hex, the enclosure, and how far outside it lies."""
    where = f"{worst['output']}[{', '.join(map(str, worst['index']))}]"
    yield "worst", f"{where} is {decimal(worst['got'])} (0x{worst['got_bits']})"
    allowed = f", in [{decimal(worst['lo'])}, {decimal(worst['hi'])}]"
    yield "want", f"{decimal(worst['want'])} (0x{worst['want_bits']}){allowed}"
    if worst["ratio"] is not None:
        yield "error", f"{ratio_text(worst['ratio'])} x the bound"


def decimal(value: float | str) -> str:
    """Nine digits, which tell all float32 apart."""
    return value if isinstance(value, str) else f"{value:.9g}"


def ratio_text(value: float | str) -> str:
    """Three digits of a ratio."""
    return value if isinstance(value, str) else f"{value:.3g}"


def extent_text(extent: Extent, rank: int) -> str:
    """`3 of 257, all in row 0, cols 254..256`."""
    count = f"{extent['wrong']} of {extent['elements']}"
    pattern = re.sub(r"^(?:head|tail|interior), (\d+)\.\.(\d+)$", r"cols \1..\2", extent["pattern"])
    pattern = re.sub(r"^(?:head|tail|interior), (\d+)$", r"col \1", pattern)
    if rank < 2:
        return f"{count}, {pattern.replace('col', 'element').replace('the whole row', 'all of them')}"
    rows, more = extent["rows"], extent["more_rows"]
    if len(rows) + more == 1:
        return f"{count}, all in row {rows[0]}, {pattern}"
    named = ", ".join(map(str, rows[:8])) + (", ..." if len(rows) + more > 8 else "")
    return f"{count}, in {len(rows) + more} rows ({named}); in the worst one {pattern}"


def option_for(path: Path, library: Path) -> str:
    """The kernel's path, where `kfuzz replay` in this folder would not find the kernel by itself."""
    full = path.resolve()
    return "" if full.is_relative_to(library) or full.is_relative_to(Path.cwd()) else str(path)
