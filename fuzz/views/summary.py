"""The end of a campaign on the terminal: what is broken, then a line for each kernel, then one for all.

Knows the report and rich's tables; never how anything was found.
"""

from collections.abc import Iterator
from pathlib import Path

from kfuzz.claims.kernel import KERNELS
from kfuzz.views.failure import failure_text, option_for
from kfuzz.views.report import Finding, KernelReport, Report, errors_of
from rich.table import Table

MOST_ALSO = 6


def failures(report: Report) -> Iterator[str]:
    """For each kernel its simplest new error in full, and the others in a line each."""
    for kernel in report["kernels"]:
        errors = errors_of(kernel)
        if errors:
            first = min(errors, key=simplicity)
            option = option_for(Path(kernel["path"]), KERNELS)
            others = [f"  also      {also(finding)}" for finding in errors if finding is not first]
            more = [f"  also      {len(others) - MOST_ALSO} more, see --json"] if len(others) > MOST_ALSO else []
            yield "\n".join([failure_text(first, option), *others[:MOST_ALSO], *more])


def simplicity(finding: Finding) -> tuple[int, int, str]:
    """What is read first: where something is seen to go wrong before that it has gone wrong; then the smaller."""
    size = finding["extent"]["elements"] if finding["extent"] else 0
    return size, finding["first_trial"] or 0, finding["bucket"]


def also(finding: Finding) -> str:
    return finding["bucket"].partition(": ")[2] + (f"  {finding['case']}" if finding["case"] else "")


def troubles(report: Report) -> Iterator[str]:
    """What kept kernels from being tried to the end."""
    for kernel in report["kernels"]:
        if kernel["error"]:
            yield f"{kernel['name']}: {kernel['error']}"
        elif kernel["stopped"]:
            yield f"{kernel['name']}: {kernel['stopped']}"


def table(report: Report) -> Table:
    """One line for each kernel."""
    found = Table("kernel", box=None, pad_edge=False)
    for heading in ("trials", "rows", "worst error"):
        found.add_column(heading, justify="right")
    found.add_column("findings")
    for kernel in report["kernels"]:
        ratio = f"{kernel['worst_ratio']:.2f} of bound" if kernel["rows"] else "-"
        found.add_row(kernel["name"], f"{kernel['trials']}", f"{kernel['rows']}", ratio, counts(kernel))
    return found


def counts(kernel: KernelReport) -> str:
    """`2 new, 1 known, 1 warning`; a dash where there is nothing."""
    every = kernel["findings"]
    new = len(errors_of(kernel))
    known = sum(one["known"] for one in every)
    warnings = sum(one["severity"] == "warning" and not one["known"] for one in every)
    told = [f"{new} new" if new else "", f"{known} known" if known else ""]
    told += [f"{warnings} warning{'s' * (warnings > 1)}" if warnings else "", "cannot run" if kernel["error"] else ""]
    return ", ".join(filter(None, told)) or "-"


def verdict(report: Report) -> str:
    """One line for all."""
    seconds = report["seconds"]
    rate = f"{report['trials'] / seconds:.0f} trials/s, " if seconds else ""
    broken = [kernel for kernel in report["kernels"] if errors_of(kernel)]
    news = sum(len(errors_of(kernel)) for kernel in broken)
    if news:
        said = f"broken: {len(broken)} of {len(report['kernels'])} kernels, in {news} way{'s' * (news > 1)}"
    elif report["rows"]:
        said = (
            "nothing new is broken" if any(kernel["findings"] for kernel in report["kernels"]) else "nothing is broken"
        )
    else:
        said = "nothing was tested"
    amount = f"{report['trials']} trials, {report['rows']} rows in {seconds:.1f} s ({rate}device {report['device']}, "
    stopped = {"max-cases": "", "max-time": ""}.get(report["stop_reason"], f"; {report['stop_reason']}")
    return f"{said}: {amount}seed {report['seed']}){stopped}{untried(report)}"


def untried(report: Report) -> str:
    """Of how many kernels nothing is known, and what would change that; nothing where each was tried."""
    left = sum(not kernel["trials"] and not kernel["stopped"] for kernel in report["kernels"])
    if not left or report["stop_reason"] not in ("max-cases", "max-time"):
        return ""
    return f"; {left} of {len(report['kernels'])} kernels were not tried at all: give more --{report['stop_reason']}"
