"""Each rule of docs/formulas.md: with it a correct kernel is inside, and without it the kernel is not."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import ctx

from kfuzz.oracle import Accuracy, judge
from kfuzz.oracle.accuracy.rounding import FunctionModel
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import BF16, F16, F32, F64, TF32, Element, store, values
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.proof.hard_inputs import moment_rows
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.ends import BallEnds
from kfuzz.oracle.systems.loosest import Loosest
from kfuzz.oracle.systems.rules.growth import growth
from kfuzz.oracle.systems.rules.moments import divide_by_count
from kfuzz.oracle.systems.rules.variance import two_pass
from kfuzz.oracle.systems.rules.welford import OVERSHOT
from kfuzz.oracle.systems.simulated import KernelManner, Simulated
from kfuzz.oracle.systems.value import Quantity

Any_ = Any
IEEE = Accuracy(divide="ieee", rescales=0)


def outside(N: Bands, made: Quantity | Callable[[Bands], Quantity], got: Any_, form: Element = F32) -> int:
    """How many of a kernel's answers lie outside; as float64 numbers of a format."""
    held = N.store(made(N) if callable(made) else made, form)
    lo, hi, nan = (np.broadcast_to(part, got.shape) for part in held.parts)
    with np.errstate(invalid="ignore"):
        return int((~np.where(np.isnan(got), nan, (got >= lo) & (got <= hi))).sum())


def kernel(claim: Accuracy, manner: KernelManner | None = None, sizes: Mapping[str, int] | None = None) -> Simulated:
    return Simulated(claim, manner or KernelManner(), sizes or {})


def floats(x: Any_, form: Element = F32) -> Any_:
    return form.round(np.asarray(x, dtype=np.float64))


RNG = np.random.default_rng(1)


class RoundedOnly(Bands):
    """R1 off: a result is what the ends are rounded to, never the exact number that an FMA goes on with."""

    def round_once(self, lo: Any_, hi: Any_, nan: Any_, *how: Any_) -> Quantity:
        return self.value(self.f.round(lo), self.f.round(hi), nan, *how)


def test_a_product_that_is_contracted_into_an_addition_is_not_rounded() -> None:
    x = floats(1 + 1e-4 * RNG.standard_normal(500))
    got = floats(x * x - 1)  # one rounding, by an FMA

    def exact_product(N: Bands) -> Quantity:
        v = N.input(x)
        product = N.value(floats(x * x), floats(x * x)) if isinstance(N, RoundedOnly) else v * v
        return product - 1.0

    for system, is_sound in ((Bands, True), (RoundedOnly, False)):
        N = system(IEEE, {})
        assert (outside(N, exact_product(N), got) == 0) == is_sound


class RelativeToTheSum(Bands):
    """R2 off: a sum errs by D u of itself, and not of its terms."""

    def sum(self, a: Quantity, sum: str = "sum", axis: int = -1) -> Quantity:
        grown, total = growth(self, sum, a.shape[axis]).each, a.lo.sum(axis=axis, keepdims=True)
        return self.value(total - np.abs(total) * grown, total + np.abs(total) * grown)


def test_a_sum_errs_with_the_size_of_its_terms() -> None:
    half = floats(RNG.standard_normal((20, 128)))
    x = np.concatenate([half, -half[:, ::-1]], axis=-1)  # comes to 0, but by many roundings
    claim = replace(IEEE, adds=256)
    got = kernel(claim, KernelManner("sequential")).sum(kernel(claim).input(x)).x
    for system, is_sound in ((Bands, True), (RelativeToTheSum, False)):
        N = system(claim, {})
        assert (outside(N, N.sum(N.input(x)), got) == 0) == is_sound


class ExactConstants(Bands):
    """R3 off: a literal is the number as it is written."""

    def number(self, value: Any_) -> Quantity:
        return value if isinstance(value, Quantity) else self.input(np.asarray(value, dtype=np.float64))


def test_a_constant_is_rounded_once() -> None:
    x = floats(RNG.standard_normal(3000))
    got = floats(x + float(floats(0.044715)))
    for system, is_sound in ((Bands, True), (ExactConstants, False)):
        N = system(IEEE, {})
        assert (outside(N, N.input(x) + 0.044715, got) == 0) == is_sound


class NoUnderflow(Bands):
    """R4 off: exp errs relative to its result alone."""

    def exp(self, a: Quantity) -> Quantity:
        g = self.claim.exp.a0 * self.f.u * 1.001
        return self.value(np.exp(a.lo) * (1 - g), np.exp(a.hi) * (1 + g), a.nan)


def test_an_exp_errs_by_a_denormal_where_it_is_one() -> None:
    x = floats(RNG.uniform(-104, -90, 500))
    N = kernel(IEEE, KernelManner(noise="any"))
    got = N.exp(N.input(x)).x
    for system, is_sound in ((Bands, True), (NoUnderflow, False)):
        B = system(IEEE, {})
        assert (outside(B, B.exp(B.input(x)), got) == 0) == is_sound


class RelativeOutput(Bands):
    """R5 off: a narrow output errs by u of itself."""

    def store(self, a: Quantity, form: Element) -> Quantity:
        return self.value(a.lo * (1 - form.u), a.hi * (1 + form.u), a.nan) if form is not self.f else a


