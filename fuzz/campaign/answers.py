"""Judges an answer: a verdict within a budget, with the case that shows it, for those who let models write kernels.

    judgement = judge_answer(kernel, JudgingTerms(seed=7), describe)

The budget is a number of trials, which a calibration makes of seconds: the same seed, answer and budget give the same
verdict on any machine. The clock only ends it early, and then the judgement says so. What is not shown to be right is
not kept. Knows campaigns and minimizing; never how a defect is worded, nor where the answer runs. Long, since what a
judgement says and how it comes about are one matter.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kfuzz.campaign.campaign import Lane, run_lanes
from kfuzz.campaign.device import NamedDevice
from kfuzz.campaign.events import Event, Tried
from kfuzz.campaign.minimizing.minimize import Failure, minimize, point_at_worst
from kfuzz.campaign.minimizing.subject import subject_of
from kfuzz.campaign.options import Options
from kfuzz.campaign.properties.find_properties import properties
from kfuzz.campaign.result import KernelResult, Result
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.state import Discovery
from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.unjudged import refusal_text
from kfuzz.cases.case import Case, numbers_in
from kfuzz.cases.plans.finite_numbers import promised_finite
from kfuzz.cases.plans.home import home_of, names_its_home, sizes_of_object
from kfuzz.cases.plans.scale import BUDGET
from kfuzz.claims.kernel import Kernel
from kfuzz.common.errors import ClaimError, line_of
from kfuzz.common.exit_codes import COULD_NOT, FOUND, NOTHING_NEW
from kfuzz.common.text.cuda_in_python import builds_cuda
from kfuzz.common.time_limits import UNTIL, TimeLimits, limited, set_variables, time_limits
from kfuzz.devices.memory.vast import is_vast
from kfuzz.devices.outcomes import TOO_SLOW_HERE
from kfuzz.kinds import Kind, kinds_with
from kfuzz.oracle.numbers.plural import plural

JudgementStatus = Literal["kept", "broken", "suspect", "not judged", "cannot run", "misbehaved"]
JudgementStage = Literal[
    "none", "compiled", "ran", "shapes right", "values right at home", "right at other sizes", "properties"
]  # fmt: skip
STAGES: tuple[JudgementStage, ...] = (
    *("none", "compiled", "ran", "shapes right", "values right at home", "right at other sizes", "properties"),
)
"""How far an answer came, in order. Without a shape that it was written for, all sizes are its home."""
CALIBRATION = "kfuzz-1"
"""The name of these figures: with others, the same budget is another number of trials."""
SECONDS_TO_START: Mapping[str, float] = {"cuda": 1.0, "python": 2.0, "python that builds cuda": 3.0}
TRIALS_A_SECOND: Mapping[str, float] = {"cuda": 10.0, "python": 2.5, "python that builds cuda": 1.0}
"""Of one core of a machine of 2024, beside other work: about half of what it runs alone."""
COLD_START = 60.0
"""Seconds for what is compiled and imported before the first trial ends, and the clock of the budget starts."""
MOST_ELEMENTS = BUDGET - 1
"""Of a case: larger ones are tried or not by the time that is left, and a verdict must not depend on that."""
LEAST_CALL = 10.0
"""Seconds that any call may take: on a busy machine a right answer is slow and does not hang."""
LEAST_TRIALS, AT_HOME = 8, 0.4
"""Trials of the smallest budget; and the part of them at the shape that an answer was written for, if it has one."""
LEAST_JUDGED = 0.5
"""Of the rows at its home, or of all if it has none: an answer that refuses, or leaves in doubt, more than that is not
judged.
"""
MOST_OF_OBJECT = 1 << 10
"""Of a size with which an object is made, after its home: a product of two is a million weights, which take 10 ms."""
SHRINKING, LEAST_SHRINKING, RUNS = 5.0, 0.5, 100
"""Most seconds for a smaller case, those that must be left of the budget for it, and its runs."""
ENDS_PROCESS, WRONG_SHAPE, MISBEHAVED = kinds_with("ends-context"), "wrong-shape", "misbehaved"
OUT_OF_MEMORY = "out-of-memory"
FAR_LESS = 64
"""Of the work of a trial at home: a compiled kernel is checked at a hundredth of the speed of the oracle's products."""
EXIT_CODES: Mapping[JudgementStatus, int] = {
    "kept": NOTHING_NEW,
    "broken": FOUND,
    "misbehaved": FOUND,
    "suspect": COULD_NOT,
    "not judged": COULD_NOT,
    "cannot run": COULD_NOT,
}


