"""Capture in a CUDA graph: a call that was captured once gives right answers when it is replayed.

It is captured with other numbers in its arrays, and replayed with those of the case: at once, and after calls of other
sizes, which may move or free what the callable keeps. Knows outcomes; it does not know how a call is captured.
"""

from dataclasses import replace

from kfuzz.campaign.properties.property import Examined
from kfuzz.campaign.properties.twins import first_difference
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import ClaimError, DeviceError, Finding, Outcome
from kfuzz.devices.capture import REPLAYS, CaptureOptions
from kfuzz.kinds import Kind

WORDS = "capture in a CUDA graph"
KIND: Kind = "graph-replay"
EVERY = 128
"""One trial in so many looks at it if it is not claimed: a call that cannot be captured costs a process."""


def is_claimed(kernel: Kernel) -> bool:
    return kernel.claims.graphs


def why_untested(kernel: Kernel) -> str:
    return "" if kernel.front.language.runner.captures_graphs else "only calls of Python callables are captured"


def look(trial: Examined) -> Finding | bool | None:
    probe, is_due = trial.probe, is_claimed(trial.kernel) or trial.probe.seed % EVERY == 0
    if trial.device != "gpu" or not (trial.is_right and is_due):
        return None
    captured = replace(probe, check=False, runs=1, options=(CaptureOptions(is_captured=True),), after_calls=False)
    try:
        outcome = trial.run_job(replace(trial.bound.job, earlier=trial.other_sizes()), captured)
    except (ClaimError, DeviceError):
        return None
    return read_outcome(trial, outcome)


def read_outcome(trial: Examined, outcome: Outcome) -> Finding | bool | None:
    """The finding in the answers of a call and its replays; None if they show nothing."""
    if outcome.untried or outcome.refusal:
        return None
    for one in outcome.findings:
        if one.severity == "error":
            when = "" if one.kind == "exception" else ", when a captured call is replayed"
            return replace(one, kind=KIND, message=f"{one.message}{when}")
    answers = [trial.kernel.outputs(run.outputs, trial.bound.sizes) for run in outcome.runs]
    if not answers or not trial.judge(trial.case, answers[0]):
        return None
    for words, answer in zip(REPLAYS[1:], answers[1:], strict=True):
        if trial.judge(trial.case, answer):
            continue
        found = first_difference(answer, answers[0])
        where = f"{found.place} is {found.left}, and {found.right} {REPLAYS[0]}" if found else "the answer is wrong"
        return Finding(KIND, f"{where}: {words}", array=found.output if found else None)
    return True if len(answers) == len(REPLAYS) else None