@pytest.mark.parametrize("x", [1e-7, 65519.0, 65521.0])
def test_a_narrow_output_is_denormal_or_infinite_as_it_is_rounded(x: float) -> None:
    numbers = floats(np.full(4, x) * (1 + 1e-6 * np.arange(4)))
    got = F16.round(numbers)
    for system, is_sound in ((Bands, True), (RelativeOutput, False)):
        N = system(IEEE, {})
        found = outside(N, N.input(numbers), got, F16)
        assert found == 0 if is_sound else found > 0 or x == 65519.0


def test_underflow_changes_no_sign_and_no_zero() -> None:
    N = Bands(IEEE, {})
    y = N.div(N.input(np.array([0.0, 1e-44, -1e-44])), N.input(np.array([3.0, 3e10, 3e10])))
    assert (float(y.lo[0]), float(y.hi[0])) == (0.0, 0.0)
    assert float(y.lo[1]) == 0.0
    assert float(y.hi[2]) == 0.0
    assert y.hi[1] > 0 > y.lo[2]


class NaiveVariance(Bands):
    """R7 off, for the worse: the mean's error counts as if every difference had one of its own."""

    def mean_var(self, x: Quantity, sums: tuple[str, str] = ("mean", "var"), correction: int = 0) -> Any_:
        mean = self.mean(x, sums[0])
        off = self.sub(x, mean)
        return mean, self.dot(off, off, sums[1]) / x.shape[-1]


class ExactMean(Bands):
    """R7 off, unsoundly: the squares are taken about the exact mean."""

    def mean_var(self, x: Quantity, sums: tuple[str, str] = ("mean", "var"), correction: int = 0) -> Any_:
        middle = x.lo.mean(axis=-1, keepdims=True)
        return middle, divide_by_count(self, two_pass(self, x, self.input(middle), sums[1]), x.shape[-1])


def test_the_means_error_enters_a_variance_once_and_squared() -> None:
    x = floats(moment_rows(257, 2, False))
    claim = replace(IEEE, adds=257)
    S = kernel(claim, KernelManner("sequential"))
    got = S.mean_var(S.input(x))[1].x
    with np.errstate(all="ignore"):
        assert outside(Bands(claim, {}), lambda N: N.mean_var(N.input(x))[1], got) == 0
        assert outside(ExactMean(claim, {}), lambda N: N.mean_var(N.input(x))[1], got) > 0
        near = floats(RNG.standard_normal((20, 257)) + 100)
        widths = [
            float(np.median(v.hi - v.lo))
            for v in (s(claim, {}).mean_var(s(claim, {}).input(near))[1] for s in (Bands, NaiveVariance))
        ]
    assert widths[1] > 50 * widths[0]


def normalised(N: Any_, x: Quantity, eps: float = 1e-5) -> Quantity:
    mean, var = N.mean_var(x)
    made: Quantity = (x - mean) * N.rsqrt(var + eps)
    return made


def test_no_normalised_value_is_beyond_the_root_of_their_number() -> None:
    n = 9
    x = floats(np.zeros((40, n)))
    x[:, 4] = np.geomspace(1e-6, 1e2, 40)  # the last one's deviation is sqrt(n - 1) roots of the variance
    wide = np.full(x.shape, 1e2)

    def made(N: Bands) -> Quantity:
        return normalised(N, N.value(-wide, wide))

    for order in ("sequential", "tree"):
        S = kernel(IEEE, KernelManner(order))
        got = normalised(S, S.input(x)).x
        assert np.abs(got).max() > 2.8
        assert outside(Bands(IEEE, {}), made, got) == 0
    assert np.all(made(Bands(IEEE, {})).hi < 3.03)
    assert outside(Bands(IEEE, {}), made, np.full(x.shape, 3.1)) == x.size
    for claim in (replace(IEEE, keep={"x": "bf16"}), replace(IEEE, shared=()), replace(IEEE, denominator="element")):
        assert np.all(made(Bands(claim, {})).hi > 1e4)  # x may be two numbers
    assert np.all(made(Bands(IEEE, {}, form="welford")).hi > 1e4)


def test_a_sum_of_squares_may_be_corrected_for_the_mean() -> None:
    x = np.repeat(floats(RNG.uniform(1e6, 2e6, (60, 1))), 5, axis=1).astype(np.float32)
    total = x[:, 0]
    for column in range(1, 5):
        total = total + x[:, column]
    off = x - (total / np.float32(5))[:, None]
    got = off * np.float32(1 / np.sqrt(1e-5))  # all deviations are the mean's error, so that no variance is left
    assert np.abs(got).max() > np.sqrt(5)
    assert outside(Bands(IEEE, {}), lambda N: normalised(N, N.value(x - 1e3, x + 1e3)), got) == 0


def test_what_is_kept_narrow_is_so_at_a_scale_of_its_own() -> None:
    e = floats(RNG.uniform(0.1, 1, 500))
    claim = replace(IEEE, keep={"e": "f16"})
    scale = 0.7310585786300049  # what a running maximum was off by when e was stored
    got = floats(F16.round(floats(e / scale)) * scale)
    N = Bands(claim, {})
    assert outside(N, N.keep(N.input(e), "e") * 1.0, got) == 0
    rounded = N.value(F16.round(e), F16.round(e))
    assert outside(N, rounded * 1.0, got) > 0