@dataclass(frozen=True)
class JudgingTerms:
    """How an answer is judged. `budget`: seconds, of which the calibration makes trials; the clock starts after the
    first trial. `any_shape`: an error at another shape than its home breaks it, too. `require`: properties without
    which a right answer is broken.
    """

    seed: int = 0
    budget: float = 10.0
    any_shape: bool = False
    require: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if unknown := [name for name in self.require if name not in properties()]:
            raise ClaimError(f"require: {unknown[0][:100]!r} is no property; these are: {', '.join(properties())}")


@dataclass(frozen=True, repr=False)
class Judgement:
    """The verdict on an answer.

    `stage`: how far it came. `finding`: for a model, in one paragraph; `kind`, `line` and `where` are of the same
    finding. `case`: the inputs of the smallest failing case by name, `sizes` its sizes, `got` and `want` the answer and
    the interval at its worst element. `planned`: the trials of the budget. `is_cut_short`: the clock ended it before
    them. `is_shrunk`: the case is the smallest that the search for one found.
    """

    status: JudgementStatus
    stage: JudgementStage
    finding: str = ""
    kind: Kind | None = None
    where: str = ""
    line: int | None = None
    case: Mapping[str, NDArray[np.generic]] | None = None
    case_in_words: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    at: tuple[int, ...] | None = None
    got: float | None = None
    want: tuple[float, float] | None = None
    is_shrunk: bool = False
    elsewhere: str = ""
    """An error at other shapes than the one that the answer was written for, which does not break it."""
    operand: str = ""
    """The format to which its products round their operands, which a reference leaves open."""
    properties: Mapping[str, bool] = field(default_factory=dict)
    """Whether each property that the trials looked at, such as determinism, held in all of them."""
    seed: int = 0
    budget: float = 0.0
    calibration: str = CALIBRATION
    planned: int = 0
    trials: int = 0
    rows: int = 0
    unjudged_rows: int = 0
    is_cut_short: bool = False
    seconds: float = 0.0
    device: str = "cpu"
    sandbox: str = ""
    """The sandbox in which it ran; empty if it had the rights of its user."""

    def __repr__(self) -> str:
        found = f": {self.finding}" if self.finding else ""
        return f"<Judgement {self.status}, {self.stage}, {plural(self.trials, 'trial')}{found}>"

    @property
    def exit_code(self) -> int:
        """0 kept, 1 broken or misbehaved, 2 anything else."""
        return EXIT_CODES[self.status]


Describe = Callable[[Defect], str]
"""Words for a defect: one paragraph."""


class _SharedDevice(NamedDevice):
    """A device for several searches, each of which closes it."""

    def close(self) -> None:
        """Stay open: `end` ends it."""

    def end(self) -> None:
        """End its processes."""
        super().close()


def limits_of(terms: JudgingTerms, now: float) -> TimeLimits:
    """The limits of all that an answer does, until its first trial has ended."""
    limits = time_limits()
    call = max(terms.budget, LEAST_CALL) if limits.call is None else limits.call
    return TimeLimits(min(limits.compile, COLD_START), call, min(limits.until, now + COLD_START + terms.budget))


