"""Is every enclosure sound? Test it with simulated float32 algorithms; one answer outside is a violation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.accuracy.rounding import EXPF, FAST_EXPF, Accuracy, ExpModel, Order
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import F64
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, compare, is_outside
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.proof.hard_rows import Row, family_rows
from tests.oracle.selfcheck import algorithms
from tests.oracle.selfcheck.algorithms import SEQUENTIAL, TREE
from tests.oracle.selfcheck.number import ExpNoise, Float32, Vector

STRIDED = Order("strided", 256)
MODELS: dict[ExpNoise, ExpModel] = {
    "rounded": ExpModel(1, 0),
    "ulp2": EXPF,
    "high2": EXPF,
    "ends2": EXPF,
    "ex2": ExpModel(4, 1.225),
    "documented": FAST_EXPF,
}
Algorithm = Callable[[Float32, Row], Vector]


@dataclass(frozen=True)
class Variant:
    """One algorithm with a claim that is true of it.

    `by_height`: the sum is a tree, claimed by its height and not as an order. `most`: the algorithm does not
    apply to values larger than that.
    """

    name: str
    run: Algorithm
    claim: Accuracy
    by_height: bool = False
    most: float = np.inf

    def claim_for(self, n: int) -> Accuracy:
        """The claim for rows of n elements."""
        if not self.by_height:
            return self.claim
        height = max(n - 1, 0).bit_length()
        return replace(self.claim, adds=height, rescales=0 if self.claim.rescales == 0 else height)


def _three_pass(order: Order) -> Algorithm:
    return lambda N, x: algorithms.three_pass(N, N.embed(x), order)


def _online(order: Order) -> Algorithm:
    return lambda N, x: algorithms.online(N, N.embed(x), order)


def _unshifted(N: Float32, x: Row) -> Vector:
    return algorithms.unshifted(N, N.embed(x), TREE)


def _lazy(N: Float32, x: Row) -> Vector:
    """The first element is subtracted from all, then the sum is rescaled to the maximum: no running maximum."""
    first, top = N.embed(x[:, :1]), N.embed(x.max(axis=1, keepdims=True))
    s = N.mul(algorithms.total(N, N.exp(N.sub(N.embed(x), first)), TREE), N.exp(N.sub(first, top))[:, 0])
    return N.div(N.exp(N.sub(N.embed(x), top)), s[:, None])


def _off_the_terms(N: Float32, x: Row) -> Vector:
    """The shift is a little more than the maximum, and so not a term: differences are rounded."""
    e = N.exp(N.sub(N.embed(x), N.embed(x.max(axis=1, keepdims=True) + np.float32(2.0**-20))))
    return N.div(e, algorithms.total(N, e, TREE)[:, None])


def _declare(order: Order, rescales: int | None = 0) -> Accuracy:
    return Accuracy(rescales=rescales, divide="ieee", order=order)


VARIANTS = (
    Variant("three-pass sequential", _three_pass(SEQUENTIAL), _declare(SEQUENTIAL)),
    Variant("three-pass tree", _three_pass(TREE), _declare(TREE)),
    Variant("three-pass strided 256", _three_pass(STRIDED), _declare(STRIDED)),
    Variant("  same, exact shift", _three_pass(STRIDED), replace(_declare(STRIDED), exact_shift=True)),
    Variant("three-pass, e * (1 / s)", _three_pass(STRIDED), replace(_declare(STRIDED), divide="reciprocal")),
    Variant("three-pass, fast division", _three_pass(STRIDED), replace(_declare(STRIDED), divide="fast")),
    Variant(
        "three-pass, fast reciprocal", _three_pass(STRIDED), replace(_declare(STRIDED), divide="fast reciprocal")
    ),
    Variant("three-pass, f64 sum", _three_pass(SEQUENTIAL), replace(_declare(SEQUENTIAL), accumulate=F64.name)),
    Variant(
        "three-pass, compensated", _three_pass(SEQUENTIAL), replace(_declare(SEQUENTIAL), accumulate="compensated")
    ),
    Variant("  same, exact joins", _three_pass(STRIDED), replace(_declare(STRIDED), accumulate="compensated")),
    Variant("three-pass, any order", _three_pass(Order("random", seed=1)), Accuracy(rescales=0, divide="ieee")),
    Variant("online sequential", _online(SEQUENTIAL), _declare(SEQUENTIAL, None)),
    Variant("  same, exact shift", _online(SEQUENTIAL), replace(_declare(SEQUENTIAL, None), exact_shift=True)),
    Variant("online, f64 sum", _online(SEQUENTIAL), replace(_declare(SEQUENTIAL, None), accumulate=F64.name)),
    Variant("online strided 32 + merge", _online(Order("strided", 32)), _declare(Order("strided", 32), None)),
    Variant("safe_merge tree", _online(TREE), _declare(TREE, None)),
    Variant("online, any order", _online(Order("random", seed=2)), Accuracy(divide="ieee")),
    Variant(
        "  same, running max", _online(Order("random", seed=3)), Accuracy(divide="ieee", shift="running max")
    ),
    Variant("online tree, running max", _online(TREE), Accuracy(divide="ieee", shift="running max"), by_height=True),
    Variant("  same, f64 sum", _online(TREE),
            Accuracy(divide="ieee", shift="running max", accumulate=F64.name), by_height=True),
    Variant("unshifted tree", _unshifted, Accuracy(rescales=0, divide="ieee", shift="zero"), by_height=True, most=70.0),
)  # fmt: skip


@dataclass
class Tally:
    """The checks of one variant: error over bound of every row, and the rows outside."""

    name: str
    ratios: list[float] = field(default_factory=list)
    violations: int = 0

    def add(self, ratios: Doubles, violations: int) -> None:
        """Add one more batch of rows."""
        self.ratios.extend(ratios.tolist())
        self.violations += violations


def check(variant: Variant, x: Row, noise: ExpNoise, model: ExpModel, ftz: bool, tally: Tally) -> None:
    """Run a variant on rows that are judged, and tally where its answers are in their enclosures."""
    claim = variant.claim_for(x.shape[1])
    claim = replace(claim, exp=replace(model, base_two=claim.exp.base_two), ftz=ftz)
    x = np.where(np.isfinite(x), np.clip(x, -variant.most, variant.most), x).astype(np.float32)
    N = Float32(noise, ftz, claim.divide, claim.accumulate, seed=x.shape[1])
    with np.errstate(all="ignore"):
        got = np.asarray(variant.run(N, x), dtype=np.float64)
    enclosure = enclose(find("softmax"), {"x": x}, claim, Special())["y"]
    worst, outside = usage(got, enclosure)
    clashes = 0
    if enclosure.joint is not None:
        clashes = sum(clash.is_certain() for clash in enclosure.joint(got))
    tally.add(worst, outside + clashes)


def usage(got: Doubles, enclosure: Enclosure) -> tuple[Doubles, int]:
    """The largest error over bound of every row, and how many elements balls certify to be outside."""
    comparison = compare(got, enclosure)
    suspects = np.argwhere(comparison.broken | comparison.doubtful)
    outside = sum(is_outside(float(got[tuple(i)]), tuple(int(v) for v in i), enclosure) for i in suspects)
    ratio = comparison.ratio.reshape(len(got), -1)
    return np.max(ratio, axis=1, initial=0.0), outside


@dataclass(frozen=True)
class Plan:
    """The amount to check: sizes with all models, sizes with the two extreme ones, small random rows."""

    sizes: tuple[int, ...]
    long_sizes: tuple[int, ...]
    small_rows: int
    sums: int
    seeds: int = 1


QUICK = Plan(sizes=(1, 2, 3, 33, 257), long_sizes=(), small_rows=1_500, sums=1)
FULL = Plan(sizes=(1, 2, 3, 31, 32, 33, 100, 257, 1000), long_sizes=(4096, 10_000, 100_000), small_rows=50_000, sums=6)


def softmax_rows(plan: Plan, variants: tuple[Variant, ...] = VARIANTS) -> Iterator[Tally]:
    """Every variant over families x sizes x exp models x FTZ."""
    for variant in variants:
        tally = Tally(variant.name)
        for n, noise, ftz in product(plan.sizes, MODELS, (False, True)):
            check(variant, family_rows(n, 0), noise, MODELS[noise], ftz, tally)
        for n in plan.long_sizes:
            noises: tuple[ExpNoise, ...] = ("rounded", "ends2") if n <= 10_000 else ("ends2",)
            for noise in noises:
                check(variant, family_rows(n, 1), noise, MODELS[noise], False, tally)
        yield tally


def small_random_rows(plan: Plan) -> Tally:
    """Rows of fewer than 70 elements, of mixed scales and offsets, through every variant in turn."""
    tally = Tally("random rows, n < 70")
    rng = np.random.default_rng(70)
    batch = 40
    noises = list(MODELS)
    for number in range(-(-plan.small_rows // batch)):
        n = int(rng.integers(1, 70))
        scale = 10.0 ** rng.uniform(-6, 2, (batch, 1))
        x = (rng.standard_normal((batch, n)) * scale + rng.uniform(-100, 100, (batch, 1))).astype(np.float32)
        noise = noises[number % len(noises)]
        check(VARIANTS[number % len(VARIANTS)], x, noise, MODELS[noise], bool(number // 7 % 2), tally)
    return tally


def _sum_rows(n: int, seed: int) -> NDArray[np.float32]:
    """Rows whose sums cancel, are biased, tiny, or all of one size."""
    rng = np.random.default_rng([n, seed])
    alternating = np.where(np.arange(n) % 2 == 0, 1.0, -1.0) * (1 + 1e-3 * rng.standard_normal(n))
    kinds = [
        rng.standard_normal(n), rng.uniform(0, 1, n), np.full(n, 0.1), alternating, 1e-40 * rng.standard_normal(n),
        10.0 ** rng.uniform(-20, 20, n) * rng.choice([-1, 1], n), np.linspace(1, 1e6, n), 1e30 * rng.standard_normal(n),
    ]  # fmt: skip
    return np.stack(kinds).astype(np.float32)


def sums(plan: Plan) -> Iterator[Tally]:
    """row_sum in three orders, and sgemm with and without FMA, K in one piece, split or tiled."""
    for name, order in (("sequential", SEQUENTIAL), ("tree", TREE), ("strided 256", STRIDED)):
        tally = Tally(f"row_sum {name}")
        for n, seed, ftz in product((1, 2, 7, 33, 256, 1000, 3001), range(plan.sums), (False, True)):
            x = _sum_rows(n, seed)
            N = Float32(ftz=ftz)
            got = np.asarray(algorithms.row_sum(N, N.embed(x), order), dtype=np.float64)
            enclosure = enclose(find("row_sum"), {"x": x}, Accuracy(order=order, ftz=ftz), Special())["y"]
            worst, outside = usage(got[:, None], column(enclosure))
            tally.add(worst, outside)
        yield tally
    for fused in (False, True):
        tally = Tally("sgemm, fused" if fused else "sgemm")
        orders = (SEQUENTIAL, Order("strided", 8), Order("strided", 32))
        for k, seed, order in product((1, 3, 31, 64, 257), range(plan.sums), orders):
            tally.add(*_sgemm(k, seed, order, fused))
        yield tally


def _sgemm(k: int, seed: int, order: Order, fused: bool) -> tuple[Doubles, int]:
    rng = np.random.default_rng([k, seed])
    scale = 10.0 ** rng.integers(-3, 4, (9, 1))
    a, b = (rng.standard_normal((9, k)) * scale).astype(np.float32), rng.standard_normal((k, 5)).astype(np.float32)
    N = Float32()
    if fused:
        products = a.astype(np.float64)[:, None, :] * b.T.astype(np.float64)[None]
        got = algorithms.fold(order, (products,), _fma)[0].astype(np.float32).astype(np.float64)
    else:
        got = np.asarray(algorithms.sgemm(N, a, b, order), dtype=np.float64)
    enclosure = enclose(find("sgemm"), {"a": a, "b": b}, Accuracy(order=order), Special())["c"]
    worst, outside = usage(got, enclosure)
    return worst, outside


def _fma(p: algorithms.Parts, q: algorithms.Parts) -> algorithms.Parts:
    """An exact product added to a float32 sum, rounded once."""
    return ((p[0] + q[0]).astype(np.float32).astype(np.float64),)


def column(enclosure: Enclosure) -> Enclosure:
    """A vector of answers as rows of one element."""
    names = ("want", "lo", "hi", "judged", "slack_lo", "slack_hi")
    columns = {name: getattr(enclosure, name)[:, None] for name in names}
    return replace(enclosure, **columns, exact=lambda index, bits: enclosure.exact(index[:1], bits))


def wrong_bounds() -> Iterator[Tally]:
    """Enclosures that are wrong on purpose: a check that cannot fail proves nothing, so these must be violated."""
    forgotten = Tally("one rounding forgotten")
    for n in (33, 257, 1000):
        check(VARIANTS[1], family_rows(n, 3), "ends2", ExpModel(4, 0), False, forgotten)
    yield forgotten
    unheld = Tally("exp noise grows below -104")
    rng = np.random.default_rng(4)
    x = rng.uniform(-300, -104, (20, 257)).astype(np.float32)
    x[:, 0] = 0
    check(VARIANTS[1], x, "growing", FAST_EXPF, False, unheld)
    yield unheld
    rng = np.random.default_rng(5)
    spread = rng.integers(-60, 1, (20, 257)).astype(np.float32)
    running = Accuracy(divide="ieee", shift="running max")
    lazy = Variant("running max claimed, a lazy shift", _lazy, running, by_height=True)
    rounded = Variant("exact differences claimed, rounded ones", _off_the_terms, _declare(TREE))
    growing = Variant("shift zero, exp's growth forgotten", _unshifted, VARIANTS[-1].claim, by_height=True)
    two = rng.choice([-3.0, 0.0], (20, 5)).astype(np.float32)
    two[:, 0] = -3
    cases: tuple[tuple[Variant, Row, ExpNoise, ExpModel], ...] = (
        (lazy, two, "high2", EXPF),
        (rounded, spread, "rounded", ExpModel(1, 0)),
        (growing, spread, "documented", EXPF),
    )
    for variant, x, noise, model in cases:
        tally = Tally(variant.name)
        check(variant, x, noise, model, False, tally)
        yield tally