def test_a_value_that_must_be_rounded_is_a_number_of_its_format() -> None:
    x, w = floats(RNG.uniform(1, 2, 500)), floats(RNG.uniform(1, 2, 500))
    claim = replace(IEEE, keep={"n": "bf16"}, rounds=("n",))

    def product(N: Bands) -> Quantity:
        return N.keep(N.input(x), "n") * N.input(w)

    rounded, unrounded = floats(BF16.round(x) * w), floats(x * w)
    assert outside(Bands(claim, {}), product, rounded) == 0
    assert outside(Bands(claim, {}), product, unrounded) > 400
    assert outside(Bands(replace(claim, rounds=()), {}), product, unrounded) == 0
    assert outside(Bands(claim, {}), product, floats(BF16.truncate(x) * w)) > 200


@pytest.mark.parametrize("form", [F16, BF16])
def test_no_kernel_that_rounds_where_it_must_is_outside(form: Element) -> None:
    claim = Accuracy(keep={"normed": form.name}, rounds=("normed",), form="(x r) w", divide="ieee")
    op = find("rms_norm")
    for rows, cols, scale in ((40, 7, 1.0), (40, 64, 1e-3), (20, 257, 1e4)):
        inputs = {"x": scale * RNG.standard_normal((rows, cols)), "w": RNG.standard_normal(cols)}
        held = {name: op.store_input(name, array, form) for name, array in inputs.items()}
        sizes, plain = op.sizes_of(held), {name: values(array) for name, array in held.items()}
        N = Simulated(claim, KernelManner(), sizes, form="(x r) w")
        got = op.run(N, plain, sizes, op.scalars_of(sizes, {}))["y"].x
        judge("rms_norm", held, {"y": store(got, form)}, claim).check()
        loose = Simulated(replace(claim, keep={}, rounds=()), KernelManner(), sizes, form="(x r) w")
        free = op.run(loose, plain, sizes, op.scalars_of(sizes, {}))["y"].x
        assert judge("rms_norm", held, {"y": store(free, form)}, claim).status == "broken"
        judge("rms_norm", held, {"y": store(free, form)}, replace(claim, rounds=())).check()


def test_a_rounding_that_the_claim_cannot_mean_is_refused() -> None:
    with pytest.raises(ValueError, match="rounds='normed': expected a value that keep holds"):
        Accuracy(rounds=("normed",))
    claim = Accuracy(keep={"normed": "bf16"}, rounds=("normed",), form="x (r w)")
    row = np.ones((1, 4), np.float32)
    with pytest.raises(OracleError, match="no form of x"):
        judge("rms_norm", {"x": row, "w": row[0]}, {"y": row}, claim)


def test_a_claim_that_keeps_nothing_allows_no_narrow_value() -> None:
    e = floats(RNG.uniform(0.1, 1, 500))
    N = Bands(IEEE, {})
    assert outside(N, N.keep(N.input(e), "e"), F16.round(e)) > 0


def folded(x: Any_, width: int = 8) -> Any_:
    """Softmax by exp2(x c - fl(m c)), online in blocks: every new maximum has a product of its own."""
    c = float(floats(np.log2(np.e)))
    m, s = np.full((*x.shape[:-1], 1), -np.inf), np.zeros((*x.shape[:-1], 1))
    for start in range(0, x.shape[-1], width):
        part = x[..., start : start + width]
        new = np.maximum(m, part.max(axis=-1, keepdims=True))
        shift = floats(new * c)
        e = floats(np.exp2(floats(part * c - shift)))
        old = np.where(np.isneginf(m), 0.0, floats(np.exp2(floats(np.where(np.isneginf(m), 0.0, m) * c - shift))))
        s = floats(floats(s * old) + kernel(IEEE).sum(kernel(IEEE).input(e)).x)
        m = new
    return floats(floats(np.exp2(floats(x * c - floats(m * c)))) / s)


def test_a_folded_shift_errs_with_the_maximum_at_every_rescale() -> None:
    x = floats(np.cumsum(RNG.uniform(0, 0.02, (20, 257)), axis=-1) + 3000)
    got = folded(x)
    claim = Accuracy(divide="ieee", adds=45, rescales=33)

    def softmax(N: Bands) -> Quantity:
        scores = N.input(x) * 1.0000001  # no input: a score, whose shift may be folded into its scale
        scores.parts = (x, x.copy(), np.zeros((), dtype=np.bool_))
        e = N.exp(scores - N.shift(scores))
        return e / N.sum(e, "sum")

    assert outside(Bands(claim, {}), softmax, got) == 0
    assert outside(Bands(replace(claim, shift="running max"), {}), softmax, got) > 0


class NaiveAverage(Bands):
    """R11 off: numerator and denominator as if their terms erred apart."""

    def average(self, e: Quantity, v: Quantity, sums: tuple[str, str] = ("pv", "row")) -> Quantity:
        return self.div(self.matmul(e, v, sums[0]), self.sum(e, sums[1]))