def trials_of(kernel: Kernel, budget: float) -> int:
    """The number of trials that a budget of seconds is."""
    what = "cuda" if kernel.front.language.runner.compiles else "python"
    if what == "python" and builds_cuda(kernel.source):
        what = "python that builds cuda"
    return max(LEAST_TRIALS, int((budget - SECONDS_TO_START[what]) * TRIALS_A_SECOND[what]))


def judge_answer(kernel: Kernel, terms: JudgingTerms, device: str, describe: Describe) -> Judgement:
    """The verdict on a kernel. Raises nothing that is the answer's fault."""
    began = time.monotonic()
    kernel = replace(kernel, drawn_by=kernel.shown_op, always_finite=promised_finite(kernel))
    planned = trials_of(kernel, terms.budget)
    shared = _SharedDevice(device)
    blank = Judgement("not judged", "none", seed=terms.seed, budget=terms.budget, planned=planned, device=device)
    try:
        with limited(limits_of(terms, began)):
            found = _AnswerSearch(kernel, terms, planned, shared, began).run(blank, describe)
    except Exception as error:  # a bug of kfuzz must not look like a right answer, nor end a batch of them
        found = replace(blank, status="cannot run", finding=line_of(error))
    finally:
        shared.end()
    return replace(found, seconds=round(time.monotonic() - began, 3))


