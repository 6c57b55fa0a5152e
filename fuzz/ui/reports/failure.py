"""The text of a defect: what is wrong, how much of it, the case in words, and the commands that you can run next.

Knows defects from campaigns, replays and the minimizer.
"""

import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kfuzz.campaign.state import Discovery
from kfuzz.campaign.trials.defect import Defect, plain_bucket
from kfuzz.campaign.trials.replay import Replay
from kfuzz.cases import case_file, case_line
from kfuzz.cases.case import Record
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import KERNELS
from kfuzz.common.printable import shown_path
from kfuzz.kinds import Kind
from kfuzz.oracle.numbers.plural import plural
from kfuzz.oracle.numbers.verdict import Extent, Pattern, Worst
from kfuzz.ui.reports.document import FindingEntry

LABEL = 10
WIDTH, NARROWEST = 118, 40
LONGEST_PASTE = 2 * WIDTH
"""A case that takes more characters is spelled out on request alone."""
JUST_OUTSIDE = 1.01
"""Below this multiple of the bound three digits would show 1, which reads like no error."""
MOST_LINES = 40
"""Lines of a kernel's output that are shown."""
FOUND_LABEL = "found"
UNLIKE: dict[Kind, str] = {"race": "race", "stateful": "state"}
"""Kinds for which another run gives a right answer, and the label of the statement that names both runs."""
PASTE = "paste"
COMMANDS = ("file", "replay", "minimize", PASTE)
"""Labels of lines for you to copy, which are never wrapped."""
Statement = tuple[str, str]


def failure_text(
    defect: Defect, seen: Statement, case: Path | None = None, is_minimized: bool = False, verbose: bool = True
) -> str:
    """The block for one defect; `seen` says how often it occurred, and `case` is the file that reproduces it.

    Its first line is the bucket, which begins with the kernel's name. Without `verbose` a long case is not spelled out.
    """
    rest = _short_commands(defect, case, is_minimized, verbose)
    return block(defect.title, defect.bucket, False, (*evidence(defect), seen, *rest))


def _short_commands(defect: Defect, case: Path | None, is_minimized: bool, verbose: bool) -> Sequence[Statement]:
    rest = commands(defect, case, is_minimized) if case else ()
    return [one for one in rest if verbose or one[0] != PASTE or len(one[1]) <= LONGEST_PASTE]


def entry_text(finding: FindingEntry) -> str:
    """The block for a finding of a report."""
    pairs = [(label, text) for label, text in (*finding["evidence"], *finding["commands"])]
    return block(finding["title"], finding["bucket"], finding["known"], pairs)


def block(title: str, bucket: str, is_known: bool, statements: Iterable[Statement]) -> str:
    """The bucket, then a line for each statement, wrapped unless it is there to be copied."""
    lines = [f"{title}  {plain_bucket(bucket)}" + ("  (known)" if is_known else "")]
    room = line_width() - LABEL - 2
    for label, said in statements:
        wrapped = [said] if label in COMMANDS else textwrap.wrap(said, room, break_long_words=False)
        lines += [f"  {label if row == 0 else '':<{LABEL}}{part}" for row, part in enumerate(wrapped)]
    return "\n".join(lines)


def line_width() -> int:
    """The width of a block's lines: on a narrow terminal its own, so that it breaks none of them."""
    return max(NARROWEST, min(WIDTH, shutil.get_terminal_size().columns)) if sys.stdout.isatty() else WIDTH


def discovery_text(one: Discovery, verbose: bool = False) -> str:
    """The block for a discovery of a campaign."""
    seen = occurrence_text(one.first_trial, one.count, one.devices, one.confirmed)
    rest = _short_commands(one.defect, one.path, one.is_minimized, verbose)
    every = (*evidence(one.defect), seen, *before_text(one), *rest)
    return block(one.defect.title, one.defect.bucket, one.is_known, every)


def before_text(one: Discovery) -> Iterator[Statement]:
    """That an earlier run has found the bug; nothing if it is new."""
    if one.is_kept_before:
        yield "known", "an earlier run has kept a case of this bug; it fails every run until a --baseline has it"


def occurrence_text(first_trial: int, count: int, devices: Sequence[str] = (), confirmed: str = "") -> Statement:
    """When and how often a campaign found it; with several devices, also on which, and whether the GPU confirms it."""
    times = f", {count} times in all" if count > 1 else ""
    who = f", on the {' and the '.join(devices)}; confirmed on the GPU: {confirmed}" if confirmed else ""
    return FOUND_LABEL, f"in trial {first_trial} of this kernel{times}{who}"


def replay_texts(found: Replay, record: Record, case: Path | None) -> Iterator[str]:
    """A block for each defect that the replay of a kept case shows."""
    is_minimized = record.origin is not None and record.origin.minimized
    for defect in found.defects:
        yield failure_text(defect, ("again", runs_text(found.broken_runs, found.runs)), case, is_minimized)
    for note in found.notes:
        yield note_text(note)


