"""Groups the findings of a report by bug, and sums them up: the part that all formats share.

Knows the report; it knows no format.
"""

import hashlib
from collections.abc import Sequence

from kfuzz.kinds import Severity, fails_run
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.reports.document import FindingEntry, KernelEntry

FAIL_WORDS = " (the run fails on warnings)"


def by_bug(kernel: KernelEntry) -> list[list[FindingEntry]]:
    """The findings of each bug; the first describes it best, or is the first here if that one is in another report."""
    bugs: dict[str, list[FindingEntry]] = {}
    for one in kernel["findings"]:
        bugs.setdefault(one["bug"], []).append(one)
    return [sorted(every, key=lambda one: one["bucket"] != bug) for bug, every in bugs.items()]


def ways_text(bug: list[FindingEntry]) -> str:
    """In how many ways the bug shows; empty for one."""
    return f"seen in {len(bug)} ways" if len(bug) > 1 else ""


def failing(kernel: KernelEntry, fail_on: Severity) -> list[list[FindingEntry]]:
    """The bugs that fail the run: they are not in the baseline, and grave enough."""
    return [bug for bug in by_bug(kernel) if fails_run(bug[0]["severity"], fail_on) and not bug[0]["known"]]


def errors_of(kernel: KernelEntry) -> list[FindingEntry]:
    """The findings that make the kernel broken: errors that are not in the baseline."""
    return [one for one in kernel["findings"] if one["severity"] == "error" and not one["known"]]


def verdict(kernels: Sequence[KernelEntry]) -> str:
    """The verdict of a report in a few words."""
    broken = [kernel for kernel in kernels if errors_of(kernel)]
    if broken:
        return f"{len(broken)} of {plural(len(kernels), 'kernel')} broken"
    if not any(kernel["rows"] for kernel in kernels):
        return "nothing was tested"
    return "nothing new is broken" if any(kernel["findings"] for kernel in kernels) else "nothing found"


def fingerprint(finding: FindingEntry) -> str:
    """The same for the same bug, even after edits above have moved its line."""
    return hashlib.sha256(finding["bucket"].encode()).hexdigest()[:32]