def test_one_weight_above_and_below_errs_with_the_spread_of_what_it_weighs() -> None:
    x, v = floats(2 * RNG.standard_normal((5, 64))), floats(7 + 1e-3 * RNG.standard_normal((64, 3)))
    claim = replace(IEEE, adds=7)

    def weighed(N: Any_) -> Quantity:
        scores = N.input(x)
        if isinstance(N, Bands):  # scores that err, as products do
            scores.parts, scores.is_point = (x - 1e-4, x + 1e-4, np.zeros((), dtype=np.bool_)), False
        return N.average(N.exp(scores - N.shift(scores)), N.input(v))

    S = kernel(claim, KernelManner("tree", "ends"))
    got = weighed(S).x
    bands = [s(claim, {}) for s in (Bands, NaiveAverage)]
    made = [weighed(N) for N in bands]
    assert [outside(N, y, got) for N, y in zip(bands, made, strict=True)] == [0, 0]
    widths = [float(np.median(y.hi - y.lo)) for y in made]
    assert widths[1] > 20 * widths[0]


def test_scores_that_are_computed_again_for_the_sum_are_rounded_again() -> None:
    """As Triton on an H200 did for two layouts: a weight e^0.25 above and 1 below gave 128.4 in the place of 100."""
    q = np.full((1, 40, 16), 1000.0, np.float32) + np.float32(RNG.uniform(-0.2, 0.2, (1, 40, 16)))
    k = np.full((1, 2, 16), -1000.0, np.float32)
    v = np.full((1, 2, 3), 100.0, np.float32)
    products = q[:, :, None] * k[:, None]
    by_tree = products.copy()
    while by_tree.shape[-1] > 1:
        by_tree = by_tree[..., ::2] + by_tree[..., 1::2]
    in_a_row = np.add.accumulate(products, axis=-1, dtype=np.float32)[..., -1]
    above, below = (scores * np.float32(0.25) for scores in (by_tree[..., 0], in_a_row))
    weights = np.exp(above - below.max(axis=-1, keepdims=True))
    got = (weights.sum(axis=-1) / np.exp(below - below.max(axis=-1, keepdims=True)).sum(axis=-1))[..., None] * v[:, :1]
    assert got.max() > 110
    given = {"q": q, "k": k, "v": v}
    claim = Accuracy(adds=16, rescales=0)
    assert judge("attention", given, {"o": got}, claim).status == "broken"
    assert judge("attention", given, {"o": got}, replace(claim, denominator="element")).status == "kept"
    small = {"q": q / np.float32(1000), "k": k / np.float32(1000), "v": v}
    off = np.full(got.shape, 100.01, np.float32)
    assert judge("attention", small, {"o": off}, replace(claim, denominator="element")).status == "broken"


@pytest.mark.parametrize(("order", "factor"), [("sequential", 3), ("tree", 1)])
def test_running_means_err_by_less_than_they_were_thought_to(order: Any_, factor: float) -> None:
    x = floats(moment_rows(257, 3, False))
    claim = replace(IEEE, adds=257 if order == "sequential" else 10, form="welford")
    S = Simulated(claim, KernelManner(order), {}, F32, "welford")
    got = S.mean_var(S.input(x))[1].x
    N = Bands(claim, {}, F32, "welford")
    with np.errstate(all="ignore"):
        made = N.mean_var(N.input(x))[1]
    assert outside(N, made, got) == 0
    n, adds, u = 257, claim.for_sum("var").most(257)[0], F32.u
    middle = x[0] - x[0].mean()
    S0, delta, L = (middle**2).sum(), (adds + 4) * u * np.abs(x[0]).max(), max(1.0, np.log2(n) / 2)
    before = (4 * delta * np.sqrt(n * L * S0) + n * L * delta**2 + S0 * (adds + 6) * u) / n
    assert float((made.hi - made.lo)[0, 0]) / 2 < before / factor


@pytest.mark.parametrize("update", ["quotient", "reciprocal", "convex"])
def test_a_running_sum_of_squares_is_hardly_below_zero_however_far_its_mean_may_be_off(update: str) -> None:
    """An eps keeps the root of such a variance a number, also with so many terms that the mean may be anything."""
    which = np.random.default_rng(5).integers(0, 2, 2000)
    x = np.where(which, np.nextafter(np.float32(3.0), np.float32(4.0)), np.float32(3.0))
    claim = replace(IEEE, adds=1 << 22, form="welford")
    N = Bands(claim, {}, F32, "welford")
    with np.errstate(all="ignore"):
        lo = float(N.mean_var(N.input(np.float64(x)[None]))[1].lo[0, 0])
    products = welford_products(x, update)
    assert products.min() >= -OVERSHOT / 2 * F32.u**2 * 9  # of each term, and so of their mean
    assert products.sum() / len(x) >= lo >= -4 * OVERSHOT * F32.u**2 * 9


def welford_products(x: Any_, update: str) -> Any_:
    """(x - m) (x - new m) of each x of a chain in float32, for one way to update m."""
    one, m, products = np.float32(1), x[0], [np.float32(0)]
    for k, value in enumerate(x[1:], 2):
        count, off = np.float32(k), value - m
        match update:
            case "quotient":
                new = m + off / count
            case "reciprocal":
                new = m + off * (one / count)
            case _:
                new = m * ((count - one) / count) + value / count
        products.append(off * (value - new))
        m = new
    return np.array(products, dtype=np.float64)


