"""Launches at the sizes that a callable was written for: whether a GPU accepts them, and whether it takes these sizes.

The sizes of a benchmark take gigabytes, so the cpu device tries smaller ones like them. But the number of threads of a
block, or its shared memory, may follow from a size. The call is made once more with arrays that hold nothing, and its
launches are looked at without running them. Knows sizes of claims; it does not know how a device looks.
"""

from dataclasses import replace
from pathlib import Path

from kfuzz.campaign.properties.property import Examined
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.expression import show_sizes
from kfuzz.devices import ClaimError, DeviceError, Finding, Job, Outcome
from kfuzz.devices.only_launches import LaunchOptions
from kfuzz.kinds import Kind

WORDS = "launches at the sizes that it was written for"
REFUSES: Kind = "exception"
KNOWN: dict[tuple[Path, str], Finding | bool | None] = {}
"""What this process has found of a file: it is the same in every trial."""


def is_claimed(kernel: Kernel) -> bool:
    """No GPU makes such a launch."""
    return True


def why_untested(kernel: Kernel) -> str:
    if not (kernel.front.language.builds_cuda(kernel.source) and kernel.home):
        return "only Python callables that build CUDA, and were written for given sizes, are looked at"
    return ""


def look(trial: Examined) -> Finding | bool | None:
    if trial.device != "cpu" or not trial.is_right:
        return None
    key = (trial.kernel.path, trial.kernel.source)
    if key not in KNOWN:
        KNOWN[key] = look_once(trial)
    return KNOWN[key]


def look_once(trial: Examined) -> Finding | bool | None:
    """Ask the device for the launches at home; None if it does not come to know them."""
    options = (LaunchOptions(only_launches=True),)
    probe = replace(trial.probe, check=False, runs=1, options=options, after_calls=False)
    try:
        outcome = trial.run_job(job_at_home(trial), probe)
    except (ClaimError, DeviceError):
        return None
    return read_outcome(trial, outcome)


def job_at_home(trial: Examined) -> Job:
    """The trial's job at the sizes of home, whose arrays hold nothing, unless their shape stays."""
    kernel, job = trial.kernel, trial.bound.job
    sizes = kernel.sizes({**trial.case.axes, **kernel.home}, trial.tune)
    shapes = kernel.shapes(sizes)
    buffers = [
        one if one.shape == shapes[one.name] else replace(one, shape=shapes[one.name], content=None, part=None)
        for one in job.buffers
    ]
    return replace(job, buffers=tuple(buffers), steps=kernel.steps(sizes, shapes), earlier=())


def read_outcome(trial: Examined, outcome: Outcome) -> Finding | bool | None:
    at = show_sizes(trial.kernel.home, trial.kernel.home)
    for one in outcome.findings:
        if one.kind == "no-own-kernel" or (one.severity == "error" and one.kind == "launch-refused"):
            words = f"{one.message}; at {at}, the sizes that it was written for"
            return replace(one, message=words, is_at_home=True)
    if outcome.refusal:
        words = f"it refuses the sizes that it was written for, {at}: {outcome.refusal.words}"
        return Finding(REFUSES, words, line=outcome.refusal.line, is_at_home=True)
    return None if outcome.returned is None else True
