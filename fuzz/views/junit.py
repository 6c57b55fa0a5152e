"""The report as JUnit XML: one test case a kernel, as CI systems show them.

Knows the report and the XML; never how anything was found.
"""

import re
from xml.etree import ElementTree as ET

from kfuzz.views.failure import failure_text
from kfuzz.views.report import KernelReport, Report, errors_of

NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(report: Report) -> str:
    """The document as text."""
    counts = {
        "tests": str(len(report["kernels"])),
        "failures": str(sum(bool(errors_of(kernel)) for kernel in report["kernels"])),
        "errors": str(sum(bool(kernel["error"]) for kernel in report["kernels"])),
        "time": f"{report['seconds']:.3f}",
    }
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(root, "testsuite", {"name": "kfuzz", "timestamp": report["started"][:19], **counts})
    properties = ET.SubElement(suite, "properties")
    for name in ("device", "seed", "stop_reason", "trials", "rows"):
        ET.SubElement(properties, "property", {"name": name, "value": str(report[name])})
    for kernel in report["kernels"]:
        _test_case(suite, kernel)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _test_case(suite: ET.Element, kernel: KernelReport) -> None:
    folder, _, name = kernel["name"].rpartition("/")
    time = f"{sum(kernel['seconds'].values()):.3f}"
    attributes = {"classname": f"kfuzz.{folder or 'own'}", "name": name, "file": kernel["path"], "time": time}
    test = ET.SubElement(suite, "testcase", attributes)
    if errors := errors_of(kernel):
        more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
        text = "\n\n".join(failure_text(finding) for finding in errors)
        failure = ET.SubElement(
            test, "failure", {"type": errors[0]["kind"], "message": clean(errors[0]["bucket"] + more)}
        )
        failure.text = clean(text)
    if kernel["error"]:
        error = ET.SubElement(test, "error", {"type": "claim", "message": clean(kernel["error"].splitlines()[0])})
        error.text = clean(kernel["error"])
    elif not kernel["trials"]:
        ET.SubElement(test, "skipped", {"message": "not tried: out of time"})
    rest = [finding for finding in kernel["findings"] if finding not in errors]
    if rest:
        told = [f"{'known' if one['known'] else 'warning'}: {one['bucket']}: {one['message']}" for one in rest]
        ET.SubElement(test, "system-out").text = clean("\n".join(told))


def clean(text: str) -> str:
    """The text without what XML cannot hold."""
    return NO_XML.sub("?", text)
