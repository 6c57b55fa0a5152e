"""Ranks a bug by what it does at the shape that a host function was written for, its home: it runs the function there.

Ranks: wrong there with usual numbers; wrong there with others that the op allows; undefined there (a race) and right
in some orders of threads; right there and wrong elsewhere. Knows kernels, trials and bugs, and words each rank.
"""

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from kfuzz.campaign.bugs import Bug
from kfuzz.campaign.state import Discovery
from kfuzz.campaign.trials.compiled import options_for
from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.case import Case, case_for, numbers_in
from kfuzz.cases.plans.home import home_of, names_its_home
from kfuzz.cases.plans.plan import input_shapes, plan_at, plan_like, takes_any_number
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.expression import show_sizes
from kfuzz.devices import Device, Probe
from kfuzz.kinds import Kind
from kfuzz.oracle import judge

USUAL_SEEDS, OTHER_SEEDS = 2, 6
USUAL = 8.0
"""The largest number in a test's usual inputs: normal ones end at 3.5, and a few are scaled."""
MOST_SECONDS = 20.0
"""For one run at home, which is mostly larger than a trial."""
ORDERS = 4
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 33, 48, 64, 96, 100, 128, 256, 384, 512, 1000, 1024)
DIVISORS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
AT_HOME, FOR_VALUES, BETWEEN_WARPS, WITHIN_A_WARP, ELSEWHERE = 1, 2, 3, 4, 5


class Trials:
    """Trials that run when they are asked for, each once: one at home takes up to half a minute to judge."""

    def __init__(self, runs: Iterable[Trial]) -> None:
        self._left, self._done = iter(runs), list[Trial]()

    def __iter__(self) -> Iterator[Trial]:
        yield from self._done
        for trial in self._left:
            self._done.append(trial)
            yield trial


@dataclass(frozen=True)
class AtHome:
    """The trials at the shape that a function was written for."""

    usual: Trials
    others: Trials

    after_calls: tuple[Trial, ...] = ()
    """The same with usual numbers, after calls of other sizes, if a bug depends on earlier calls."""

    @property
    def is_known(self) -> bool:
        """Whether a trial there had a judged answer or an error."""
        return any(one.elements or one.errors for one in self.usual)


def shows(causes: Collection[str], trials: Iterable[Trial]) -> bool:
    """Whether one of these trials has an error of one of these causes, on a GPU of the usual size."""
    errors = (error for one in trials for error in one.errors if not error.multiprocessors)
    return any(cause in causes for error in errors for cause in error.causes)


def run_at_home(kernel: Kernel, device: Device, kinds: Collection[Kind] = ()) -> AtHome:
    """Run a kernel at its home: with normal numbers, and with numbers that the search draws.

    `kinds`: those of its bugs. One may depend on earlier calls, so these are made however large the home is.
    """
    options = options_for(kinds)
    axes = home_of(kernel)
    tune = next(kernel.tunes(axes), {})

    def runs_of(cases: Sequence[Case]) -> Trials:
        plain, checked = (
            Probe(check, 3, seed, MOST_SECONDS, options=options) for seed, check in ((0, False), (0, True))
        )
        every = [(cases[0], plain), (cases[0], checked), *((one, plain) for one in cases[1:])]
        return Trials(run_trial(kernel, case, tune, device, probe) for case, probe in every)

    drawn = [plan_at(kernel, axes, tune, random.Random(seed).randint).case for seed in range(OTHER_SEEDS)]  # noqa: S311  values, nothing secret
    usual = usual_cases(kernel, axes, tune)[:USUAL_SEEDS]
    after = Probe(runs=3, timeout=MOST_SECONDS, after_calls=True)
    called = (run_trial(kernel, usual[0], tune, device, after),) if "stateful" in kinds else ()
    return AtHome(runs_of(usual), runs_of(drawn), called)


def run_like(case: Case, kernel: Kernel, device: Device, kinds: Collection[Kind] = ()) -> Iterator[Trial]:
    """The trial of the numbers of another case at a kernel's home, if they can be repeated to fill it."""
    axes = home_of(kernel)
    if attempt := plan_like(case, kernel, axes, next(kernel.tunes(axes), {})):
        probe = Probe(runs=3, timeout=MOST_SECONDS, options=options_for(kinds))
        yield run_trial(kernel, attempt.case, attempt.tune, device, probe)


