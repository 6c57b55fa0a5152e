"""The report as GitHub's workflow commands: annotations, which GitHub shows beside the lines of a kernel."""

from collections.abc import Iterator, Sequence

from kfuzz.ui.reports.by_bug import by_bug, ways_text
from kfuzz.ui.reports.document import Document, FindingEntry, KernelEntry
from kfuzz.ui.reports.format import OnTerminal, ServiceFormat
from kfuzz.ui.reports.silenced import place_of, silence_texts
from kfuzz.ui.reports.trouble import trouble_of

MOST_ANNOTATIONS = 50
"""GitHub shows this many for each run."""


def as_annotations(documents: Sequence[Document]) -> str:
    """One line for each bug, errors first, then one for each kernel that could not be judged."""
    every = [(kernel, bug) for report in documents for kernel in report["kernels"] for bug in by_bug(kernel)]
    news = [(kernel, bug) for kernel, bug in every if not bug[0]["known"]]
    news.sort(key=lambda pair: pair[1][0]["severity"] == "warning")
    lines = [_annotation(kernel, bug) for kernel, bug in news[:MOST_ANNOTATIONS]]
    return "".join(f"{line}\n" for line in (*lines, *_silenced(documents), *_troubles(documents)))


def _silenced(documents: Sequence[Document]) -> Iterator[str]:
    """A notice for each comment that silences a finding, or nothing."""
    for kernel in (kernel for report in documents for kernel in report["kernels"]):
        for one in kernel["silenced"]:
            file, line = place_of(one)
            yield from (
                f"::notice file={_property(file)},line={line},title=kfuzz {one['kind']}::{_message(text)}"
                for text in silence_texts([one])
            )


def _troubles(documents: Sequence[Document]) -> Iterator[str]:
    for report in documents:
        for kernel in report["kernels"]:
            if trouble := trouble_of(kernel):
                yield f"::error file={_property(kernel['path'])},title=kfuzz claim::{_message(trouble)}"
        yield from (f"::error title=kfuzz claim::{_message(fault)}" for fault in report["unusable"])


def _annotation(kernel: KernelEntry, bug: list[FindingEntry]) -> str:
    finding = bug[0]
    word = "warning" if finding["severity"] == "warning" else "error"
    file, line = finding["file"] or kernel["path"], finding["line"] or 1
    title = _property(f"kfuzz: {finding['kind']} in {kernel['name']}")
    return f"::{word} file={_property(file)},line={line},title={title}::{_message(_text(bug))}"


def _text(bug: list[FindingEntry]) -> str:
    finding, ways = bug[0], ways_text(bug)
    replay = f"\nkfuzz replay {finding['case']}" if finding["case"] else ""
    return f"{finding['message']}\ncase: {finding['words']}{replay}" + (f"\n{ways}" if ways else "")


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


FORMAT = ServiceFormat("github", "GITHUB_ACTIONS", OnTerminal(), as_annotations)
