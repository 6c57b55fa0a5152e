"""The report kfuzz-report/1: one JSON document that says what a campaign did and found.

Knows campaigns; failure.py and summary.py make the text for people.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import click

from kfuzz.campaign.bugs import Bug
from kfuzz.campaign.result import KernelResult, Result
from kfuzz.campaign.state import Discovery
from kfuzz.cases import atomic
from kfuzz.cases.errors import CaseError
from kfuzz.claims.language.axes import Axis
from kfuzz.common.exit_codes import COULD_NOT, FOUND, INTERRUPTED, NOTHING_NEW
from kfuzz.common.printable import shown_path
from kfuzz.devices import ClaimError, Finding
from kfuzz.kinds import Severity
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.reports.claims import notes_on
from kfuzz.ui.reports.document import Document, FindingEntry, KernelEntry, SizesTogether, SizesTried
from kfuzz.ui.reports.failure import Statement, before_text, commands, evidence, occurrence_text
from kfuzz.ui.reports.inferred import inferred_claim
from kfuzz.ui.reports.properties import property_entries
from kfuzz.ui.reports.records import make_record
from kfuzz.ui.reports.silenced import silenced_findings


@dataclass(frozen=True, repr=False)
class Report:
    """A campaign that has ended, with its command, device and start."""

    result: Result
    command: tuple[str, ...]
    device: str
    started: datetime
    faults: Mapping[Path, ClaimError] = field(default_factory=dict)
    """Files that should be fuzzed but hold no kernel."""
    is_collection: bool = False
    """The targets are a collection of files: one that does not compile is counted, and is no fault of the campaign."""
    fail_on: Severity = "error"
    """The least severity of a finding that fails the run."""

    def __repr__(self) -> str:
        names = self.kernels[0].kernel.name if len(self.kernels) == 1 else plural(len(self.kernels), "kernel")
        found = ", ".join(repr(bug.headline.defect) for bug in self.bugs)
        tried = f"{plural(self.result.trials, 'trial')}, {plural(self.result.rows, 'row')}, seed {self.result.seed}"
        return f"<Report on {names}, {self.device}: exit code {self.exit_code}, {tried}{': ' if found else ''}{found}>"

    def to_dict(self) -> Document:
        """All of it, as `--json` writes it: a dictionary of texts, numbers, lists and dictionaries."""
        return document(self)

    @property
    def bugs(self) -> tuple[Bug, ...]:
        """The bugs of all kernels, errors before warnings; `headline.defect` says of each what is wrong."""
        return tuple(bug for each in self.kernels for bug in each.bugs)

    @property
    def kernels(self) -> tuple[KernelResult, ...]:
        """The progress and the findings of each kernel."""
        return self.result.kernels

    @property
    def failing(self) -> tuple[Bug, ...]:
        """The bugs that fail the run."""
        return tuple(bug for each in self.kernels for bug in each.failing(self.fail_on))

    @property
    def exit_code(self) -> int:
        """130 interrupted, 1 a new finding fails the run, 2 a kernel was not judged or its file is at fault, else 0."""
        if self.result.stop_reason == "interrupted":
            return INTERRUPTED
        if self.failing:
            return FOUND
        could_not = any(each.could_not for each in self.kernels)
        is_idle = not any(each.is_judged for each in self.kernels)
        is_lacking = (self.faults or could_not) and not self.is_collection
        return COULD_NOT if is_lacking or is_idle else NOTHING_NEW


def document(report: Report) -> Document:
    """The document."""
    result = report.result
    return {
        "schema": "kfuzz-report/1",
        "command": list(report.command),
        "seed": result.seed,
        "shard": str(result.shard),
        "device": report.device,
        "started": report.started.astimezone(UTC).isoformat(timespec="seconds"),
        "seconds": round(result.seconds, 3),
        "stop_reason": result.stop_reason,
        "exit_code": report.exit_code,
        "fail_on": report.fail_on,
        "trials": result.trials,
        "rows": result.rows,
        "kernels": [_kernel(each) for each in result.kernels],
        "unusable": [str(fault) for fault in report.faults.values()],
        "unusable_files": [shown_path(path) for path in report.faults],
    }


def _kernel(result: KernelResult) -> KernelEntry:
    kernel, progress = result.kernel, result.progress
    bug_of = {one.defect.bucket: bug.headline.defect.bucket for bug in result.bugs for one in bug.every}
    return {
        "name": kernel.name,
        "op": kernel.shown_op,
        "path": shown_path(kernel.path),
        "broken": kernel.broken is not None,
        "trials": progress.trials,
        "rows": progress.rows,
        "sizes": {
            name: _size(axis, progress.smallest.get(name), progress.largest.get(name), kernel.home.get(name))
            for name, axis in kernel.axes.items()
        },
        "tried": _tried(progress.tried),
        "rungs": sorted(progress.rungs),
        "unjudged_rows": progress.unjudged_rows,
        "worst_ratio": progress.worst_ratio,
        "worst_ulps": progress.worst_ulps,
        "ratios": list(progress.ratios),
        "error": progress.error,
        "stopped": progress.retired,
        "unjudged": result.unjudged,
        "hardly_tried": result.is_hardly_tried,
        "not_judged": progress.not_judged,
        "notes": list(notes_on(result)),
        "inferred": inferred_claim(kernel, {bug.headline.defect.kind for bug in result.news}),
        "silenced": silenced_findings(result),
        "properties": property_entries(result),
        "seconds": {part: round(seconds, 3) for part, seconds in sorted(progress.seconds.items())},
        "size_costs": {name: round(value, 3) for name, value in sorted(progress.size_costs.items())},
        "source": kernel.source if result.discoveries else None,
        "findings": [finding_entry(one, bug_of[one.defect.bucket]) for one in result.discoveries],
    }


def _size(axis: Axis, smallest: int | None, largest: int | None, home: int | None) -> SizesTried:
    return {
        "claimed": str(axis),
        "least": axis.lo,
        "most": axis.hi,
        "smallest_tried": smallest,
        "largest_tried": largest,
        "home": home,
    }


def _tried(octaves: Mapping[str, int]) -> list[SizesTogether]:
    found = {tuple(map(int, sizes.split())): trials for sizes, trials in octaves.items()}
    return [{"sizes": list(sizes), "trials": found[sizes]} for sizes in sorted(found)]


@dataclass(frozen=True)
class EntryParts:
    """What the entry of a discovery has besides the attributes of the discovery, its defect and its scene."""

    one: Discovery
    bug: str

    @property
    def confirmed(self) -> str:
        return self.one.confirmed or ("yes" if "gpu" in self.one.devices else "not run")

    @property
    def threads(self) -> Finding | None:
        """The finding of a race, if the device named both threads and their launch."""
        found = self.one.defect.finding
        return found if found is not None and found.has_both_threads else None

    @property
    def evidence(self) -> Sequence[Statement]:
        one = self.one
        seen = occurrence_text(one.first_trial, one.count, one.devices, one.confirmed)
        return *evidence(one.defect), seen, *before_text(one)

    @property
    def commands(self) -> Sequence[Statement]:
        one = self.one
        return tuple(commands(one.defect, one.path, one.is_minimized)) if one.path else ()


def finding_entry(one: Discovery, bug: str) -> FindingEntry:
    """The entry of a discovery; `bug` is the bucket of the finding that describes its bug best."""
    return make_record(FindingEntry, EntryParts(one, bug), one, one.defect, one.defect.scene)


STDOUT = Path("-")


def write(path: Path, text: str) -> None:
    """Write a text, all of it or nothing; through a link to where it points, and directly into a pipe."""
    try:
        if path == STDOUT:
            click.echo(text, nl=False)
            return
        if path.exists() and not path.is_file():  # such as /dev/stdout, which must not be replaced
            path.write_text(text, encoding="utf-8")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(path.resolve(), text.encode())
    except OSError as error:
        raise _unwritable(path, error) from None


def append(path: Path, text: str) -> None:
    """Add to the end of a file."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> CaseError:
    return CaseError(f"{path}: cannot be written: {error.strerror}")