def usual_cases(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int]) -> list[Case]:
    """Cases of a size as a test would have them: normal numbers, or the tame ones among cases that are drawn."""
    drawn = [plan_at(kernel, axes, tune, random.Random(seed).randint).case for seed in range(OTHER_SEEDS)]  # noqa: S311  values, nothing secret
    tame = [one for one in drawn if all(is_tame(numbers_in(array)) for array in one.arrays.values())]
    roles = input_shapes(kernel, axes)
    draw = np.random.default_rng(0)
    normal = {role: draw.normal(size=shape).astype(np.float32) for role, shape in roles.items()}
    return [case_for(kernel, normal)] if takes_any_number(kernel) else tame or drawn[:1]


def is_tame(array: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> bool:
    """Whether every element is a finite number of a usual size."""
    return bool(np.isfinite(array).all() and (np.abs(array) <= USUAL).all())


def rank_bugs(
    kernel: Kernel, bugs: Sequence[Bug], device: Device, case_of_bug: Callable[[Bug], Case]
) -> Iterator[Discovery]:
    """The discoveries of each bug with its rank, if anything is known about the home. Its own case is tried, too."""
    for bug in (bug for bug in bugs if bug.headline.defect.is_at_home):
        words = f"at {'x'.join(map(str, kernel.home.values()))}, the shape it was written for"
        yield from (replace(one, defect=replace(one.defect, rank=AT_HOME, standing=words)) for one in bug.every)
    bugs = [bug for bug in bugs if not bug.headline.defect.is_at_home]
    if not kernel.home or not bugs:
        return
    kinds = {one.defect.kind for bug in bugs for one in bug.every}
    home = run_at_home(kernel, device, kinds)
    for bug in bugs if home.is_known else ():
        like = run_like(case_of_bug(bug), kernel, device, kinds)
        place, standing = rank_of(kernel, bug, replace(home, others=Trials(chain(like, home.others))), device)
        yield from (replace(one, defect=replace(one.defect, rank=place, standing=standing)) for one in bug.every)


def describe_bugs(kernel: Kernel, bugs: Sequence[Bug], device: Device) -> Iterator[Discovery]:
    """The discoveries of each bug that is right at home, with what it does elsewhere: that of its small case."""
    for bug in bugs:
        defect = bug.headline.defect
        if defect.rank == ELSEWHERE and not defect.standing:
            words = describe_elsewhere(kernel, defect, device)
            yield from (replace(one, defect=replace(one.defect, standing=words)) for one in bug.every)


def shape_at_home(kernel: Kernel) -> str:
    """The shape of the trials at home, and that of the home where it is larger."""
    tried, home = ("x".join(map(str, one.values())) for one in (home_of(kernel), kernel.home))
    return tried if tried == home else f"{tried}, a smaller shape like {home}"


def rank_of(kernel: Kernel, bug: Bug, home: AtHome, device: Device) -> tuple[int, str]:
    """The rank of a bug, and its words; none for a bug that only other shapes show, which `describe_bugs` describes."""
    shape, causes = shape_at_home(kernel), {cause for one in bug.every for cause in one.causes}
    own = ", the shape it was written for" * (home_of(kernel) == dict(kernel.home))
    is_usual = shows(causes, home.usual)
    was_there = any(
        dict(one.defect.scene.axes) == home_of(kernel) and not one.defect.multiprocessors for one in bug.every
    )
    is_elsewhere = names_its_home(kernel)
    is_other = not is_usual and ((was_there and not is_elsewhere) or shows(causes, home.others))
    if not is_usual and shows(causes, home.after_calls):
        return AT_HOME, f"at {shape}{own}, after calls of other shapes"
    if (is_usual or is_other) and is_elsewhere:
        return ELSEWHERE, f"at {shape}; its text names a size of that, which no trial had"
    is_other = is_other or was_there
    defect = bug.headline.defect
    if defect.kind == "race" and (is_usual or is_other):
        right, wrong = orders_of(kernel, next(iter(home.usual)).case, device)
        if right or not wrong:
            return describe_race(defect, shape, right, wrong)
    if is_usual:
        return AT_HOME, f"at {shape}{own}"
    if is_other:
        return FOR_VALUES, f"at {shape} for values that {kernel.shown_op} allows"
    if defect.multiprocessors:
        return ELSEWHERE, f"on a GPU with {defect.multiprocessors} multiprocessors; no error at {shape} on an H200"
    return ELSEWHERE, ""


def describe_race(defect: Defect, shape: str, right: Sequence[str], wrong: Sequence[str]) -> tuple[int, str]:
    """The rank of a race, and its words."""
    is_within = defect.finding is not None and defect.finding.in_one_warp
    who = "lanes of one warp, which GPUs often hide" if is_within else "warps"
    orders = f"right in {', '.join(right)}; wrong in {', '.join(wrong)}" if wrong else f"right in {', '.join(right)}"
    return (WITHIN_A_WARP if is_within else BETWEEN_WARPS), f"at {shape}: race between {who}; {orders}"


def orders_of(kernel: Kernel, case: Case, device: Device) -> tuple[list[str], list[str]]:
    """The orders of threads in which the answer is right, and in which it is wrong."""
    bound = kernel.bind(case.arrays, next(kernel.tunes(kernel.axes_of(case.arrays)), {}))
    right, wrong = dict[str, None](), dict[str, None]()
    for run in device.run(bound.job, Probe(runs=ORDERS, timeout=MOST_SECONDS)).runs:
        inputs, outputs = kernel.stored(case.arrays), kernel.outputs(run.outputs, bound.sizes)
        verdict = judge(kernel.op, inputs, outputs, bound.accuracy, kernel.special, bound.scalars)
        order = run.circumstances.order or str(run.circumstances)
        (wrong if verdict.is_outside else right)[order] = None
    return list(right), list(wrong)


def describe_elsewhere(kernel: Kernel, defect: Defect, device: Device) -> str:
    """What the function does at another shape, and where it is right, as far as a few sizes show it."""
    axes = defect.scene.axes
    name = str(kernel.entries[0]).partition("(")[0]
    takes = "x".join(map(str, axes.values()))
    where = right_condition(kernel, axes, lambda sizes: has_defect_at(kernel, defect, sizes, device))
    right = f"; right wherever {where}" if where else f"; right at {show_sizes(home_of(kernel), home_of(kernel))}"
    return f"{name}() takes {takes} and {describe_deed(defect)}{right}. A check would turn this into a refusal"


def describe_deed(defect: Defect) -> str:
    """What a defect does, in a few words: `reads x[4]`."""
    found = defect.finding
    if found and found.access and found.array and found.index is not None:
        return f"{found.access} {found.array}[{found.index}]"
    if found and found.array and found.index is not None and found.kind == "unwritten":
        return f"leaves {found.array}[{found.index}] unwritten"
    return f"its answer is wrong: {defect.diagnosis}" if defect.diagnosis else f"shows {defect.kind}"


def has_defect_at(kernel: Kernel, defect: Defect, axes: Mapping[str, int], device: Device) -> bool:
    """Whether usual numbers of this size show a defect with the same cause."""
    tune = dict(defect.scene.tune)
    case = usual_cases(kernel, axes, tune)[0]
    probe = Probe(defect.scene.check, 2, 0, MOST_SECONDS, options=options_for([defect.kind]))
    trial = run_trial(kernel, case, tune, device, probe)
    return any(set(error.causes) & set(defect.causes) for error in trial.errors)


def right_condition(kernel: Kernel, axes: Mapping[str, int], is_broken: Callable[[Mapping[str, int]], bool]) -> str:
    """A condition on one axis, `cols % 4 == 0`, that holds at exactly those of the tried sizes where it is right."""
    for name in reversed(list(axes)):
        sizes = sorted({axes[name], *(size for size in (*SIZES, kernel.home[name]) if size in kernel.axes[name])})
        sizes = [size for size in sizes if size <= max(SIZES) and kernel.admits({**axes, name: size})]
        wrong = {size for size in sizes if is_broken({**axes, name: size})}
        if condition := separating_condition(name, set(sizes) - wrong, wrong):
            return condition
    return ""


def separating_condition(name: str, right: set[int], wrong: set[int]) -> str:
    """The divisor or bound that separates the right sizes from the wrong ones; empty if none does."""
    if not wrong or len(right) < 2:
        return ""
    for divisor in DIVISORS:
        if all(size % divisor == 0 for size in right) and not any(size % divisor == 0 for size in wrong):
            return f"{name} % {divisor} == 0"
    if max(right) < min(wrong):
        return f"{name} <= {max(right)}"
    if max(wrong) < min(right):
        return f"{name} >= {min(right)}"
    return ""
