"""What tests of your own use: a check of a kernel, and cases of it for Hypothesis.

    import kfuzz

    def test_mine():
        kfuzz.check("mine.cu")

    @hypothesis.given(kfuzz.testing.attempts("mine.cu"))
    def test_mine_by_hypothesis(attempt):
        kfuzz.check("mine.cu", attempt)

`attempts`, `cases`, `rows`, `sizes` and `values` are strategies. A draw takes a handful of choices at any size, since
arrays are recipes, and shrinks towards one row of zeros.
"""

import atexit
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import overload

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from kfuzz.api import fuzz, load
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
from kfuzz.ui.reports.report import Report

__all__ = ["DefectError", "attempts", "cases", "check", "check_trial", "rows", "sizes", "values"]

CASES = 100
"""Of a check that names no case."""
SMALL_BUDGET = 1 << 12
"""Default number of elements of a case: small enough that a hundred examples take seconds."""


class DefectError(AssertionError):
    """A kernel is broken. Each bug has a class of its own, named by its kind: Hypothesis tells bugs apart by it."""


@cache
def error_class(bucket: str, kind: str) -> type[DefectError]:
    """The exception of a bucket."""
    name = "".join(word.capitalize() for word in re.findall(r"[A-Za-z0-9]+", kind))
    return type(f"{name}Error", (DefectError,), {"__doc__": bucket, "__module__": __name__})


@overload
def check(
    kernel: Kernel | Path | str, attempt: None = None, device: str = "auto", cases: int = CASES, seed: int = 0,
    op: str = "", reference: Path | str = "",
) -> Report: ...  # fmt: skip


@overload
def check(
    kernel: Kernel | Path | str, attempt: Attempt, device: str = "auto", cases: int = CASES, seed: int = 0,
    op: str = "", reference: Path | str = "",
) -> Trial: ...  # fmt: skip


def check(
    kernel: Kernel | Path | str, attempt: Attempt | None = None, device: str = "auto", cases: int = CASES,
    seed: int = 0, op: str = "", reference: Path | str = "",
) -> Trial | Report:  # fmt: skip
    """Raise a DefectError if a kernel is broken: in one case, or in a search of `cases` cases that the seed fixes.

    With an `attempt`, which a strategy draws, it runs that case, with every access checked on a CPU, and returns the
    trial, which has the warnings among its `defects`. Without one it is `kfuzz.fuzz`, whose report it returns; a kernel
    that could not be judged fails, too. `device` is "cpu", "gpu", or "auto": the GPU if there is one. The fixture
    `kfuzz_check` of the pytest plugin is this function on `--kfuzz-device`.
    """
    __tracebackhide__ = True
    if attempt is not None:
        one = _kernel_of(kernel, op, reference)
        probe = Probe(check=True, seed=int(attempt.case.digest[:8], 16))
        trial = run_trial(one, attempt.case, attempt.tune, _device_of_process(device), probe)
        check_trial(trial)
        return trial
    report = fuzz(_kernel_of(kernel, op, reference), device, cases, seed)
    for bug in report.failing:
        defect = bug.headline.defect
        raise error_class(defect.bucket, defect.kind)(_message(defect))
    if report.exit_code:
        why = "; ".join(filter(None, (one.unjudged or one.progress.error for one in report.kernels)))
        raise DefectError(f"the kernel could not be judged: {why}")
    return report


def _kernel_of(kernel: Kernel | Path | str, op: str = "", reference: Path | str = "") -> Kernel:
    """A kernel, loaded once for each text of its file: Hypothesis calls a test a hundred times."""
    if isinstance(kernel, Kernel):
        return kernel
    path = Path(kernel)
    changed = path.stat().st_mtime_ns if path.is_file() else 0
    return _load_once(str(kernel), changed, op, str(reference))


@cache
def _load_once(target: str, _: int, op: str, reference: str) -> Kernel:
    return load(target, op, reference)


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
def attempts(draw: DrawFn, kernel: Kernel | Path | str, budget: int = SMALL_BUDGET) -> Attempt:
    """A case that the kernel's claim admits, with at most about `budget` elements, and tune values for its launch."""
    choose: Choose = lambda lo, hi: draw(st.integers(lo, hi))  # noqa: E731  a choice is a draw
    return plan(_kernel_of(kernel), choose, budget)


def cases(kernel: Kernel | Path | str, budget: int = SMALL_BUDGET) -> SearchStrategy[Case]:
    """A case that the kernel's claim admits."""
    return attempts(kernel, budget).map(lambda attempt: attempt.case)