def test_operands_may_be_cut_to_a_multipliers_format() -> None:
    a, b = floats(RNG.uniform(1, 2, (7, 33))), floats(RNG.uniform(1, 2, (33, 5)))
    claim = replace(IEEE, operand="tf32", adds=33)
    N = Bands(claim, {})
    made = N.matmul(N.input(a), N.input(b))
    for cuts in (True, False):
        S = kernel(claim, KernelManner(cuts=cuts))
        assert outside(N, made, S.matmul(S.input(a), S.input(b)).x) == 0
    rounded_only = Bands(replace(claim, operand=None), {})
    only = rounded_only.matmul(rounded_only.input(TF32.round(a)), rounded_only.input(TF32.round(b)))
    S = kernel(claim, KernelManner(cuts=True))
    assert outside(rounded_only, only, S.matmul(S.input(a), S.input(b)).x) > 0


def test_tensor_cores_cut_where_others_round() -> None:
    a, b = floats(RNG.uniform(1, 2, (4, 1024)), F16), floats(RNG.uniform(1, 2, (1024, 3)), F16)
    claim = replace(IEEE, adds=1024, accumulate="mma")
    S = kernel(claim, KernelManner("sequential"))
    got = S.matmul(S.input(a), S.input(b)).x
    assert outside(Bands(claim, {}), lambda N: N.matmul(N.input(a), N.input(b)), got) == 0
    short = replace(claim, adds=300, accumulate="f32")
    assert outside(Bands(short, {}), lambda N: N.matmul(N.input(a), N.input(b)), got) > 0
    one = S.sum(S.input(np.array([1, 1.5 * 2.0**-24]))).x
    assert float(one[0]) == 1.0  # as an H200 has it; rounded it is 1 + 2^-23


def test_a_tensor_core_takes_a_denormal_factor_for_the_least_normal_one() -> None:
    """gemm of f16 on an H200: 2^-24 x 2^15 keeps the exponent of 2^-14 x 2^15, and all is cut 25 bits below that."""
    a = floats(RNG.standard_normal((40, 16)) * 2.0 ** RNG.integers(-24, -18, (40, 16)), F16)
    a[20:, ::3] = 0.0
    b = floats(RNG.standard_normal((16, 3)) * 2.0 ** RNG.integers(-14, 14, (16, 3)), F16)
    products = a[:, :, None] * b[None]
    of_a, of_b = (np.maximum(np.frexp(v)[1] - 1, -14) for v in (a, b))
    counted = np.where(products == 0, -133, of_a[:, :, None] + of_b[None])
    last = 2.0 ** (counted.max(axis=1, keepdims=True) - 25.0)
    got = F32.truncate((np.trunc(products / last) * last).sum(axis=1))
    claim = replace(IEEE, adds=16, accumulate="mma")
    assert outside(Bands(claim, {}, least=F16.min_normal), lambda N: N.matmul(N.input(a), N.input(b)), got) == 0
    assert outside(Bands(claim, {}), lambda N: N.matmul(N.input(a), N.input(b)), got) > 0
    for least in (F16.min_normal, 0.0):
        N = Bands(claim, {}, least=least)
        by_column = N.dot(N.input(a[:, :, None]), N.input(b[None]), "sum", axis=1)
        assert (outside(N, by_column, got[:, None, :]) == 0) == bool(least)
    for name in ("f16", "f32"):  # a question knows it from its inputs, or from what it is claimed to multiply
        inputs = {"a": a[None], "b": b[None], "c0": np.zeros((1, 40, 3)), "bias": np.zeros(3)}
        given = {k: v.astype("f4" if k in ("c0", "bias") or name == "f32" else "f2") for k, v in inputs.items()}
        said = replace(claim, operand="f16" if name == "f32" else None)
        assert judge("gemm", given, {"c": got[None].astype("f4")}, said).status == "kept"


def test_zeros_that_a_tensor_core_multiplies_cost_nothing() -> None:
    """Tiles are padded with zeros, and 0 x 2^15 was seen not to count."""
    a, b = (floats(RNG.standard_normal(shape), F16) for shape in ((4, 16), (16, 3)))
    padded = np.concatenate([a, np.zeros_like(a)], axis=1), np.concatenate([b, np.full_like(b, 2.0**15)])
    claim = replace(IEEE, adds=32, accumulate="mma")
    sets = []
    for left, right in ((a, b), padded):
        N = Bands(claim, {}, least=F16.min_normal)
        sets.append(N.matmul(N.input(left), N.input(right)))
        by_column = N.dot(N.input(left[:, :, None]), N.input(right[None]), "sum", axis=1)
        assert (by_column.hi - by_column.lo <= 1.01 * (sets[-1].hi - sets[-1].lo)[:, None]).all()
    width, same = (one.hi - one.lo for one in sets)
    assert (same <= width * (1 + 2.0**-20)).all()


