"""The report as GitLab's code quality report: a list of issues, whose fingerprints survive edits above their lines."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from kfuzz.campaign.trials.defect import plain_bucket
from kfuzz.ui.reports.by_bug import by_bug, fingerprint
from kfuzz.ui.reports.document import Document, Json, KernelEntry, SilencedFinding
from kfuzz.ui.reports.format import InFile, ServiceFormat
from kfuzz.ui.reports.silenced import place_of, silence_texts


def as_code_quality(documents: Sequence[Document]) -> str:
    """One issue for each bug."""
    issues: list[Json] = []
    for kernel in (kernel for report in documents for kernel in report["kernels"]):
        for finding, *_ in by_bug(kernel):
            file, line = finding["file"] or kernel["path"], finding["line"] or 1
            severity = "minor" if finding["severity"] == "warning" else "critical"
            issues.append(
                {
                    "description": f"{plain_bucket(finding['bucket'])}: {finding['message']}",
                    "check_name": f"kfuzz/{finding['kind']}",
                    "fingerprint": fingerprint(finding),
                    "severity": "info" if finding["known"] else severity,
                    "location": {"path": file, "lines": {"begin": line}},
                }
            )
        issues += [_silenced(kernel, one) for one in kernel["silenced"] if one["count"]]
    return json.dumps(issues, indent=1) + "\n"


def _silenced(kernel: KernelEntry, one: SilencedFinding) -> Json:
    """A finding that a comment silences; the format knows no suppression, so it is information with the reason."""
    file, line = place_of(one)
    (text,) = silence_texts([one])
    mark = f"{kernel['name']}: {one['kind']}, {one['where']}, {one['reason']}"
    return {
        "description": f"{kernel['name']}: {text}",
        "check_name": f"kfuzz/{one['kind']}",
        "fingerprint": hashlib.sha256(mark.encode()).hexdigest(),
        "severity": "info",
        "location": {"path": file, "lines": {"begin": line}},
    }


FORMAT = ServiceFormat("gitlab", "", InFile(Path("gl-code-quality-report.json")), as_code_quality)
