"""The report in the words of CI services: GitHub's annotations and job summary, GitLab's code quality.

Knows the report and these formats; never which service is running.
"""

import json

from kfuzz.views.by_bug import by_bug, seen_in
from kfuzz.views.document import Document, FindingEntry, KernelEntry
from kfuzz.views.page import errors_of, verdict
from kfuzz.views.sarif import fingerprint

MOST_ANNOTATIONS = 50
"""GitHub shows so many a run."""
LONGEST = 300
"""Characters of one cell of a table."""


def as_annotations(report: Document) -> str:
    """GitHub's workflow commands: a line a bug, which the service shows beside the line of the kernel."""
    told = [(kernel, bug) for kernel in report["kernels"] for bug in by_bug(kernel) if not bug[0]["known"]]
    told.sort(key=lambda pair: pair[1][0]["severity"] == "warning")
    lines = [_annotation(kernel, bug) for kernel, bug in told[:MOST_ANNOTATIONS]]
    for kernel in report["kernels"]:
        if trouble := kernel["error"] or kernel["unjudged"]:
            lines.append(f"::error file={_property(kernel['path'])},title=kfuzz claim::{_message(trouble)}")
    lines += [f"::error title=kfuzz claim::{_message(fault)}" for fault in report["unusable"]]
    return "".join(f"{line}\n" for line in lines)


def _annotation(kernel: KernelEntry, bug: list[FindingEntry]) -> str:
    finding = bug[0]
    word = "warning" if finding["severity"] == "warning" else "error"
    file, line = finding["file"] or kernel["path"], finding["line"] or 1
    title = _property(f"kfuzz: {finding['kind']} in {kernel['name']}")
    return f"::{word} file={_property(file)},line={line},title={title}::{_message(_told(bug))}"


def _told(bug: list[FindingEntry]) -> str:
    finding, ways = bug[0], seen_in(bug)
    replay = f"\nkfuzz replay {finding['case']}" if finding["case"] else ""
    return f"{finding['message']}\ncase: {finding['words']}{replay}" + (f"\n{ways}" if ways else "")


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def as_summary(report: Document) -> str:
    """Markdown for a job's summary: the verdict, then a table of what is broken."""
    lines = [f"### kfuzz: {_cell(verdict(report['kernels']))}", ""]
    told = [(kernel, bug) for kernel in report["kernels"] for bug in by_bug(kernel) if bug[0] in errors_of(kernel)]
    if told:
        lines += ["| kernel | kind | what | where | case |", "|---|---|---|---|---|"]
    for kernel, bug in told:
        finding, ways = bug[0], seen_in(bug)
        kind = f"{finding['kind']}, {ways}" if ways else finding["kind"]
        cells = (kernel["name"], kind, finding["message"], finding["where"], finding["words"])
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    idle = ((one["name"], one["error"] or one["stopped"] or one["unjudged"]) for one in report["kernels"])
    lines += ["", *(f"- {_cell(name)}: {_cell(why)}" for name, why in idle if why)]
    lines += [f"- {_cell(fault)}" for fault in report["unusable"]]
    return "\n".join(lines).rstrip() + "\n"


def _cell(text: str) -> str:
    """Text that is text in a cell of a table, whatever a kernel's author has put into it."""
    plain = " ".join(text.split())
    short = plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 3]}..."
    for letter in "\\`*_{}[]<>#|!&":
        short = short.replace(letter, f"\\{letter}" if letter not in "<>&" else f"&#{ord(letter)};")
    return short


def as_code_quality(report: Document) -> str:
    """GitLab's code quality report: a list of issues with a fingerprint that survives edits above."""
    issues = []
    for kernel in report["kernels"]:
        for finding, *_ in by_bug(kernel):
            file, line = finding["file"] or kernel["path"], finding["line"] or 1
            severity = "minor" if finding["severity"] == "warning" else "critical"
            issues.append(
                {
                    "description": f"{finding['bucket']}: {finding['message']}",
                    "check_name": f"kfuzz/{finding['kind']}",
                    "fingerprint": fingerprint(finding),
                    "severity": "info" if finding["known"] else severity,
                    "location": {"path": file, "lines": {"begin": line}},
                }
            )
    return json.dumps(issues, indent=1) + "\n"