def test_a_denormal_sum_of_a_tensor_core_is_cut_as_well() -> None:
    """1.5 x 2^-127 by 1.25 x 2^-22 is 1.875 x 2^-149, and what is stored of it is 2^-149."""
    claim = replace(IEEE, adds=1, accumulate="mma")
    a, b = np.array([[1.5 * 2.0**-127]]), np.array([[1.25 * 2.0**-22]])
    got = F32.truncate(a * b)
    assert got[0, 0] == 2.0**-149
    for plain in (claim, replace(claim, accumulate="f32")):
        missed = outside(Bands(plain, {}), lambda N: N.dot(N.input(a), N.input(b), "sum"), got)
        assert missed == (plain is not claim)


def test_a_rescale_errs_in_two_formats() -> None:
    claim = Accuracy(adds=4, rescales=8, accumulate="f64")
    grown = growth(Bands(claim, {}), "sum", 4, has_exps=True).each
    assert 8 * 5 * F32.u < grown < 8 * 5.01 * F32.u  # not 8 * 6: the product is made in double
    assert growth(Bands(replace(claim, accumulate="f32"), {}), "sum", 4, has_exps=True).each > 8 * 6 * F32.u
    assert F64.u < F32.u


def test_denormals_are_flushed_on_the_way_in_and_out() -> None:
    x = floats(1e-39 * RNG.standard_normal(500))
    flushing = replace(IEEE, ftz=True)
    S = kernel(flushing)
    got = S.mul(S.input(x), S.number(1e10)).x
    assert outside(Bands(flushing, {}), lambda N: N.input(x) * 1e10, got) == 0
    assert outside(Bands(IEEE, {}), lambda N: N.input(x) * 1e10, got) > 0


def test_where_denormals_are_flushed_a_maximum_may_be_any_of_them() -> None:
    """A right max pool with -use_fast_math gave -9.4e-41 where the maximum is -9.1e-41: both compare as zero."""
    x = floats(np.array([[-9.4e-41, -9.1e-41], [5e-41, -3e-39], [7.0, -9.4e-41], [-4.0, -2.0]]))
    got = floats(np.array([[-9.4e-41], [-3e-39], [7.0], [-2.0]]))
    for claim, wanted in ((replace(IEEE, ftz=True), [True] * 4), (IEEE, [False, False, True, True])):
        N, loose = Bands(claim, {}), Loosest(claim, {}, F32, "", {})
        both = N.maximum(N.input(x[:, :1]), N.input(x[:, 1:]))
        for made in (N.max(N.input(x)), both):
            assert ((made.lo <= got) & (got <= made.hi)).reshape(-1).tolist() == wanted
        both = loose.maximum(loose.input(x[:, :1]), loose.input(x[:, 1:]))
        for made in (loose.max(loose.input(x)), both):
            assert (np.abs(got - made.x) <= loose.radius(made)).reshape(-1).tolist() == wanted


def test_no_derived_rule_makes_a_number_of_an_infinity() -> None:
    x = np.array([[1.0, -np.inf, 2.0], [np.nan, 1.0, 2.0], [1.0, 2.0, 3.0]])
    with np.errstate(all="ignore"):
        for form in ("two pass", "welford", "moments"):
            N = Bands(IEEE, {}, F32, form)
            var = N.mean_var(N.input(x))[1]
            assert np.broadcast_to(var.nan, (3, 1))[:2].all()
            assert np.isfinite([var.lo[2, 0], var.hi[2, 0]]).all()
        N = Bands(IEEE, {})
        e = N.exp(N.input(x) - N.shift(N.input(x)))
        o = N.average(e, N.input(np.array([[1.0], [np.inf], [3.0]])))
    assert np.broadcast_to(o.nan, (3, 1)).all()


def test_a_product_of_three_may_be_made_in_any_order() -> None:
    a, b, c = (floats(v) for v in (1e-30 * RNG.uniform(1, 2, 500), 1e-15 * RNG.uniform(1, 2, 500), np.full(500, 1e30)))
    N = Bands(IEEE, {})
    made = N.input(a) * N.input(b) * N.input(c)
    for first, second, third in ((a, b, c), (b, c, a), (a, c, b)):
        assert outside(N, made, floats(floats(first * second) * third)) == 0


def test_a_model_of_a_function_is_what_a_claim_says_it_is() -> None:
    x = floats(RNG.uniform(-2, 2, 500))
    loose = replace(IEEE, functions={"tanh": FunctionModel(187.0)})
    S = Simulated(loose, KernelManner(noise="ends"), {})
    got = S.tanh(S.input(x)).x
    assert outside(Bands(loose, {}), lambda N: N.tanh(N.input(x)), got) == 0
    assert outside(Bands(IEEE, {}), lambda N: N.tanh(N.input(x)), got) > 0


def test_the_formats_round_as_numpy_does() -> None:
    x = np.concatenate(
        [RNG.standard_normal(1000) * 10.0 ** RNG.uniform(-45, 38, 1000), [65519.99, 65520, 3.39e38, 3.4e38]]
    )
    with np.errstate(all="ignore"):
        half, single = x.astype(np.float16).astype(np.float64), x.astype(np.float32).astype(np.float64)
        generic = replace(F16, dtype=np.dtype(np.uint16))
        assert np.array_equal(generic.round(x), half)
        assert np.array_equal(replace(F32, dtype=np.dtype(np.uint32)).round(x), single)
        near = BF16.round(x)
    finite = np.isfinite(near) & (np.abs(x) > 2.0**-126)
    assert (np.abs(near - x)[finite] <= BF16.u * np.abs(x)[finite]).all()


