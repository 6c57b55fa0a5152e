"""Tries one function of a library, makes the gravest wrong answer small, and computes it a second time.

Knows trials and the minimizer; it knows neither processes nor pages.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.libraries.exact_values import exact_value
from benchmarks.libraries.functions import Function
from benchmarks.libraries.reproducing import shortest_program
from kfuzz.campaign.minimizing.minimize import Failure, minimize, point_at_worst
from kfuzz.campaign.minimizing.subject import Subject, subject_of
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.campaign.trials.unjudged import unjudged_text
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import ClaimError, DeviceError
from kfuzz.devices.python.device import PythonDevice
from kfuzz.oracle.numbers.elements import Element, values
from kfuzz.ui.reports.upstream import element_of

Status = Literal["kept", "suspect", "broken", "withdrawn", "refused", "not judged"]
Grade = Literal["", "nearest", "flushed", "off", "lost"]
GRADES: tuple[Grade, ...] = ("", "nearest", "flushed", "off", "lost")
"""How wrong an answer is: at most one unit of the last place, so that it is a neighbour of the right one; 0 for a
number that float32 holds as a denormal; further off; or lost: infinite or NaN where the right one is a number, or with
an error as large as the right one."""
SEED, RUNS, LIMIT, ELEMENTS, LEAST = 35, 2, 20.0, 1 << 14, 12
"""Of the trials: their seed, runs of each case, seconds for each run, elements of a case, and how many at least."""
SMALLER_RUNS, SMALLER_SECONDS = 300, 6.0
FLUSHED = 2.0**-126
"""The least normal number of float32, and of bfloat16."""


class Claim(Protocol):
    """A function of a library with its claim."""

    @property
    def library(self) -> str: ...
    @property
    def package(self) -> str: ...
    @property
    def modules(self) -> tuple[str, ...]: ...
    @property
    def environment(self) -> Mapping[str, str]: ...
    @property
    def name(self) -> str: ...
    @property
    def call(self) -> str: ...
    @property
    def key(self) -> str: ...
    def write(self, folder: Path, device: str) -> Path:
        """Write the file that kfuzz tries."""


@dataclass(frozen=True)
class Result:
    """What came of a claim.

    `worst`: the largest error of an answer, in units of the bound. `exact`: the second computation of the accused
    element, in 20 digits, and `units`: how far the answer is from it, in units of the last place of its type.
    `program`: three lines that print `got`, if they did when they were tried.
    """

    status: Status
    words: str
    trials: int = 0
    rows: int = 0
    seconds: float = 0.0
    worst: float = 0.0
    grade: Grade = ""
    got: float = 0.0
    exact: str = ""
    units: float = 0.0
    given: str = ""
    program: tuple[str, ...] = ()


@dataclass
class Tried:
    """The trials of a claim so far."""

    began: float = field(default_factory=time.monotonic)
    trials: int = 0
    rows: int = 0
    worst: float = 0.0
    gravest: Failure | None = None
    reasons: dict[str, None] = field(default_factory=dict)

    def result(self, status: Status, words: str) -> Result:
        return Result(status, words, self.trials, self.rows, time.monotonic() - self.began, self.worst)


def judge(one: Claim, device: PythonDevice, seconds: float, folder: Path) -> Result:
    """Try a claim until the time is up, and say what came of it."""
    tried = Tried()
    try:
        kernel = load(one.write(folder, device.name))
        try_kernel(kernel, device, seconds, tried)
        if tried.gravest is None:
            if tried.rows:
                return tried.result("kept", "")
            return tried.result("not judged", "; ".join(tried.reasons) or "no trial")
        if tried.gravest.defect.kind == "exception" and not tried.rows:
            return tried.result("refused", tried.gravest.defect.message)
        failure = made_small(tried.gravest, kernel, device)
    except (ClaimError, DeviceError) as error:
        return tried.result("not judged", str(error).replace(f"{folder}/", ""))
    return confirm(one, kernel, failure, tried, device.name)


def try_kernel(kernel: Kernel, device: PythonDevice, seconds: float, tried: Tried) -> None:
    """Run trials; keep the gravest defect."""
    until = float("inf")
    while time.monotonic() < until or tried.trials < LEAST:
        attempt = attempt_of(kernel, SEED, tried.trials, ELEMENTS)
        probe = probe_of(kernel, SEED, tried.trials, RUNS, LIMIT)
        trial = run_trial(kernel, attempt.case, attempt.tune, device, probe)
        if not tried.trials:
            until = time.monotonic() + seconds
        tried.trials, tried.rows = tried.trials + 1, tried.rows + trial.rows
        tried.worst = max([tried.worst, trial.ratio, *(defect.ratio or 0.0 for defect in trial.defects)])
        tried.reasons |= dict.fromkeys(map(unjudged_text, trial.left_out))
        for defect in trial.defects:
            if tried.gravest is None or gravity(kernel, defect) > gravity(kernel, tried.gravest.defect):
                subject = subject_of(kernel, attempt.case, attempt.tune, probe.check, probe.seed)
                tried.gravest = Failure(point_at_worst(subject, defect), defect, probe.runs)
        if time.monotonic() > until + 10 * seconds:
            break


def made_small(failure: Failure, kernel: Kernel, device: PythonDevice) -> Failure:
    """The smallest case that is as grave."""
    grade = grade_of(kernel, failure.defect)

    def is_as_grave(defect: Defect) -> bool:
        return grade_of(kernel, defect) == grade

    return minimize(failure, device, SMALLER_RUNS, SMALLER_SECONDS, again=0, is_wanted=is_as_grave).failure


def gravity(kernel: Kernel, defect: Defect) -> tuple[bool, int, float, int]:
    """Errors come before warnings; then the grade, how far a number is off, and a small case before others."""
    grade = GRADES.index(grade_of(kernel, defect))
    return defect.severity == "error", grade, defect.ratio or 0.0, -defect.scene.elements


def grade_of(kernel: Kernel, defect: Defect) -> Grade:
    """The grade of a wrong answer beside the oracle's own."""
    worst = defect.worst
    if worst is None or defect.is_joint:
        return ""
    return grade(worst.got, worst.want, element_of(kernel, worst))


