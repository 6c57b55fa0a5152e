"""The report as JUnit XML: one test case for each kernel, as CI systems show them."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from xml.etree import ElementTree as ET

from kfuzz.common.printable import printable
from kfuzz.ui.reports.by_bug import by_bug, failing
from kfuzz.ui.reports.document import Document, FindingEntry, KernelEntry
from kfuzz.ui.reports.failure import entry_text
from kfuzz.ui.reports.format import FileFormat
from kfuzz.ui.reports.inferred import inferred_texts
from kfuzz.ui.reports.silenced import silence_texts
from kfuzz.ui.reports.trouble import trouble_of


def as_junit(documents: Sequence[Document]) -> str:
    """One test suite for each document."""
    counts = [_counts(report) for report in documents]
    seconds = sum(report["seconds"] for report in documents)
    root = ET.Element("testsuites", _attributes(sum(counts, Counter()), seconds))
    for report, count in zip(documents, counts, strict=True):
        _suite(root, report, _attributes(count, report["seconds"]))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _counts(report: Document) -> Counter[str]:
    kernels, faults = report["kernels"], len(report["unusable"])
    return Counter(
        tests=len(kernels) + faults,
        failures=sum(bool(failing(kernel, report["fail_on"])) for kernel in kernels),
        errors=sum(bool(trouble_of(kernel)) for kernel in kernels) + faults,
    )


def _attributes(counts: Counter[str], seconds: float) -> dict[str, str]:
    numbers = {name: str(counts[name]) for name in ("tests", "failures", "errors")}
    return {**numbers, "time": f"{seconds:.3f}"}


def _suite(root: ET.Element, report: Document, attributes: dict[str, str]) -> None:
    started = datetime.fromisoformat(report["started"]).astimezone(UTC).isoformat()[:19]
    suite = ET.SubElement(root, "testsuite", {"name": "kfuzz", "timestamp": started, **attributes})
    properties = ET.SubElement(suite, "properties")
    values = {
        "device": report["device"],
        "seed": report["seed"],
        "stop_reason": report["stop_reason"],
        "trials": report["trials"],
        "rows": report["rows"],
    }
    for name, value in values.items():
        ET.SubElement(properties, "property", {"name": name, "value": str(value)})
    for kernel in report["kernels"]:
        _test_case(suite, kernel, failing(kernel, report["fail_on"]))
    for file, fault in zip(report["unusable_files"], report["unusable"], strict=True):
        test = ET.SubElement(suite, "testcase", {"classname": "kfuzz.own", "name": printable(PurePath(file).stem)})
        _error(test, "claim", fault)


def _test_case(suite: ET.Element, kernel: KernelEntry, news: list[list[FindingEntry]]) -> None:
    folder, _, name = kernel["name"].rpartition("/")
    time, where = f"{sum(kernel['seconds'].values()):.3f}", printable(f"kfuzz.{folder or 'own'}")
    attributes = {"classname": where, "name": printable(name), "time": time}  # Jenkins' schema has no file here
    test = ET.SubElement(suite, "testcase", attributes)
    if news:
        first = news[0][0]
        more = f" and {len(news) - 1} more" if len(news) > 1 else ""
        message = printable(first["bucket"] + more)
        failure = ET.SubElement(test, "failure", {"type": first["kind"], "message": message})
        failure.text = printable("\n\n".join(entry_text(one) for bug in news for one in bug))
    if trouble := trouble_of(kernel):
        _error(test, "claim" if kernel["error"] else "not judged", trouble)
    elif why := kernel["unjudged"] or ("" if kernel["trials"] else kernel["stopped"] or "not tried: out of time"):
        ET.SubElement(test, "skipped", {"message": printable(why)})  # a test that passes must not hide it
    texts = [entry_text(bug[0]) for bug in by_bug(kernel) if bug not in news]
    texts += [*inferred_texts(kernel["name"], kernel["inferred"]), *silence_texts(kernel["silenced"])]
    if texts:
        ET.SubElement(test, "system-out").text = printable("\n\n".join(texts))


def _error(test: ET.Element, kind: str, text: str) -> None:
    error = ET.SubElement(test, "error", {"type": kind, "message": printable(text.splitlines()[0])})
    error.text = printable(text)


FORMAT = FileFormat(
    option="junit",
    help="Write the report to FILE as JUnit XML, with one test case for each kernel.",
    commands=("fuzz", "check", "merge", "report"),
    render=as_junit,
)
