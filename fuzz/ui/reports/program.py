"""The result of `kfuzz check`: the terminal's text, and a report like that of a campaign.

Knows defects and the report's fields; it does not know how a program runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from kfuzz.campaign.bugs import Bug, bugs_of
from kfuzz.campaign.state import RATIO_STEPS, Discovery
from kfuzz.common.exit_codes import COULD_NOT, FOUND, INTERRUPTED, NOTHING_NEW
from kfuzz.common.printable import printable, shown_path
from kfuzz.devices.cpu.programs.sampling import CheckedShare, SampledShare
from kfuzz.kinds import Severity, fails_run
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.reports.by_bug import FAIL_WORDS
from kfuzz.ui.reports.document import Document, KernelEntry, SilencedFinding
from kfuzz.ui.reports.failure import FOUND_LABEL, failure_text
from kfuzz.ui.reports.report import finding_entry
from kfuzz.ui.reports.silenced import entries_of
from kfuzz.ui.reports.summary import other_sign

MOST_LINES = 12
"""Lines of the output of a program that ends with an error."""


@dataclass(frozen=True)
class ProgramReport:
    """The result of a program under the checker; each discovery counts the inputs that show it."""

    name: str
    path: Path
    source: str
    command: tuple[str, ...]
    again: str
    started: datetime
    seconds: float
    seed: int
    inputs: int
    runs: int
    finished: int
    planned: tuple[int, int]
    """The runs that were asked for: how many ended, of how many."""
    thread_steps: int
    share: CheckedShare
    sampled: SampledShare
    discoveries: tuple[Discovery, ...]
    troubles: tuple[str, ...]
    """Why runs could not go on."""
    own_ends: tuple[str, ...] = ()
    """How the program itself ended, if that was an error; what was checked until then counts."""
    made_up: tuple[str, ...] = ()
    """What it got that kfuzz made up, and how to give it something else."""
    cut: tuple[str, ...] = ()
    """Where runs were that did not end in time."""
    is_interrupted: bool = False
    fail_on: Severity = "error"

    @property
    def bugs(self) -> tuple[Bug, ...]:
        """The findings by cause."""
        return bugs_of(one for one in self.discoveries if not one.defect.silenced)

    @property
    def silenced(self) -> list[SilencedFinding]:
        """What comments in the source silence, and those that silence nothing."""
        return entries_of(
            [one for one in self.discoveries if one.defect.silenced], {shown_path(self.path): self.source}
        )

    @property
    def exit_code(self) -> int:
        """130 interrupted, 1 a finding fails the run, 2 a run could not go on or nothing was checked, else 0."""
        if self.is_interrupted:
            return INTERRUPTED
        if any(fails_run(bug.headline.defect.severity, self.fail_on) for bug in self.bugs):
            return FOUND
        return NOTHING_NEW if self.is_tested and not self.troubles else COULD_NOT

    @property
    def is_tested(self) -> bool:
        """Whether a launch was checked, at least a block of it; of programs that end, any launch counts."""
        return bool(self.share.launches if self.finished else self.share.blocks)


def blocks(report: ProgramReport) -> Iterator[str]:
    """A block for each bug, errors first."""
    for bug in report.bugs:
        one = bug.headline
        inputs = f"; seen with {one.count} of {report.inputs} inputs" if report.inputs > 1 else ""
        lines = [failure_text(one.defect, (FOUND_LABEL, f"{times(one)}{inputs}"))]
        yield "\n".join(
            [*lines, *(f"  also      {other_sign(other)}" for other in bug.also), f"  again     {report.again}"]
        )


def times(one: Discovery) -> str:
    """How often in one run."""
    count = one.defect.finding.count if one.defect.finding else 1
    return f"{count} times in a run" if count > 1 else "once in a run"


def verdict(report: ProgramReport) -> str:
    """The verdict in one line."""
    errors = [bug for bug in report.bugs if bug.is_error]
    warnings = len(report.bugs) - len(errors)
    said = f"broken in {plural(len(errors), 'way')}" if errors else "nothing found"
    if not errors and not report.is_tested:
        idle = "nothing was judged, since the program launched no kernel"
        said = idle if report.finished else "nothing was tested"
    elif not errors and not report.finished:
        said = "nothing found in what ran"
    said = f"interrupted, {said} so far" if report.is_interrupted else said
    said += f", {plural(warnings, 'warning')}" if warnings else ""
    said += FAIL_WORDS if warnings and not errors and report.exit_code == FOUND else ""
    inputs = f"{report.inputs} inputs, " if report.inputs > 1 else ""
    launches = plural(report.share.launches, "launch", "launches")
    ended, planned = report.planned
    runs = plural(report.runs, "run") if ended == planned else f"{ended} of {plural(planned, 'run')}"
    work = f"{inputs}{runs}, {launches}, {plural(report.thread_steps, 'thread step')}"
    return f"{report.name}: {said}: {work} in {report.seconds:.1f} s (seed {report.seed})"


def share_notes(report: ProgramReport) -> Iterator[str]:
    """Lines that say what was checked, and what not."""
    share = report.share
    launches, ran = plural(share.launches, "launch", "launches"), plural(share.blocks, "block")
    checked = f"Of {launches} up to there {share.begun:,} ran; of their {ran} {share.in_full:,} were checked in full"
    for one in report.cut:
        yield f"{one}. {checked}. Later work was not reached: use a longer --max-time, or give the program less to do"
    for one in report.made_up:
        yield f"{report.name}: {one}; kfuzz made that up, so that no finding is more than a warning"
    yield from sampling_notes(report.sampled)


def sampling_notes(share: SampledShare) -> Iterator[str]:
    """A line that says how many blocks were checked, if not all were checked in full."""
    if share.in_full < share.blocks:
        launches = plural(share.launches, "launch", "launches")
        met = f", {share.in_part:,} where they access the same memory," * (share.in_part > 0)
        yield (
            f"of {share.blocks:,} blocks of {launches} {share.in_full:,} were checked in full{met} "
            "and all for their bounds; --whole checks all in full"
        )
    if share.skipped:
        yield (
            f"{plural(share.skipped, 'launch', 'launches')} repeated an earlier one and were not run, since it left "
            "all memory as it was or nothing read what they would change; --whole runs all"
        )


def last_lines(text: str) -> str:
    """The last lines of a program's output, indented."""
    lines = printable(text.rstrip()).splitlines()
    return "\n".join(f"  | {line}" for line in lines[-MOST_LINES:])


