"""Writes far away: a write that jumps over the guards into memory that no array has.

On a GPU some trials run once more in a field, whose gaps are gigabytes wide. Where the cpu device checks accesses, it
sees a write at any distance. Knows options of devices; it does not know how a device looks.
"""

from dataclasses import replace

from kfuzz.campaign.properties.property import Examined
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import ClaimError, DeviceError, Finding
from kfuzz.devices.memory.far import FarOptions

WORDS = "writes far away"
EVERY = 64
"""One trial in so many on a GPU is run in a field: it takes as long as some ten trials."""


def is_claimed(kernel: Kernel) -> bool:
    """No kernel may do it."""
    return True


def why_untested(kernel: Kernel) -> str:
    return ""


def look(trial: Examined) -> Finding | bool | None:
    probe = trial.probe
    if trial.device != "gpu":
        is_seen = probe.check and trial.kernel.front.language.runner.checks_accesses
        return True if is_seen and all(one.kind != "out-of-bounds" for one in trial.outcome.findings) else None
    if probe.seed % EVERY:
        return None
    far = replace(probe, check=False, runs=1, options=(FarOptions(is_far=True),), after_calls=False)
    try:
        outcome = trial.run_job(replace(trial.bound.job, earlier=()), far)
    except (ClaimError, DeviceError):
        return None
    if outcome.untried or outcome.refusal:
        return None
    return next((one for one in outcome.findings if one.severity == "error"), True)