def note_text(note: str) -> str:
    """A note beside the defects, line by line, cut after MOST_LINES lines."""
    lines = note.rstrip().splitlines()
    left = [f"and {plural(len(lines) - MOST_LINES, 'line')} more"] if len(lines) > MOST_LINES else []
    shown = [*lines[:MOST_LINES], *left]
    return "\n".join(f"  {'note' if row == 0 else '':<{LABEL}}{line}" for row, line in enumerate(shown))


def runs_text(broken: int, runs: int) -> str:
    """How often: `always`, or so many times of so many."""
    return (
        f"always ({runs} of {plural(runs, 'run')})" if broken == runs else f"flaky: {broken} of {plural(runs, 'run')}"
    )


def evidence(defect: Defect) -> Iterator[Statement]:
    """What is wrong, where, and what shows it."""
    if defect.standing:
        ranked = f"{defect.title} {defect.standing}" if defect.title != "NARROW" else f"NARROW: {defect.standing}"
        yield ("rank", ranked) if defect.rank else ("limit", defect.standing)
    worst, extent = defect.worst, defect.extent
    if worst is None or extent is None:
        yield "seen", defect.message
    else:
        yield from describe_worst(worst)
        yield from error_size(defect, worst)
        yield "extent", extent_text(extent, len(worst.index))
        if defect.diagnosis or defect.detail:
            yield "diagnosis", ": ".join(part for part in (defect.diagnosis, defect.detail) if part)
        if defect.kind in UNLIKE and defect.right_run:
            yield UNLIKE[defect.kind], f"wrong in the run '{defect.run}', right in '{defect.right_run}'"
    yield "where", defect.where
    if defect.finding and defect.finding.calls:
        yield "calls", " > ".join(defect.finding.calls)
    yield "case", defect.scene.words
    if defect.scene.tune:
        yield "launch", " ".join(f"{name}={value}" for name, value in defect.scene.tune.items())


def commands(defect: Defect, case: Path, is_minimized: bool) -> Iterator[Statement]:
    """The file of the case, and the commands for it; they name the kernel if they would not find it."""
    named = kernel_option(Path(defect.scene.path), KERNELS, bool(defect.scene.said))
    option = (f" --kernel {shlex.quote(named)}" if named else "") + (f" {defect.scene.said}" if named else "").rstrip()
    place = shlex.quote(shown_path(case)) + option
    yield "file", shown_path(case)
    yield "replay", f"kfuzz replay {place}"
    if not is_minimized:
        yield "minimize", f"kfuzz minimize {place}"
    if line := line_to_paste(case):
        yield PASTE, f"kfuzz replay '{line}'{option}"


def line_to_paste(case: Path) -> str | None:
    """A small case as one line: a log that contains it is enough to run it again."""
    try:
        return case_line.as_line(case_file.read(case))
    except CaseError:  # it was removed in the meantime
        return None


def describe_worst(worst: Worst) -> Iterator[Statement]:
    """Index, got and want in decimal and hex, the enclosure, and how far outside it lies."""
    where = f"{worst.output}[{', '.join(map(str, worst.index))}]"
    yield "worst", f"{where} is {worst.got:.9g} (0x{worst.got_bits})"
    yield "want", f"{worst.want:.9g} (0x{worst.want_bits}), in [{worst.lo:.9g}, {worst.hi:.9g}]"


def error_size(defect: Defect, worst: Worst) -> Iterator[Statement]:
    """How far outside its interval the worst element lies, in units of the bound, if that is a number."""
    if defect.is_joint:
        yield "error", "in its interval by itself; no right computation gives this together with the rest of the row"
    elif defect.ratio is None:
        return
    elif worst.lo == worst.hi:
        yield "error", "exact: any difference is wrong"
    elif defect.ratio < JUST_OUTSIDE:
        yield "error", "just outside its interval"
    else:
        yield "error", f"{defect.ratio:.3g} x the bound"


def extent_text(extent: Extent, rank: int) -> str:
    """`3 of 257, all in row 0, cols 254..256`."""
    count, pattern = f"{extent.wrong} of {extent.elements}", pattern_text(extent.pattern, rank < 2)
    if rank < 2:
        return f"{count}, {pattern}"
    rows, more = extent.rows, extent.more_rows
    if len(rows) + more == 1:
        return f"{count}, all in row {rows[0]}, {pattern}"
    named = ", ".join(map(str, rows[:8])) + (", ..." if len(rows) + more > 8 else "")
    return f"{count}, in {plural(len(rows) + more, 'row')} ({named}); in the worst one {pattern}"


def pattern_text(pattern: Pattern, is_vector: bool) -> str:
    """`cols 254..256`; of a vector `elements 254..256`."""
    name = "element" if is_vector else "col"
    match pattern.region:
        case "head" | "tail" | "interior" if pattern.first == pattern.last:
            return f"{name} {pattern.first}"
        case "head" | "tail" | "interior":
            return f"{name}s {pattern.first}..{pattern.last}"
        case "row" if is_vector:
            return "all of them"
    return str(pattern)


def kernel_option(path: Path, library: Path, has_no_claim: bool = False) -> str:
    """The kernel's path, if `kfuzz replay` in this folder would not find the kernel by itself."""
    full = path.resolve()
    if has_no_claim:
        return shown_path(path)
    return "" if full.is_relative_to(library) or full.is_relative_to(Path.cwd()) else str(path)
