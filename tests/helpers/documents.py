"""Report documents for the tests of what is rendered from one."""

from kfuzz.ui.reports.document import Document, FindingEntry, KernelEntry


def finding(**changes: object) -> FindingEntry:
    found: FindingEntry = {
        "title": "BROKEN",
        "bucket": "mine: race, `return shared[0];`",
        "fault": "mine: race, `return shared[0];`", "bug": "mine: race, `return shared[0];`",
        "causes": ["mine: `return shared[0];`"], "kind": "race", "diagnosis": "", "severity": "error",
        "known": False, "first_trial": 3, "smallest_trial": 3, "count": 14, "case": None, "minimized": False,
        "devices": ["cpu"], "confirmed": "not run",
        "elements": 5,
        "axes": {"rows": 1},
        "tune": {}, "check": True, "where": "mine.cu:3", "file": "mine.cu", "line": 3,
        "other_file": "mine.cu", "other_line": 5,
        "message": "thread 1 reads shared[0]", "words": "softmax rows=1 cols=5", "detail": "", "worst": None,
        "extent": None, "picture": None, "threads": None, "evidence": [["seen", "thread 1 reads shared[0]"]],
        "commands": [["replay", "kfuzz replay a.json"]],
    }  # fmt: skip
    bucket = changes.get("bucket", found["bucket"])
    return found | {"bug": bucket, "fault": bucket} | changes  # type: ignore[return-value]


def kernel(**changes: object) -> KernelEntry:
    found: KernelEntry = {
        "name": "mine", "op": "softmax", "path": "mine.cu", "broken": False, "trials": 60, "rows": 600,
        "sizes": {
            "n": {"claimed": "1..9", "least": 1, "most": 9, "smallest_tried": 1, "largest_tried": 9, "home": None}
        },
        "tried": [{"sizes": [1], "trials": 20}, {"sizes": [4], "trials": 40}],
        "rungs": [],
        "worst_ratio": 0.5, "ratios": [0] * 10 + [60] + [0] * 9, "error": "", "stopped": "",
        "hardly_tried": False,
        "unjudged": "", "not_judged": [], "notes": [], "inferred": None, "silenced": [],
        "seconds": {"device": 1.0, "oracle": 0.5}, "size_costs": {}, "properties": {},
        "source": "\n".join("abcdefgh"), "findings": [],
    }  # fmt: skip
    return found | changes  # type: ignore[return-value]


def report(*kernels: KernelEntry, **changes: object) -> Document:
    found: Document = {
        "schema": "kfuzz-report/1", "command": ["kfuzz", "fuzz"], "seed": 7, "shard": "", "device": "cpu",
        "started": "2026-01-02T03:04:05+00:00", "seconds": 1.5, "stop_reason": "max-cases", "exit_code": 1,
        "trials": 60, "rows": 600, "kernels": list(kernels), "unusable": [], "unusable_files": [],
    }  # fmt: skip
    return found | changes  # type: ignore[return-value]
