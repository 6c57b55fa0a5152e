"""Calls on two streams: two calls of a host function whose work may overlap do not use the same memory.

The cpu device makes a call of another size on one stream and the trial's own on another, and checks accesses. What one
of them writes and the other uses is a race. Knows outcomes; it does not know how a device orders streams.
"""

from dataclasses import replace

from kfuzz.campaign.properties.property import Examined
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Call, ClaimError, DeviceError, Finding, Outcome
from kfuzz.devices.streams import StreamOptions

WORDS = "calls on two streams at once"
EVERY, UNCLAIMED_EVERY = 4, 64
"""One trial in so many looks at it: all accesses are checked, which takes as long as some ten trials."""
KINDS = frozenset(("race", "use-after-free"))


def is_claimed(kernel: Kernel) -> bool:
    return kernel.claims.streams


def why_untested(kernel: Kernel) -> str:
    has_host = any(isinstance(entry, Call) and entry.on_host for entry in kernel.entries)
    return "" if has_host else "only host functions of C++ are called on two streams"


def look(trial: Examined) -> Finding | bool | None:
    probe, every = trial.probe, EVERY if is_claimed(trial.kernel) else UNCLAIMED_EVERY
    if trial.device != "cpu" or not trial.is_right or probe.seed % every:
        return None
    job = trial.bound.job
    shapes = [one.shape for one in job.buffers]
    others = [one for one in trial.other_sizes() if [buffer.shape for buffer in one.buffers] != shapes]
    if not others:
        return None  # the same arrays would be handed to both calls
    checked = replace(probe, check=True, runs=2, options=(StreamOptions(has_own=True),), after_calls=False)
    try:
        outcome = trial.run_job(replace(job, earlier=(others[-1],)), checked)
    except (ClaimError, DeviceError):
        return None
    return read_outcome(outcome)


def read_outcome(outcome: Outcome) -> Finding | bool | None:
    """The first race between two calls; True if there is none."""
    found = next((one for one in outcome.findings if one.severity == "error" and one.kind in KINDS), None)
    if found is not None:
        return replace(found, message=f"{found.message}; each call is on a stream of its own")
    return True if outcome.runs and not outcome.refusal else None
