"""Compares what a compiler made of a kernel's text with the text itself, or with what it makes for another target, each
against what the claim allows.

A device that goes through a compiler runs its code. Where the answer of that code is wrong and that of the text or of
other code is right, or the other way round, the two are no longer one kernel, and a finding says so. A difference in
bits says nothing: a claim allows many answers. Knows claims and jobs; it does not know the compiler.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from kfuzz.campaign.properties.property import NamedOutputs, RunJob
from kfuzz.campaign.properties.twins import element_text, has_error, once
from kfuzz.campaign.trials.defect import WARNING_MARK, Defect
from kfuzz.devices import TEXT, ClaimError, DeviceError, Job, Outcome, OutOfTimeError, Probe
from kfuzz.devices.targets import TargetOptions
from kfuzz.kinds import Kind
from kfuzz.oracle import Verdict
from kfuzz.oracle.numbers.verdict import Status, Worst

COMPILED: Kind = "compiled-otherwise"

JudgedAnswers = list[tuple[NamedOutputs, Verdict]]
JudgeOutcome = Callable[[Outcome], JudgedAnswers]
"""Judges each distinct answer of an outcome, by what its own code makes of operands."""


@dataclass(frozen=True)
class OtherAnswer:
    """The answer of the text, or of the code for another target, beside that of the code that a trial has run, if one
    of both is wrong and the other right. `way` and `other_way` are what the text went through for either.
    """

    way: str
    other_way: str
    verdict: Verdict
    """On the other answer."""
    of_other: NamedOutputs
    of_code: NamedOutputs

    @property
    def is_right(self) -> bool:
        return not self.verdict.is_outside

    @property
    def is_error(self) -> bool:
        """Whether a GPU runs what is wrong: it runs no text."""
        return self.is_right or self.other_way != TEXT

    def beside(self, worst: Worst) -> str:
        """The right answer to an element that is wrong the other way, in words."""
        other, code = (_value_at(worst, one) for one in (self.of_other, self.of_code))
        if self.other_way == TEXT and self.is_right:
            return f"the text itself gives {other}, which is right: {self.way} has made other code of it"
        if self.other_way == TEXT:
            return f"this is the text itself; {self.way} makes code of it that gives {code}, which is right"
        both = (self.other_way, other), (self.way, code)
        (right, wanted), (wrong, got) = both if self.is_right else both[::-1]
        return f"the code for {right} gives {wanted}, which is right; that for {wrong} gives {got}"


def _value_at(worst: Worst, got: NamedOutputs) -> str:
    array = got[worst.output]
    return element_text(array, int(np.ravel_multi_index(worst.index, array.shape)) if worst.index else 0)


def options_for(kinds: Iterable[str]) -> tuple[object, ...]:
    """The options of a probe without which a trial shows no finding of these kinds."""
    return (TargetOptions(compares=True),) if COMPILED in kinds else ()


def compare_other_ways(
    job: Job, probe: Probe, outcome: Outcome, judged: JudgedAnswers, run_job: RunJob, judge: JudgeOutcome
) -> OtherAnswer | None:
    """The other answer of a job's text, or of the code for the first other target for which it runs; None if both are
    right or both wrong, or if one varies from run to run.

    Code for another target says no more than the text does in every trial, and takes a run: it has its turn where the
    probe says so.
    """
    whole = _status(judged)
    if has_error(outcome) or whole is None:
        return None
    for way in outcome.other_ways:
        if way != TEXT and not probe.option(TargetOptions).compares:
            continue
        of_other = _run_this_way(job, way, probe, run_job, judge, whole)
        if of_other is None:
            continue
        if _status(of_other) in (None, whole):
            return None
        if way != TEXT:  # what a file remembers of earlier calls may explain it
            again = _run_this_way(job, outcome.through, probe, run_job, judge, _status(of_other))
            if again is None or _status(again) != whole:
                return None
        return OtherAnswer(outcome.through, way, of_other[0][1], of_other[0][0], judged[0][0])
    return None


def _run_this_way(
    job: Job, way: str, probe: Probe, run_job: RunJob, judge: JudgeOutcome, known: Status | None
) -> JudgedAnswers | None:
    """The answers of a job whose text goes this way; None if it does not, or shows an error of another kind.

    One run tells whether it is worth a closer look: if its status is another than is known, it is run as closely as the
    trial was.
    """
    other, judged = replace(job, through=way, earlier=()), JudgedAnswers()
    for how in (once(probe), probe):
        try:
            ran = run_job(other, how)
        except OutOfTimeError:
            raise
        except (ClaimError, DeviceError):  # g++ does not take it, or the compiler has no such code
            return None
        if has_error(ran) or not ran.runs or ran.through != ("" if way == TEXT else way):
            return None
        judged = judge(ran)
        if _status(judged) in (None, known):
            break
    return judged


def _status(judged: JudgedAnswers) -> Status | None:
    """The status of all answers, if it is broken or kept for each."""
    every = {verdict.status for _, verdict in judged}
    return every.pop() if every in ({"broken"}, {"kept"}) else None


def as_compiled_otherwise(defect: Defect, other: OtherAnswer) -> Defect:
    """A wrong answer as one that only one of both ways gives.

    What a GPU runs is the code: a text that is wrong alone is a warning.
    """
    assert defect.worst is not None, "it is the verdict on an answer"
    words, name = other.beside(defect.worst), defect.scene.kernel
    fault = f"{name}: {COMPILED}, {defect.sign}"
    mark = "" if other.is_error else WARNING_MARK
    return replace(
        defect,
        kind=COMPILED,
        severity="error" if other.is_error else "warning",
        bucket=f"{name}: {COMPILED}{mark}, {defect.sign}",
        fault=fault,
        message=f"{defect.message}; {words}",
        detail="; ".join(part for part in (defect.detail, words) if part),
        ratio=defect.ratio if other.is_error else None,
    )
