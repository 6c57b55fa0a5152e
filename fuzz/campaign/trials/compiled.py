"""Compares what a compiler made of a kernel's text with the text itself, each against what the claim allows.

A device that goes through a compiler runs its code. Where the answer of that code is wrong and the text's is right, or
the other way round, the two are no longer one kernel, and a finding says so. A difference in bits says nothing: a claim
allows many answers. Knows claims and jobs; it does not know the compiler.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kfuzz.campaign.properties.property import NamedOutputs, RunJob
from kfuzz.campaign.properties.twins import element_text, has_error, once
from kfuzz.campaign.trials.defect import WARNING_MARK, Defect
from kfuzz.devices import TEXT, ClaimError, DeviceError, Job, Outcome, Probe
from kfuzz.kinds import Kind
from kfuzz.oracle import Verdict
from kfuzz.oracle.numbers.verdict import Status, Worst

COMPILED: Kind = "compiled-otherwise"

JudgeOutcome = Callable[[Outcome], list[tuple[NamedOutputs, Verdict]]]
"""Judges each distinct answer of an outcome."""


@dataclass(frozen=True)
class OtherAnswer:
    """The answers of the text beside those of the compiled code, if one of both is wrong and the other right."""

    compiler: str
    text: Verdict
    of_text: NamedOutputs
    of_code: NamedOutputs

    @property
    def is_text_right(self) -> bool:
        return not self.text.is_outside

    def beside(self, worst: Worst) -> str:
        """The right answer to an element that is wrong the other way, in words."""
        got = (self.of_text if self.is_text_right else self.of_code)[worst.output]
        value = element_text(got, int(np.ravel_multi_index(worst.index, got.shape)) if worst.index else 0)
        if self.is_text_right:
            return f"the text itself gives {value}, which is right: {self.compiler} has made other code of it"
        return f"this is the text itself; {self.compiler} makes code of it that gives {value}, which is right"


def compare_with_text(
    job: Job,
    probe: Probe,
    outcome: Outcome,
    judged: list[tuple[NamedOutputs, Verdict]],
    run_job: RunJob,
    judge: JudgeOutcome,
) -> OtherAnswer | None:
    """The other answer of a job's text; None if both are right or both wrong, or if one varies from run to run.

    One run tells whether it is worth a closer look; the text is then run as closely as the code was.
    """
    whole = _status(judged)
    if outcome.through == job.through or has_error(outcome) or whole is None:
        return None
    text = replace(job, through=TEXT, earlier=())
    for how in (once(probe), probe):
        try:
            ran = run_job(text, how)
        except (ClaimError, DeviceError):  # g++ does not take it
            return None
        of_text = judge(ran)
        status = _status(of_text)
        if has_error(ran) or status is None or status == whole:
            return None
    return OtherAnswer(outcome.through, of_text[0][1], of_text[0][0], judged[0][0])


def _status(judged: list[tuple[NamedOutputs, Verdict]]) -> Status | None:
    """The status of all answers, if it is broken or kept for each."""
    every = {verdict.status for _, verdict in judged}
    return every.pop() if every in ({"broken"}, {"kept"}) else None


def as_compiled_otherwise(defect: Defect, other: OtherAnswer) -> Defect:
    """A wrong answer as one that only the text, or only the compiled code gives.

    What a GPU runs is the code: a text that is wrong alone is a warning.
    """
    assert defect.worst is not None, "it is the verdict on an answer"
    words, name = other.beside(defect.worst), defect.scene.kernel
    is_error = other.is_text_right
    fault = f"{name}: {COMPILED}, {defect.sign}"
    mark = "" if is_error else WARNING_MARK
    return replace(
        defect,
        kind=COMPILED,
        severity="error" if is_error else "warning",
        bucket=f"{name}: {COMPILED}{mark}, {defect.sign}",
        fault=fault,
        message=f"{defect.message}; {words}",
        detail="; ".join(part for part in (defect.detail, words) if part),
        ratio=defect.ratio if is_error else None,
    )
