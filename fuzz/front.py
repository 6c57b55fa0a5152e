"""What `import kfuzz` offers: judge an answer, load a kernel, fuzz it. Knows all rooms; nothing in them knows it."""

import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from kfuzz.campaign.campaign import Options, run_campaign
from kfuzz.campaign.explain import explained
from kfuzz.claims.kernel import Kernel, load
from kfuzz.find.device import device_named, open_device
from kfuzz.oracle import Accuracy, Special, judge, want
from kfuzz.views.report import Report

__all__ = ["Accuracy", "Special", "fuzz", "judge", "load", "want"]


def fuzz(kernel: Kernel | Path | str, device: str = "auto", cases: int = 300, seed: int = 0) -> Report:
    """Try a kernel on so many cases, the same for a seed, and report what was found; nothing is written to disk.

    `report.exit_code` is 0 where nothing is broken; `report.kernels[0].discoveries` says what is.
    """
    subject = kernel if isinstance(kernel, Kernel) else load(kernel)
    name = device_named(device)
    started = datetime.now(UTC)
    options, make_device = Options(seed=seed, max_cases=cases), partial(open_device, name)
    result = explained(run_campaign((subject,), make_device, options), make_device, options)
    return Report(result, tuple(sys.argv), name, started)