def test_where_weights_are_divided_first_each_is_rounded() -> None:
    v = floats(np.where(np.arange(64) % 2, 1.0, -1.0)[:, None] * RNG.uniform(7, 7 + 1e-6, (64, 40)))
    claim, x, widths = replace(IEEE, adds=6), floats(RNG.standard_normal((1, 64))), []
    for form in ("normalize first", "divide last"):
        S = Simulated(claim, KernelManner("tree", "ends"), {}, F32, form)
        got = S.average(S.exp(S.input(x) - S.shift(S.input(x))), S.input(v)).x
        N = Bands(claim, {}, F32, form)
        computed = N.value(v - 0, v + 0, np.zeros((), dtype=np.bool_))  # two ends: no input, as far as rules know
        made = N.average(N.exp(N.input(x) - N.shift(N.input(x))), computed)
        assert outside(N, made, got) == 0
        widths.append(float((made.hi - made.lo).min()))
    assert widths[0] > widths[1] + 2 * F32.u * 7  # of all products, which cancel, and not of what is left of them


def normed(x: Any_, how: str, accumulate: str = "f32") -> tuple[Any_, Any_]:
    """What a kernel makes of rows, and whether the oracle takes it for a layer norm in two passes."""
    inputs = {"x": x, "w": np.ones(x.shape[1]), "b": 0.01 * np.arange(x.shape[1])}
    arrays = {role: a.astype("f4") for role, a in inputs.items()}
    claim = replace(IEEE, adds=x.shape[1], form="two pass", accumulate=accumulate)
    N = kernel(claim, KernelManner("sequential"), {"cols": x.shape[1]})
    given, w, b = (N.input(arrays[role].astype("f8")) for role in "xwb")
    mean = N.mean(given, "mean")
    off = given - mean
    squares = N.dot(off, off, "var")
    if how == "corrected":  # by the sum of the differences, which is what the mean is off by
        rest = N.sum(off, "var")
        squares = squares - rest * rest / x.shape[1]
    var = squares / (x.shape[1] - (1 if how == "n - 1" else 0))
    y = off * N.rsqrt(var + 1e-5) * w + b
    return y.x, judge("layer_norm", arrays, {"y": y.x.astype("f4")}, claim)


def test_the_mean_that_elements_tell_bounds_the_variance() -> None:
    """At 1e7 a mean may be off by more than all deviations; but which mean it was, elements near it tell."""
    x = floats(1e7 + RNG.standard_normal((3, 33)))
    for how in ("two pass", "corrected", "n - 1"):
        _, verdict = normed(x, how)
        assert (verdict.status == "broken") == (how == "n - 1"), (how, verdict)
    assert "same" in verdict.detail  # no element by itself is outside
    assert all(normed(x, how, "f64")[1].status == "kept" for how in ("two pass", "corrected"))


def test_right_kernels_err_by_a_larger_slope_than_a_wrong_scale_does() -> None:
    """Why no warning goes by odds: with scores of two values all roundings of e are one and the same."""

    def slope(scores: Any_, v: Any_, scale: float = 1.0) -> float:
        """Of the errors over the answers of a kernel that keeps e in bf16."""
        e = BF16.round(floats(np.exp(scale * scores)))
        want = np.exp(scores) @ v / np.exp(scores).sum(axis=1, keepdims=True)
        error = e @ v / e.sum(axis=1, keepdims=True) - want
        return float((want * error).sum() / (want * want).sum())

    far = np.arange(128) % 16 != 0
    masked = np.where(far, -0.3, 0.0) + np.zeros((64, 1))
    right = slope(masked, np.where(far, 0.0, 1.0)[:, None])
    scores = RNG.standard_normal((64, 128))
    wrong = slope(scores - scores.max(axis=1, keepdims=True), RNG.standard_normal((128, 64)), 1.001)
    assert abs(right) > 1.5 * abs(wrong) > 1e-4


def from_a_bias(a: Any_, b: Any_, bias: Any_) -> Any_:
    """acc = bias; acc += a b, in float32 one by one."""
    held = np.broadcast_to(bias, (a.shape[0], b.shape[1])).astype("f4")
    for step in range(a.shape[1]):
        held = held + a[:, step : step + 1] * b[step : step + 1]
    return held


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (1.0, 1.0), (0.7, 0.3)])
def test_a_sum_of_products_may_start_at_a_large_bias(alpha: float, beta: float) -> None:
    """Each of 300 additions is rounded beside 1e6: one at the end would be rounded once."""
    a, b = RNG.uniform(0.5, 1.5, (1, 4, 300)).astype("f4"), RNG.uniform(0.5, 1.5, (1, 300, 3)).astype("f4")
    bias, c0 = np.full(3, 1e6, dtype="f4"), np.full((1, 4, 3), -3e5, dtype="f4")
    inputs, scalars = {"a": a, "b": b, "c0": c0, "bias": bias}, {"alpha": alpha, "beta": beta}
    start = bias + np.float32(beta) * c0[0]

    def verdict(c: Any_, claim: Accuracy) -> str:
        return judge("gemm", inputs, {"c": c[None]}, claim, scalars=scalars).status

    got = from_a_bias(np.float32(alpha) * a[0], b[0], start)
    for claim in (Accuracy(), Accuracy(adds=300)):
        assert verdict(got, claim) == "kept"
        assert verdict(got, replace(claim, form="sums start at bias and c0")) == "kept"
        assert verdict(got + bias, claim) == "broken"  # a bias added twice
        assert verdict(from_a_bias(np.float32(alpha) * a[0, :, :-1], b[0, :-1], start + 40), claim) == "broken"
    for form in ("bias last", "bias before c0"):
        assert verdict(got, Accuracy(form=form)) == "broken"


