"""Every kernel on the cpu device: a correct one is never accused, a broken one is found with its kind.

The trials are the search's own, from fixed seeds. Beside them stands a second opinion that owes nothing to the
oracle: the exact answer by mpmath, and the first-order error bound of the counts that the claim declares.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from our_kernels import every_kernel
from seldom import FAST, LONG, ONE_A_FAMILY, is_seldom

from kfuzz.campaign.schedule import BEYOND_INT
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.plans.choose import seed_of, seeded_choices
from kfuzz.cases.plans.plan import plan, plan_rung
from kfuzz.cases.plans.scale import Large
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.measure.speed.sizes import tunes_at
from kfuzz.oracle.accuracy.rounding import Accuracy, U
from kfuzz.oracle.numbers.elements import F32

KERNELS = {kernel.name: kernel for kernel in every_kernel()}
CORRECT = [name for name, kernel in KERNELS.items() if not kernel.broken]
BROKEN = [name for name, kernel in KERNELS.items() if kernel.broken]


def is_plain_softmax(kernel: Kernel) -> bool:
    """Of floats: an answer in 16 bits is rounded once more."""
    return kernel.op == "softmax" and kernel.arrays["x"].element is F32


LARGE_TOO = {"softmax/grid_three_launches", "reduce/warp_sum_xor", "sgemm/tiled", "transpose/tiled"}
"""The kernels whose large trials are run each time, one of a kind."""


FOUND_EACH_TIME = {"broken/index_overflow", "broken/leading_neg_inf", "broken/never_meets_its_end"}
"""Two that test_found_and_small.py leaves to `make soak`, and one of those that it looks for each time."""


def found_each_time(name: str) -> object:
    return pytest.param(name, marks=() if name in FOUND_EACH_TIME else pytest.mark.soak)


def seldom(name: str) -> object:
    return pytest.param(name, marks=soak(name))


def soak(name: str, trials: str | None = None) -> tuple[pytest.MarkDecorator, ...]:
    """Of the kernels that are tried less often a plain run has the first trials of some."""
    if trials == "large" and name not in LARGE_TOO:
        return (pytest.mark.soak,)
    is_first = trials == "first" and name in ONE_A_FAMILY
    return (pytest.mark.soak,) if name in LONG or (is_seldom(KERNELS[name]) and not is_first) else ()


TRIALS = [
    pytest.param(0, 4, id="first"),
    pytest.param(4, 12, id="large", marks=pytest.mark.slow),
    pytest.param(12, 1000, id="thousand", marks=pytest.mark.soak),
]
"""Which of the trials of a correct kernel; a campaign has as many as one likes."""
AT_MOST = 200
"""Trials within which every broken kernel is found; most are in the first three."""

Floats = NDArray[np.float32]


def trials(kernel: Kernel, device: CpuDevice, timeout: float = 10.0) -> Iterator[Trial]:
    """Trials without end: in turns for outputs and accesses; early ones beyond what 16 bits can count, and 32."""
    large: Mapping[int, Large] = {4: "elements", 5: "rows", 6: "overflow"}
    number = 0
    while True:
        choose = seeded_choices(seed_of("numeric", kernel.name, number))
        beyond = plan_rung(kernel, BEYOND_INT, choose) if number == 6 else None
        attempt = beyond or plan(kernel, choose, large=large.get(number))
        check = number % 2 == 1 and number not in large
        yield run_trial(kernel, attempt.case, attempt.tune, device, Probe(check=check, seed=number, timeout=timeout))
        number += 1


def text_of(trial: Trial) -> str:
    """What a failing test prints: the sizes, and each defect in words."""
    return f"{dict(trial.case.axes)} {dict(trial.tune)}: {'; '.join(defect.message for defect in trial.defects)}"


NEVER_ACCUSED = [
    pytest.param(name, *trial.values, id=f"{name}-{trial.id}", marks=soak(name, trial.id) or trial.marks)
    for name in CORRECT
    for trial in TRIALS
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "first", "last"), NEVER_ACCUSED)
def test_a_correct_kernel_is_never_accused(name: str, first: int, last: int, device: CpuDevice) -> None:
    for trial in islice(trials(KERNELS[name], device), first, last):
        assert not trial.defects, text_of(trial)
        assert trial.ratio <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [*map(found_each_time, BROKEN)])
def test_a_broken_kernel_is_found_as_what_it_is(name: str, device: CpuDevice) -> None:
    kernel = KERNELS[name]
    assert kernel.broken
    timeout = 1.0 if kernel.broken.kind == "hang" else 10.0  # what never ends need not be waited for
    kinds: set[tuple[str, str]] = set()
    for trial in islice(trials(kernel, device, timeout), AT_MOST):
        kinds |= {(defect.kind, defect.severity) for defect in trial.defects}
        if (kernel.broken.kind, kernel.broken.severity) in kinds:
            return
    pytest.fail(f"{name} is broken ({kernel.broken.why}), wanted {kernel.broken.kind}; found only {sorted(kinds)}")


@pytest.mark.parametrize("name", [*map(seldom, CORRECT)])
def test_every_launch_parameter_keeps_the_claim(name: str, device: CpuDevice) -> None:
    kernel = KERNELS[name]
    attempt = plan(kernel, seeded_choices(seed_of("launch", name)))
    for parameter, values in kernel.tune.items():
        for value in values:
            tune = {**attempt.tune, parameter: value}
            if kernel.where.broken({**kernel.axes_of(attempt.case.arrays), **tune}):
                continue  # no launch that is claimed at this size
            trial = run_trial(kernel, attempt.case, tune, device, Probe(runs=2))
            assert not trial.defects, text_of(trial)


# The second opinion.


PLAIN_SOFTMAX = [
    pytest.param(name, marks=pytest.mark.soak if name in FAST else ())
    for name in CORRECT
    if is_plain_softmax(KERNELS[name])
]


@pytest.mark.parametrize("name", PLAIN_SOFTMAX)
@pytest.mark.parametrize("shape", ["normal", "descending", "spike at the end"])
def test_softmax_is_as_near_to_the_exact_answer_as_its_counts_say(name: str, shape: str, device: CpuDevice) -> None:
    kernel = KERNELS[name]
    x = row_of(shape, columns_for(kernel, 257))
    got, accuracy = answer(kernel, {"x": x[np.newaxis]}, device)
    want, allowed = exact_softmax(x, accuracy)
    assert np.all(np.abs(got["y"].reshape(-1).astype(np.float64) - want) <= allowed)


def test_the_second_opinion_tells_a_wrong_softmax(device: CpuDevice) -> None:
    kernel = KERNELS["broken/lane_counted_twice"]
    x = row_of("normal", 255)
    got, accuracy = answer(kernel, {"x": x[np.newaxis]}, device)
    want, allowed = exact_softmax(x, accuracy)
    assert np.all(np.abs(got["y"].reshape(-1).astype(np.float64) - want) > allowed)


@pytest.mark.parametrize("name", [name for name in CORRECT if KERNELS[name].op == "row_sum"])
def test_a_sum_is_as_near_to_the_exact_one_as_its_counts_say(name: str, device: CpuDevice) -> None:
    x = row_of("normal", columns_for(KERNELS[name], 257))
    got, accuracy = answer(KERNELS[name], {"x": x[np.newaxis]}, device)
    error = abs(float(mpmath.fsum(map(float, x)) - float(got["y"][0])))
    assert error <= growth(accuracy.adds or x.size) * float(np.abs(x).astype(np.float64).sum())


@pytest.mark.parametrize("name", [name for name in CORRECT if KERNELS[name].op == "row_max"])
def test_a_maximum_is_the_maximum(name: str, device: CpuDevice) -> None:
    x = row_of("normal", columns_for(KERNELS[name], 257))
    got, _ = answer(KERNELS[name], {"x": x[np.newaxis]}, device)
    assert got["y"][0] == x.max()


@pytest.mark.parametrize("name", [name for name in CORRECT if KERNELS[name].op == "sgemm"])
def test_a_product_is_as_near_to_the_exact_one_as_its_counts_say(name: str, device: CpuDevice) -> None:
    a, b = row_of("normal", 5 * 67).reshape(5, 67), row_of("spike at the end", 67 * 3).reshape(67, 3)
    got, accuracy = answer(KERNELS[name], {"a": a, "b": b}, device)
    weight = growth(1 + (accuracy.adds or 67)) * (np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)))
    for row, col in np.ndindex(5, 3):
        exact = mpmath.fdot(map(float, a[row]), map(float, b[:, col]))
        assert abs(float(exact - float(got["c"][row, col]))) <= weight[row, col]


def columns_for(kernel: Kernel, wanted: int) -> int:
    """So many columns, or as many as the kernel claims, and a multiple of what it claims."""
    cols = list(kernel.axes.values())[-1]
    return min(wanted, cols.hi) // cols.multiple * cols.multiple


def row_of(shape: str, cols: int) -> Floats:
    """A row of moderate values: none of its exponentials leaves the normal floats."""
    x = np.random.default_rng(20).standard_normal(cols)
    if shape == "descending":
        x = np.linspace(20.0, -20.0, cols)
    if shape == "spike at the end":
        x[-1] += 12.0
    return x.astype(np.float32)


def answer(kernel: Kernel, inputs: dict[str, Floats], device: CpuDevice) -> tuple[dict[str, Floats], Accuracy]:
    """The kernel's outputs for its last launch parameters, and what it claims of them."""
    bound = kernel.bind(inputs, list(tunes_at(kernel, kernel.axes_of(inputs)))[-1])
    got = kernel.outputs(device.run(bound.job, Probe(runs=2)).runs[0].outputs, bound.sizes)
    return {role: np.asarray(array, np.float32) for role, array in got.items()}, bound.accuracy


