"""Which device sees which broken kernel: a table in Markdown, from one run a device.

    python benchmarks/detection.py cpu > cpu.json        on any machine
    python benchmarks/detection.py gpu > gpu.json        on one with a card
    python benchmarks/detection.py sanitize > sanitize.json
    python benchmarks/detection.py table cpu.json gpu.json sanitize.json

A cell is the number of trials until the kind that the kernel's front matter names was reported, or else the first
other error that shows it is broken.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from fuzz.devices import ClaimError, Device
from fuzz.devices.choose import open_device
from fuzz.kernel import Kernel, discover
from fuzz.schedule import attempt_of, is_check, probe_of
from fuzz.trial import run_trial

MOST_TRIALS = {"cpu": 600, "gpu": 600, "sanitize": 3}
AT_ONCE = {"cpu": 2, "gpu": 4, "sanitize": 6}
SMALL = 1 << 10
SEED, TIMEOUT = 0, 2.0

Seen = dict[str, int]


def seen_by(manner: str, kernel: Kernel) -> tuple[str, Seen]:
    """Each kind of error that the first trials showed, with the number of the trial that was first."""
    device = open_device("gpu" if manner == "sanitize" else manner, sanitize=manner == "sanitize")
    try:
        return kernel.name, search(manner, kernel, device)
    finally:
        device.close()


def search(manner: str, kernel: Kernel, device: Device) -> Seen:
    found: Seen = {}
    assert kernel.broken
    for index in range(MOST_TRIALS[manner]):
        attempt = attempt_of(kernel, SEED, index + 8 if manner == "sanitize" else index)
        probe = probe_of(kernel, SEED, index, 3, TIMEOUT)
        if manner == "sanitize":
            probe = replace(probe, check=True)
        trial = run_trial(kernel, attempt.case, attempt.tune, device, probe)
        for defect in trial.defects:
            kind = defect.kind if defect.severity == "error" else f"{defect.kind} (warning)"
            found.setdefault(kind, index + 1)
        if kernel.broken.kind in found and manner != "sanitize":
            break
    return found