def grade(got: float, right: float, element: Element) -> Grade:
    """The grade of a wrong answer beside the right one. An infinity stands for the number after the largest."""
    beyond = 2.0 ** np.ceil(np.log2(element.max))
    got, right = (float(np.sign(one) * beyond) if np.isinf(one) else one for one in (got, right))
    error = abs(got - right)
    if error <= last_place(element, right):
        return "nearest"
    if got == 0 and abs(right) < FLUSHED:
        return "flushed"
    return "off" if error < abs(right) and abs(got) < beyond else "lost"


def last_place(element: Element, x: float) -> float:
    """The distance from a number to the next."""
    return float(element.last_place(np.asarray(max(abs(x), element.min_normal))))


def numbers_of(kernel: Kernel, subject: Subject) -> Mapping[str, NDArray[np.float64]]:
    """The numbers that the function got."""
    return {role: values(array) for role, array in kernel.stored(subject.case.arrays).items()}


def confirm(one: Claim, kernel: Kernel, failure: Failure, tried: Tried, device: str = "cpu") -> Result:
    """Compute the accused element a second time: the right answer must lie where the oracle says that it does."""
    defect, worst = failure.defect, failure.defect.worst
    words = f"{defect.kind}, {defect.scene.words}: {defect.message}"
    made = tried.result("broken" if defect.severity == "error" else "suspect", words)
    if worst is None or defect.is_joint:  # each element of a joint finding may be right by itself
        return made
    inputs = numbers_of(kernel, failure.subject)
    made = replace(made, got=worst.got, grade=grade_of(kernel, defect))
    found = exact_value(one.name, inputs, worst.index)
    if found is None:
        return made
    element, number = element_of(kernel, worst), np.asarray(float(found.number))
    nearest = float(element.round(number))
    made = replace(made, exact=found.digits, given=found.given)
    if not worst.lo <= nearest <= worst.hi or worst.got == nearest:
        return replace(made, status="withdrawn")
    units = float(abs(worst.got - number)) / last_place(element, float(number))
    made = replace(made, units=units, grade=grade(worst.got, float(number), element))
    if isinstance(one, Function):
        made = replace(made, program=shortest_program(one, inputs, worst.index, worst.got, device))
    return made
