"""The report as GitLab's code quality report: a list of issues, whose fingerprints survive edits above their lines."""

import json
from collections.abc import Sequence
from pathlib import Path

from kfuzz.trials.defect import plain_bucket
from kfuzz.views.by_bug import by_bug, fingerprint
from kfuzz.views.document import Document
from kfuzz.views.format import InFile, ServiceFormat


def as_code_quality(documents: Sequence[Document]) -> str:
    """One issue for each bug."""
    issues = []
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
    return json.dumps(issues, indent=1) + "\n"


FORMAT = ServiceFormat("gitlab", "", InFile(Path("gl-code-quality-report.json")), as_code_quality)
