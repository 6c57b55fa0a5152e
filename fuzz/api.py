"""What `import kfuzz` offers: judge an answer, load a kernel, fuzz it. Knows all rooms; no room knows it."""

import sys
from datetime import UTC, datetime
from pathlib import Path

from kfuzz.campaign.answers import Judgement
from kfuzz.campaign.device import lanes_of_caller, names_of
from kfuzz.campaign.explain import search
from kfuzz.campaign.options import Options
from kfuzz.claims.kernel import Kernel
from kfuzz.common.errors import ClaimError
from kfuzz.oracle import Accuracy, Special, Verdict, judge, want
from kfuzz.ui.reports.report import Report
from kfuzz.ui.targets.judge_file import judge_file
from kfuzz.ui.targets.load import load

__all__ = [
    "Accuracy", "Judgement", "Kernel", "Report", "Special", "Verdict", "fuzz", "judge", "judge_file", "load", "want",
]  # fmt: skip

CASES = 300
"""Cases of a call that names neither a number nor a time."""


def fuzz(
    kernel: Kernel | Path | str,
    device: str = "auto",
    cases: int | None = None,
    seed: int = 0,
    seconds: float | None = None,
    op: str = "",
    reference: Path | str = "",
) -> Report:
    """Search for inputs that break a kernel, and report the findings; write nothing to disk.

    It ends after `cases` cases, which the seed fixes, or after `seconds`, whichever comes first; after 300 cases if you
    give neither. `op` and `reference` are those of `load`. `report.exit_code` is 0 if nothing is broken, 1 if something
    is, 2 if kfuzz could not judge it; `report.bugs` are the bugs, and `report.to_dict()` is all of it as in `--json`.
    """
    if isinstance(kernel, Kernel) and (op or reference):
        raise ClaimError(f"{kernel.name}: it is loaded already; give op and reference to load")
    subject = kernel if isinstance(kernel, Kernel) else load(kernel, op, reference)
    most = CASES if cases is None and seconds is None else cases
    options = Options(seed=seed, max_cases=most, max_time=seconds, other_shapes=not subject.front.said)
    lanes = lanes_of_caller(device)
    started = datetime.now(UTC)
    return Report(search((subject,), lanes, options), tuple(sys.argv), names_of(lanes), started)
