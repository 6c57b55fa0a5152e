"""What `import kfuzz` offers: judge an answer, load a kernel, fuzz it. Knows all rooms; no room knows it."""

import sys
from datetime import UTC, datetime
from pathlib import Path

from kfuzz.campaign.device import lanes_of_caller, names_of
from kfuzz.campaign.explain import search
from kfuzz.campaign.options import Options
from kfuzz.claims.kernel import Kernel, load
from kfuzz.oracle import Accuracy, Special, judge, want
from kfuzz.ui.reports.report import Report

__all__ = ["Accuracy", "Special", "fuzz", "judge", "load", "want"]


def fuzz(kernel: Kernel | Path | str, device: str = "auto", cases: int = 300, seed: int = 0) -> Report:
    """Try a kernel on `cases` cases, which the seed fixes, and report the findings; write nothing to disk.

    `report.exit_code` is 0 if nothing is broken; else `report.kernels[0].discoveries` lists what is.
    """
    subject = kernel if isinstance(kernel, Kernel) else load(kernel)
    lanes = lanes_of_caller(device)
    started = datetime.now(UTC)
    result = search((subject,), lanes, Options(seed=seed, max_cases=cases))
    return Report(result, tuple(sys.argv), names_of(lanes), started)
