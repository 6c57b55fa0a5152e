"""The report as JUnit XML: one test case a kernel, as CI systems show them.

Knows the report and the XML; never how anything was found.
"""

from datetime import UTC
from xml.etree import ElementTree as ET

from kfuzz.campaign.result import KernelResult
from kfuzz.printable import printable
from kfuzz.views.failure import discovery_text
from kfuzz.views.report import Report


def as_junit(report: Report) -> str:
    """The document as text."""
    counts = {
        "tests": str(len(report.kernels) + len(report.faults)),
        "failures": str(sum(bool(kernel.news) for kernel in report.kernels)),
        "errors": str(sum(bool(_trouble(kernel)) for kernel in report.kernels) + len(report.faults)),
        "time": f"{report.result.seconds:.3f}",
    }
    started = report.started.astimezone(UTC).isoformat()[:19]
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(root, "testsuite", {"name": "kfuzz", "timestamp": started, **counts})
    properties = ET.SubElement(suite, "properties")
    result = report.result
    told = {"device": report.device, "seed": result.seed, "stop_reason": result.stop_reason}
    for name, value in {**told, "trials": result.trials, "rows": result.rows}.items():
        ET.SubElement(properties, "property", {"name": name, "value": str(value)})
    for kernel in report.kernels:
        _test_case(suite, kernel)
    for path, fault in report.faults.items():
        test = ET.SubElement(suite, "testcase", {"classname": "kfuzz.own", "name": printable(path.stem)})
        _error(test, "claim", str(fault))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _test_case(suite: ET.Element, result: KernelResult) -> None:
    kernel, progress, news = result.kernel, result.progress, result.news
    folder, _, name = kernel.name.rpartition("/")
    time, where = f"{sum(progress.seconds.values()):.3f}", printable(f"kfuzz.{folder or 'own'}")
    attributes = {"classname": where, "name": printable(name), "time": time}  # the schema of Jenkins has no file here
    test = ET.SubElement(suite, "testcase", attributes)
    if news:
        more = f" and {len(news) - 1} more" if len(news) > 1 else ""
        first = news[0].headline.defect
        message = printable(first.bucket + more)
        failure = ET.SubElement(test, "failure", {"type": first.kind, "message": message})
        failure.text = printable("\n\n".join(discovery_text(one) for bug in news for one in bug.every))
    if trouble := _trouble(result):
        _error(test, "claim" if progress.error else "not judged", trouble)
    elif not progress.trials:
        ET.SubElement(test, "skipped", {"message": printable(progress.retired or "not tried: out of time")})
    rest = [bug for bug in result.bugs if bug not in news]
    if rest:
        ET.SubElement(test, "system-out").text = printable("\n\n".join(discovery_text(bug.headline) for bug in rest))


def _trouble(result: KernelResult) -> str:
    """Why nothing is known of a kernel; no passing test says so."""
    return result.progress.error or result.unjudged


def _error(test: ET.Element, kind: str, text: str) -> None:
    error = ET.SubElement(test, "error", {"type": kind, "message": printable(text.splitlines()[0])})
    error.text = printable(text)
