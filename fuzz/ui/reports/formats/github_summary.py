"""The report as Markdown for the summary of a job on GitHub: the verdict, then a table of what is broken."""

from collections.abc import Sequence

from kfuzz.ui.reports.by_bug import by_bug, errors_of, verdict, ways_text
from kfuzz.ui.reports.document import Document
from kfuzz.ui.reports.format import AtEndOfFile, ServiceFormat
from kfuzz.ui.reports.silenced import silence_texts

LONGEST = 300
"""Characters of one cell of a table."""


def as_summary(documents: Sequence[Document]) -> str:
    """One section for each document."""
    return "".join(map(_section, documents))


def _section(report: Document) -> str:
    lines = [f"### kfuzz: {_cell(verdict(report['kernels']))}", ""]
    bugs = [(kernel, bug) for kernel in report["kernels"] for bug in by_bug(kernel) if bug[0] in errors_of(kernel)]
    if bugs:
        lines += ["| kernel | kind | what | where | case |", "|---|---|---|---|---|"]
    for kernel, bug in bugs:
        finding, ways = bug[0], ways_text(bug)
        kind = f"{finding['kind']}, {ways}" if ways else finding["kind"]
        cells = (kernel["name"], kind, finding["message"], finding["where"], finding["words"])
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    idle = ((one["name"], one["error"] or one["stopped"] or one["unjudged"]) for one in report["kernels"])
    lines += ["", *(f"- {_cell(name)}: {_cell(why)}" for name, why in idle if why)]
    lines += [f"- {_cell(text)}" for one in report["kernels"] for text in silence_texts(one["silenced"])]
    lines += [f"- {_cell(fault)}" for fault in report["unusable"]]
    return "\n".join(lines).rstrip() + "\n"


def _cell(text: str) -> str:
    """A text so that no kernel's author can put markup into a cell of the table."""
    plain = " ".join(text.split())
    short = plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 3]}..."
    for letter in "\\`*_{}[]<>#|!&":
        short = short.replace(letter, f"\\{letter}" if letter not in "<>&" else f"&#{ord(letter)};")
    return short


FORMAT = ServiceFormat("github", "GITHUB_ACTIONS", AtEndOfFile("GITHUB_STEP_SUMMARY"), as_summary)
