"""The report as SARIF 2.1.0, which code hosts show beside the lines of a change.

A rule is a kind of finding, and its help is the page of that kind. A result's fingerprint is its bucket, which holds
the text of a line and not its number, so that it survives edits above the line.
"""

import json
from collections.abc import Sequence
from importlib import metadata
from pathlib import PurePath
from urllib.parse import quote

from kfuzz.kinds import KINDS, Kind
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.reports.by_bug import by_bug, fingerprint
from kfuzz.ui.reports.document import Document, FindingEntry, Json, KernelEntry, SilencedFinding
from kfuzz.ui.reports.format import FileFormat
from kfuzz.ui.reports.silenced import place_of
from kfuzz.ui.reports.trouble import trouble_of

VERSION = "2.1.0"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "kfuzzBucket/v1"


def as_sarif(documents: Sequence[Document]) -> str:
    """The log as text: one run for each document, with a rule for each kind in it and a result for each bug."""
    runs = list(map(_run, documents))
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": runs}, indent=1, allow_nan=False) + "\n"


def _run(report: Document) -> Json:
    bugs = [(kernel, bug) for kernel in report["kernels"] for bug in by_bug(kernel)]
    silenced = [(kernel, one) for kernel in report["kernels"] for one in kernel["silenced"] if one["count"]]
    names = sorted({*(bug[0]["kind"] for _, bug in bugs), *(one["kind"] for _, one in silenced)})
    driver: Json = {
        "name": "kfuzz",
        "semanticVersion": metadata.version("kfuzz"),
        "rules": [_rule(name) for name in names],
    }
    return {
        "tool": {"driver": driver},
        "invocations": [_invocation(report)],
        "originalUriBaseIds": {"ROOT": {"description": {"text": "The folder in which kfuzz was run."}}},
        "results": [
            *(_result(kernel, bug, names.index(bug[0]["kind"])) for kernel, bug in bugs),
            *(_silenced_result(kernel, one, names.index(one["kind"])) for kernel, one in silenced),
        ],
        "columnKind": "unicodeCodePoints",
    }


def _rule(kind: Kind) -> Json:
    meaning = KINDS[kind]
    return {
        "id": kind,
        "name": "".join(word.capitalize() for word in kind.split("-")),
        "shortDescription": {"text": meaning.sentence},
        "help": {"text": meaning.page, "markdown": meaning.page},
        "defaultConfiguration": {"level": meaning.severity},
    }


def _invocation(report: Document) -> Json:
    """Whether the run did its job; each kernel that could not be run is a notification."""
    idle = ((kernel["name"], trouble_of(kernel)) for kernel in report["kernels"])
    troubles = [*(f"{name}: {why}" for name, why in idle if why), *report["unusable"]]
    return {
        "executionSuccessful": report["exit_code"] in (0, 1) and not troubles,
        "exitCode": report["exit_code"],
        "commandLine": " ".join(report["command"]),
        "startTimeUtc": report["started"].replace("+00:00", "Z"),
        "toolExecutionNotifications": [{"level": "error", "message": {"text": text}} for text in troubles],
    }


def _result(kernel: KernelEntry, bug: list[FindingEntry], rule: int) -> Json:
    finding = bug[0]
    file = finding["file"] or kernel["path"]
    lines = [f"{label}: {text}" for label, text in (*finding["evidence"], *finding["commands"])]
    lines += [f"also: {other['bucket']}" for other in bug[1:]]
    result: Json = {
        "ruleId": finding["kind"],
        "ruleIndex": rule,
        "level": "warning" if finding["severity"] == "warning" else "error",
        "message": {"text": "\n".join([finding["message"], *lines])},
        "locations": [_location(file, finding["line"] or 1)],
        "partialFingerprints": {FINGERPRINT: fingerprint(finding)},
        "baselineState": "unchanged" if finding["known"] else "new",
    }
    if finding["other_line"]:
        related = {"id": 1, "message": {"text": "the other line of this finding"}}
        result["relatedLocations"] = [{**_location(finding["other_file"], finding["other_line"]), **related}]
    return result


def _silenced_result(kernel: KernelEntry, one: SilencedFinding, rule: int) -> Json:
    """A result that a comment in the source suppresses, with its reason."""
    file, line = place_of(one)
    return {
        "ruleId": one["kind"],
        "ruleIndex": rule,
        "level": "warning",
        "message": {"text": f"{kernel['name']}: {one['kind']}, in {plural(one['count'], 'trial')}"},
        "locations": [_location(file, line)],
        "suppressions": [{"kind": "inSource", "status": "accepted", "justification": one["reason"]}],
    }


def _location(file: str, line: int) -> Json:
    uri = quote(PurePath(file).as_posix())
    is_relative = not PurePath(file).is_absolute()
    artifact: Json = {"uri": uri, "uriBaseId": "ROOT"} if is_relative else {"uri": f"file://{uri}"}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": line}}}


FORMAT = FileFormat(
    option="sarif",
    help="Write the findings to FILE as SARIF 2.1.0, which code hosts show beside the lines of a change.",
    commands=("fuzz", "check", "merge", "report"),
    render=as_sarif,
)
