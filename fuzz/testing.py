"""What tests of your own import: cases of a kernel for Hypothesis, and a check of one of them.

    from hypothesis import given
    from kfuzz import load
    from kfuzz.testing import attempts, check

    MINE = load("mine.cu")

    @given(attempts(MINE))
    def test_mine(attempt):
        check(MINE, attempt)

`attempts`, `cases`, `rows`, `sizes` and `values` are strategies. A draw takes a handful of choices at any size, since
arrays are recipes, and shrinks towards one row of zeros.
"""

import atexit
import re
from collections.abc import Iterable
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from kfuzz.campaign.device import open_device
from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.case import Case
from kfuzz.cases.plans.choose import Choose
from kfuzz.cases.plans.edges import VECTOR, WARP, columns, edges
from kfuzz.cases.plans.families import ROWS, RowPlan
from kfuzz.cases.plans.plan import Attempt, plan
from kfuzz.cases.recipe import Recipe, mix
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.axes import Axis
from kfuzz.devices import Device, Probe
from kfuzz.ui.reports.failure import evidence

__all__ = ["DefectError", "attempts", "cases", "check", "check_trial", "rows", "sizes", "values"]

SMALL_BUDGET = 1 << 12
"""Default number of elements of a case: small enough that a hundred examples take seconds."""


class DefectError(AssertionError):
    """A kernel is broken. Each bug has a class of its own, named by its kind: Hypothesis tells bugs apart by it."""


@cache
def error_class(bucket: str, kind: str) -> type[DefectError]:
    """The exception of a bucket."""
    name = "".join(word.capitalize() for word in re.findall(r"[A-Za-z0-9]+", kind))
    return type(f"{name}Error", (DefectError,), {"__doc__": bucket, "__module__": __name__})


def check(kernel: Kernel, attempt: Attempt, device: str = "auto") -> Trial:
    """Run a kernel on one case, with every access checked on a CPU, and raise a DefectError if it is broken.

    `device` is "cpu", "gpu", or "auto": the GPU if there is one. The trial says what was judged, and has the warnings
    among its `defects`. The fixture `kfuzz_check` of the pytest plugin is this function on `--kfuzz-device`.
    """
    __tracebackhide__ = True
    probe = Probe(check=True, seed=int(attempt.case.digest[:8], 16))
    trial = run_trial(kernel, attempt.case, attempt.tune, _device_of_process(device), probe)
    check_trial(trial)
    return trial


def check_trial(trial: Trial) -> None:
    """Raise the exception of the trial's first error, if it has one."""
    __tracebackhide__ = True
    for defect in trial.errors:
        raise error_class(defect.bucket, defect.kind)(_message(defect))


def _message(defect: Defect) -> str:
    """What a report says of a defect, without what a campaign adds."""
    return "\n".join([defect.bucket, *(f"  {name:<9} {words}" for name, words in evidence(defect))])


@cache
def _device_of_process(name: str) -> Device:
    """The device of all checks of this process, since its worker takes a while to start."""
    device = open_device(name)
    atexit.register(device.close)
    return device


def sizes(axis: Axis, around: Iterable[int] = (WARP, VECTOR)) -> SearchStrategy[int]:
    """Any size of an axis, mostly one at an edge of the widths in `around`.

    Adjacent edges form one range of integers, so that a size at one edge may shrink to any other in the range.
    """
    if axis.listed:
        return st.sampled_from(axis.listed)
    by = axis.multiple
    counts = [size // by for size in edges(axis, tuple(around))]
    starts = [count for count in counts if count - 1 not in counts]
    ends = [count for count in counts if count + 1 not in counts]
    ranges = [(-(-axis.lo // by), axis.hi // by), *zip(starts, ends, strict=True)]
    return st.one_of([st.integers(first, last) for first, last in ranges]).map(lambda count: count * by)


def values() -> SearchStrategy[float]:
    """Any float32 but NaN and +inf, which few claims mention."""
    return st.floats(width=32, allow_nan=False).filter(lambda value: value != float("inf"))


@st.composite
def rows(draw: DrawFn, count: int, cols: int, around: Iterable[int] = (WARP, VECTOR)) -> Recipe:
    """Rows of one length, each of another family; `kfuzz.cases.recipe.materialise` makes the array."""
    start, seed = draw(st.integers(0, len(ROWS) - 1)), draw(st.integers(0, 0xFFFF))
    widths = tuple(around)
    inside = columns(cols, widths)
    bands = [
        ROWS[(start - index) % len(ROWS)](RowPlan(cols, inside, widths, mix(seed, start - index)))
        for index in range(max(1, count))
    ]
    return Recipe(count, cols, tuple(bands))


@st.composite
def attempts(draw: DrawFn, kernel: Kernel, budget: int = SMALL_BUDGET) -> Attempt:
    """A case that the kernel's claim admits, with at most about `budget` elements, and tune values for its launch."""
    choose: Choose = lambda lo, hi: draw(st.integers(lo, hi))  # noqa: E731  a choice is a draw
    return plan(kernel, choose, budget)


def cases(kernel: Kernel, budget: int = SMALL_BUDGET) -> SearchStrategy[Case]:
    """A case that the kernel's claim admits."""
    return attempts(kernel, budget).map(lambda attempt: attempt.case)