@dataclass
class _AnswerSearch:
    """The trials of one answer, at its home first."""

    kernel: Kernel
    terms: JudgingTerms
    planned: int
    device: _SharedDevice
    began: float
    clock: float = 0.0
    """When the first trial had ended; 0 before."""

    def run(self, blank: Judgement, describe: Describe) -> Judgement:
        """The verdict."""
        home = pinned(self.kernel)
        at_home = max(1, int(self.planned * AT_HOME)) if home else 0
        if sizes_of_object(self.kernel):  # its weights are as large as at home there, and small in all others
            at_home = min(at_home, 1)
        searches = [(home, at_home)] if home else []
        searches.append((with_small_object(self.kernel), self.planned - at_home))
        results: list[KernelResult] = []
        is_cut_short = False
        elsewhere = ""
        for kernel, most in searches:
            result, tried = self._search(kernel, most), kernel
            is_decisive = kernel is home or not home or self.terms.any_shape
            if kernel is home and was_too_large(result.kernels[0]):
                tried = pinned(smaller_at_home(self.kernel)) or kernel
                self._restart_clock()
                result = self._search(tried, most)
                is_decisive = self.terms.any_shape or not names_its_home(self.kernel)
            (one,) = result.kernels
            results.append(one)
            is_cut_short = is_cut_short or result.stop_reason == "max-time"
            blank = with_counts(blank, results, is_cut_short)
            if one.news and is_decisive:
                stage = _stage_before(one.news[0].headline.defect, bool(home) and kernel is not home)
                found = self._broken(blank, tried, one.news[0].headline, stage, describe)
                own = of_own_weights(one)
                return replace(found, finding=f"{found.finding} It ran {own}." if own else found.finding)
            ended = one.progress.error or (one.progress.retired if not one.progress.trials else "")
            if ended and not is_cut_short:
                return replace(blank, status="cannot run", finding=ended)
            if one.news and kernel is home:
                words = "it is too large for its own shape here, and its text has a size of that; at a smaller shape: "
                return replace(blank, stage="ran", finding=words + describe(one.news[0].headline.defect))
            if one.news:
                elsewhere = describe(one.news[0].headline.defect)
            if is_cut_short:
                break
        return self._unbroken(replace(blank, elsewhere=elsewhere), results, bool(home), describe)

    def _search(self, kernel: Kernel, most: int) -> Result:
        options = Options(
            seed=self.terms.seed,
            max_cases=most,
            other_shapes=self.terms.any_shape,
            stop_at_first=True,
            budget=MOST_ELEMENTS,
        )
        (result,) = run_lanes((kernel,), [Lane(self.device.name, lambda: self.device, 0)], options, self._note_trial)
        return result

    def _note_trial(self, event: Event) -> None:
        """Start the clock after the first trial, for which something was compiled or imported."""
        if isinstance(event, Tried) and not self.clock:
            self.clock = time.monotonic()
            set_variables({UNTIL: repr(self.clock + self.terms.budget)})

    def _restart_clock(self) -> None:
        """Take the next trial for the first one, within the time that the first one has."""
        self.clock = 0.0
        set_variables({UNTIL: repr(self.began + COLD_START + self.terms.budget)})

    @property
    def left(self) -> float:
        """Seconds of the budget that are left."""
        return max(0.0, (self.clock or time.monotonic()) + self.terms.budget - time.monotonic())

    def _broken(
        self, blank: Judgement, kernel: Kernel, one: Discovery, stage: JudgementStage, describe: Describe
    ) -> Judgement:  # fmt: skip
        status: JudgementStatus = "misbehaved" if one.defect.kind == MISBEHAVED else "broken"
        attempt = attempt_of(kernel, self.terms.seed, one.smallest_trial, MOST_ELEMENTS)
        case, defect, is_shrunk = attempt.case, one.defect, False
        left = self.left
        if left >= LEAST_SHRINKING and defect.kind not in ENDS_PROCESS:
            probe = probe_of(kernel, self.terms.seed, one.smallest_trial, Options.runs, Options.timeout)
            subject = subject_of(kernel, case, attempt.tune, probe.check, probe.seed)
            failure = Failure(point_at_worst(subject, defect), defect, probe.runs)
            smaller = minimize(failure, self.device, most_runs=RUNS, max_time=min(SHRINKING, left), again=0)
            case, defect = smaller.failure.subject.case, smaller.failure.defect
            is_shrunk = smaller.stop == "smallest"
        worst = defect.worst
        return replace(
            blank,
            status=status,
            stage=stage,
            finding=describe(defect),
            kind=defect.kind,
            where=defect.where,
            line=defect.line,
            case=arrays_of(case),
            case_in_words=str(case),
            sizes=dict(defect.scene.axes),
            at=None if worst is None else tuple(worst.index),
            got=None if worst is None else float(worst.got),
            want=None if worst is None else (float(worst.lo), float(worst.hi)),
            is_shrunk=is_shrunk,
        )

    def _unbroken(self, blank: Judgement, results: list[KernelResult], has_home: bool, describe: Describe) -> Judgement:
        """The verdict on an answer of which nothing is known to be wrong."""
        first, last = results[0], results[-1]
        doubts = [bug.headline.defect for one in results for bug in one.bugs if bug.headline.defect.kind == "suspect"]
        if doubts:
            stage: JudgementStage = "shapes right"
            return replace(blank, status="suspect", stage=stage, kind="suspect", finding=describe(doubts[0]))
        at_home = first.progress
        if not at_home.rows or at_home.unjudged_rows > LEAST_JUDGED * at_home.rows:
            if does_not_compile(first):
                said = "; ".join(sorted(map(refusal_text, first.progress.refusals)))
                return replace(blank, status="cannot run", finding=said)
            why = "; ".join(dict.fromkeys(one.unjudged for one in results if one.unjudged))
            words = f"{at_home.unjudged_rows} of {plural(at_home.rows, 'row')} could not be judged"
            words = words if at_home.rows else ""
            stage = "ran" if first.progress.trials else "none"
            late = first.progress.error or "nothing was tried within the budget"
            return replace(blank, stage=stage, finding=why or words or late)
        said = next((one.words for one in first.progress.refusals if not one.is_of_weights), "")
        if said and (has_home or not last.progress.rows):
            return replace(blank, stage="ran", finding=f"it refuses some of its inputs: {said}")
        stage = "values right at home"
        if len(results) > 1 or not has_home:
            stage = stage if blank.elsewhere or not last.progress.rows else "right at other sizes"
        if stage == "right at other sizes" and all(blank.properties.values()):
            stage = "properties"
        for name in self.terms.require:
            if name not in blank.properties:
                return replace(blank, stage=stage, finding=f"{name} is required, and no trial could look at it")
            if not blank.properties[name]:
                found = f"its values are right, and it is not {name}, which is required"
                return replace(blank, status="broken", stage=stage, finding=found)
        return replace(blank, status="kept", stage=stage, finding=of_own_weights(first))


