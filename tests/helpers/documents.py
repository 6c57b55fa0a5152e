"""Report documents for the tests of what is rendered from one."""

from kfuzz.campaign.state import Discovery
from kfuzz.campaign.trials.defect import Defect, Scene
from kfuzz.devices import Finding
from kfuzz.ui.reports.document import Document, FindingEntry, KernelEntry
from kfuzz.ui.reports.report import finding_entry


def finding(**changes: object) -> FindingEntry:
    """The entry of a race, with these fields instead of its own."""
    bucket = str(changes.get("bucket", "mine: race, `return shared[0];`"))
    race = Finding("race", "thread 1 reads shared[0]", line=3, other_line=5)
    scene = Scene("mine", "mine.cu", "softmax rows=1 cols=5", 5, {"rows": 1}, {}, True)
    causes = ("mine: `return shared[0];`",)
    defect = Defect(scene, race.kind, "error", bucket, bucket, race.message, line=3, finding=race, causes=causes)
    found = finding_entry(Discovery(defect, 3, 3, 14, False, None, devices=("cpu",)), bucket)
    said = {"evidence": [["seen", race.message]], "commands": [["replay", "kfuzz replay a.json"]]}
    return found | said | changes  # type: ignore[return-value]


def kernel(**changes: object) -> KernelEntry:
    found: KernelEntry = {
        "name": "mine", "op": "softmax", "path": "mine.cu", "broken": False, "trials": 60, "rows": 600,
        "sizes": {
            "n": {"claimed": "1..9", "least": 1, "most": 9, "smallest_tried": 1, "largest_tried": 9, "home": None}
        },
        "tried": [{"sizes": [1], "trials": 20}, {"sizes": [4], "trials": 40}],
        "rungs": [],
        "unjudged_rows": 0, "worst_ulps": 2.0, "worst_ratio": 0.5,
        "ratios": [0] * 10 + [60] + [0] * 9, "error": "", "stopped": "",
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
        "fail_on": "error",
        "trials": 60, "rows": 600, "kernels": list(kernels), "unusable": [], "unusable_files": [],
    }  # fmt: skip
    return found | changes  # type: ignore[return-value]