def document(report: ProgramReport) -> Document:
    """The report as a document: a program is a kernel of the op `program`, its runs are trials."""
    bug_of = {one.defect.bucket: bug.headline.defect.bucket for bug in report.bugs for one in bug.every}
    entry: KernelEntry = {
        "name": report.name,
        "op": "program",
        "path": shown_path(report.path),
        "broken": False,
        "trials": report.runs,
        "rows": report.finished,
        "sizes": {},
        "tried": [],
        "rungs": [],
        "unjudged_rows": 0,
        "worst_ratio": 0.0,
        "worst_ulps": None,
        "ratios": [0] * RATIO_STEPS,
        "error": "",
        "stopped": "",
        "unjudged": "; ".join((*report.cut, *report.troubles)),
        "hardly_tried": False,
        "not_judged": [],
        "notes": [*report.own_ends, *share_notes(report)],
        "inferred": None,
        "silenced": report.silenced,
        "properties": {},
        "seconds": {"runs": round(report.seconds, 3)},
        "size_costs": {},
        "source": report.source if report.discoveries else None,
        "findings": [finding_entry(one, bug_of[one.defect.bucket]) for bug in report.bugs for one in bug.every],
    }
    for finding in entry["findings"]:
        finding["commands"] = [["again", report.again]]
    return {
        "schema": "kfuzz-report/1",
        "command": list(report.command),
        "seed": report.seed,
        "shard": "1/1",
        "device": "cpu",
        "started": report.started.astimezone(UTC).isoformat(timespec="seconds"),
        "seconds": round(report.seconds, 3),
        "stop_reason": "interrupted" if report.is_interrupted else "finished",
        "exit_code": report.exit_code,
        "fail_on": report.fail_on,
        "trials": report.runs,
        "rows": report.finished,
        "kernels": [entry],
        "unusable": [],
        "unusable_files": [],
    }