def growth(roundings: int) -> float:
    """By how much so many roundings in a row can let a value grow, relative to it."""
    return float(np.expm1(roundings * np.log1p(U)))


def exact_softmax(x: Floats, accuracy: Accuracy) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The exact row, and how far each element may be from it: first order, with a thousandth for the higher ones.

    Each element has the error of its own exp, of x - max (d units of u at a distance of d) and of the division, and
    that of the sum: the errors of its terms, weighted by their shares. A rescaling is one more exp and a product.
    """
    with mpmath.workdps(50):
        powers = [mpmath.exp(mpmath.mpf(float(value))) for value in x]
        total = mpmath.fsum(powers)
        y = np.array([float(power / total) for power in powers])
    terms = x.size if accuracy.adds is None else accuracy.adds
    rescales = terms if accuracy.rescales is None else accuracy.rescales
    sums = terms + rescales * (accuracy.exp.a0 + 1) if accuracy.accumulate == "f32" else 1 + rescales * accuracy.exp.a0
    distance = float(x.max()) - x.astype(np.float64) + accuracy.shift_slack
    a_term = accuracy.exp.a0 + (1 + accuracy.exp.kappa) * distance
    of_the_sum = float(np.sum(y * (a_term + sums)))
    divide = {"ieee": 1, "reciprocal": 2, "fast": 5, "fast reciprocal": 6}[accuracy.divide]
    return y, 1.001 * U * y * (a_term + divide + of_the_sum)