def was_too_large(result: KernelResult) -> bool:
    """Whether nothing was judged of a kernel, for want of time or memory of this machine."""
    progress = result.progress
    is_slow = any(one.words.startswith(TOO_SLOW_HERE) for one in progress.refusals)
    kinds = {one.defect.kind for one in result.discoveries}
    return not progress.rows and (is_slow or OUT_OF_MEMORY in kinds)


def of_own_weights(result: KernelResult) -> str:
    """In words, that an answer ran with weights that it made itself, and why; empty if it did not."""
    refused = next((one.words for one in result.progress.refusals if one.is_of_weights), "")
    return f"with its own weights: {refused}" if refused else ""


def smaller_at_home(kernel: Kernel) -> Kernel:
    """The kernel with a home of less work, for an answer that takes far longer than its elements say."""
    small = with_small_object(kernel)
    return replace(small, home=home_of(small, FAR_LESS))


def does_not_compile(result: KernelResult) -> bool:
    """Whether no trial of a kernel came further than its compiler."""
    progress = result.progress
    return bool(progress.refusals) and not progress.rows and all(one.is_of_compiler for one in progress.refusals)


def with_small_object(kernel: Kernel) -> Kernel:
    """The kernel with smaller sizes of the object that is called, and with a home that is halved to be among them."""
    axes, home = dict(kernel.axes), dict(kernel.home)
    for name in sizes_of_object(kernel) & home.keys():
        while home[name] > MOST_OF_OBJECT and home[name] % (2 * axes[name].multiple) == 0:
            home[name] //= 2
        axes[name] = replace(axes[name], hi=home[name])
    return replace(kernel, axes=axes, home=home)


def pinned(kernel: Kernel) -> Kernel | None:
    """The kernel at the shape that it was written for alone; None if it has none."""
    home = home_of(kernel)
    if not home or home.keys() != kernel.axes.keys():
        return None
    axes = {
        name: replace(axis, lo=home[name], hi=home[name], multiple=1, listed=()) for name, axis in kernel.axes.items()
    }
    return replace(kernel, axes=axes, drawn_by=f"{kernel.drawn_by} at home")


def with_counts(blank: Judgement, results: list[KernelResult], is_cut_short: bool) -> Judgement:
    """A judgement with what was tried."""
    looks: dict[str, bool] = {}
    for one in results:
        for name, (_, not_held) in one.progress.looks.items():
            looks[name] = looks.get(name, True) and not not_held
    return replace(
        blank,
        trials=sum(one.progress.trials for one in results),
        rows=sum(one.progress.rows for one in results),
        unjudged_rows=sum(one.progress.unjudged_rows for one in results),
        properties=looks,
        is_cut_short=is_cut_short,
        operand=next(filter(None, (one.progress.operand for one in results)), ""),
    )


def _stage_before(defect: Defect, is_elsewhere: bool) -> JudgementStage:
    """How far an answer came before this."""
    if is_elsewhere:
        return "values right at home"
    if defect.kind in ENDS_PROCESS:
        return "compiled"
    return "ran" if defect.kind == WRONG_SHAPE else "shapes right"


def arrays_of(case: Case) -> Mapping[str, NDArray[np.generic]] | None:
    """The inputs of a case; None if they are too large to be written down."""
    if any(is_vast(one) for one in case.arrays.values()):
        return None
    return {name: numbers_in(one) for name, one in case.arrays.items()}