def test_the_sums_of_a_gemv_may_start_at_y0() -> None:
    a, x = RNG.uniform(0.5, 1.5, (4, 300)).astype("f4"), RNG.uniform(0.5, 1.5, 300).astype("f4")
    y0 = np.full(4, 1e6, dtype="f4")
    got = from_a_bias(a, x[:, None], y0[:, None])[:, 0]

    def verdict(y: Any_, form: str | None) -> str:
        return judge("gemv", {"a": a, "x": x, "y0": y0}, {"y": y}, Accuracy(form=form), scalars={"beta": 1.0}).status

    assert [verdict(got, form) for form in (None, "sums start at y0", "y0 last")] == ["kept", "kept", "broken"]
    assert verdict(got + y0, None) == "broken"


@pytest.mark.parametrize("accumulate", ["f32", "f64", "compensated", "f16", "mma"])
@pytest.mark.parametrize("order", ["sequential", "tree", "strided", "blocked", "random"])
def test_what_a_sum_of_products_starts_at_grows_with_it(order: Any_, accumulate: Any_) -> None:
    draw = np.random.default_rng(1)  # its own, for the partner below does not hold of all numbers
    a, b = floats(draw.uniform(0, 1, (5, 130)), F16), floats(draw.uniform(0, 1, (130, 3)), F16)
    starts = floats(1e4 * draw.standard_normal(3), F16), floats(3e3 * draw.standard_normal((5, 3)), F16)
    claim = replace(IEEE, adds={"sequential": 129, "tree": 8, "random": 129}.get(order, 33), accumulate=accumulate)
    fused = order == "sequential" and accumulate != "compensated"
    S = kernel(claim, KernelManner(order, width=32, fused=fused))
    got = S.matmul(S.input(a), S.input(b), "k", [S.input(start) for start in starts]).x

    def make_sum(N: Bands) -> Quantity:
        return N.matmul(N.input(a), N.input(b), "k", [N.input(start) for start in starts])

    assert outside(Bands(claim, {}, least=F16.min_normal), make_sum, got) == 0
    with ctx.workprec(128):
        assert outside(Bands(claim, {}, ends=BallEnds(), least=F16.min_normal), make_sum, got) == 0
    if accumulate in ("f32", "mma"):  # beside one more addition at the end: the start as the last term
        N = Bands(claim, {}, least=F16.min_normal)
        last = N.matmul(N.input(a), N.input(b), "k") + N.input(starts[0]) + N.input(starts[1])
        assert outside(N, last, got) > 0


def test_a_sum_that_starts_at_an_infinity_or_nan_ends_there() -> None:
    N, one = Bands(IEEE, {}), np.ones((1, 1))
    for start in (np.inf, -np.inf, np.nan):
        made = N.matmul(N.input(one), N.input(one), "k", [N.input(np.full((1, 1), start))])
        assert outside(N, made, np.full((1, 1), start)) == 0
        assert outside(N, made, one) == 1
    both = [N.input(np.full((1, 1), start)) for start in (np.inf, -np.inf)]
    made = N.matmul(N.input(one), N.input(one), "k", both)
    assert outside(N, made, np.full((1, 1), np.nan)) == 0
    assert outside(N, made, np.full((1, 1), np.inf)) == 1


@pytest.mark.parametrize("claim", [Accuracy(), Accuracy(ftz=True, divide="fast"), Accuracy(keep={"n": "f16"})])
def test_a_single_number_is_a_set_like_any_other(claim: Accuracy) -> None:
    """A scale such as 1 / sqrt(d) has no axes; one ball is not an array, and has no size."""

    def numbers(N: Bands) -> list[Quantity]:
        a, b = N.number(0.3), N.number(-2.5)
        some = [a + b, a - b, a * b, a * b * a, a / b, -a, abs(b), N.keep(a * b, "n"), N.maximum(a, b), N.store(a, F16)]
        return [*some, *(f(a * a) for f in (N.exp, N.log, N.sqrt, N.rsqrt, N.tanh, N.erf, N.sigmoid))]

    with ctx.workprec(128), np.errstate(all="ignore"):
        balls = numbers(Bands(claim, {}, ends=BallEnds()))
        for one, ball in zip(numbers(Bands(claim, {})), balls, strict=True):
            assert float(ball.lo) >= one.lo
            assert float(ball.hi) <= one.hi
            assert ball.lo.shape == one.lo.shape == ()
