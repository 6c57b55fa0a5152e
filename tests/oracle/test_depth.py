"""Products of slopes: what they bound, and that each of their parts is needed. docs/numerics.md#depth derives them."""

from collections.abc import Callable
from dataclasses import replace
from math import atan, comb, factorial, pi
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.oracle import Accuracy, Special, judge
from kfuzz.oracle.bounds import by_slopes
from kfuzz.oracle.bounds.by_slopes import PILOTS, DeepEnds, DeepRun, bound_by_slopes, draws, order_statistic
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import BF16, F32, store
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.names import names_of
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.shapes import Places
from kfuzz.oracle.systems import perturbed
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.cloud import Tubes, tabled
from kfuzz.oracle.systems.deepest import Deepest
from kfuzz.oracle.systems.depth import Depth, product_of
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity, System

Numbers = NDArray[Any]
Formula = Callable[[System, Quantity], Quantity]
Single = np.float32
U = 2.0**-24
GATES = {"gru": 3, "lstm": 4, "rnn": 1}


def inputs_of(kind: str, steps: int, hidden: int = 4, rows: int = 2, features: int = 3) -> dict[str, Numbers]:
    """Normal inputs and states, and weights as torch initialises them."""
    rng = np.random.default_rng(steps)
    lead = (GATES[kind],) if GATES[kind] > 1 else ()
    k = hidden**-0.5
    shapes = {"w_ih": (hidden, features), "w_hh": (hidden, hidden), "b_ih": (hidden,), "b_hh": (hidden,)}
    made = {"x": rng.standard_normal((rows, steps, features)), "h0": rng.standard_normal((rows, hidden))}
    made |= {"c0": rng.standard_normal((rows, hidden))} if kind == "lstm" else {}
    made |= {name: rng.uniform(-k, k, (*lead, *shape)) for name, shape in shapes.items()}
    return {name: one.astype(Single) for name, one in made.items()}


def sigmoid(x: Numbers) -> Numbers:
    return Single(1) / (Single(1) + np.exp(-x))


def run_by_hand(kind: str, given: dict[str, Numbers], *, gates: tuple[int, ...] = (0, 1, 2, 3)) -> dict[str, Numbers]:
    """A kernel in float32, as anybody writes it; `gates`: the order in which it takes the parts of the weights."""
    x, h, c = given["x"], given["h0"], given.get("c0")
    w, u, b, d = (given[name] for name in ("w_ih", "w_hh", "b_ih", "b_hh"))
    every = []
    for t in range(x.shape[1]):
        a, s = (
            np.stack([v @ one.T for one in np.atleast_3d(m.reshape(-1, *m.shape[-2:]))])
            for v, m in ((x[:, t], w), (h, u))
        )
        a, s = a + b.reshape(-1, 1, h.shape[-1]), s + d.reshape(-1, 1, h.shape[-1])
        if kind == "gru":
            r, z = (sigmoid(a[gates[one]] + s[gates[one]]) for one in (0, 1))
            new = np.tanh(a[2] + r * s[2])
            h = (Single(1) - z) * new + z * h
        elif kind == "lstm":
            i, f, g, o = (a[one] + s[one] for one in gates)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
        else:
            h = np.tanh(a[0] + s[0])
        every.append(h)
    made = {"y": np.stack(every, axis=1), "h": h}
    return made | ({"c": c} if c is not None else {})


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param(one, marks=[pytest.mark.soak] * (one == "gru")) for one in GATES])
def test_a_right_loop_is_kept_and_planted_bugs_are_broken(kind: str) -> None:
    given = inputs_of(kind, 3)
    assert judge(kind, given, run_by_hand(kind, given)).status == "kept"
    wrong = {
        "a bias is left out": run_by_hand(kind, given | {"b_hh": 0 * given["b_hh"]}),
        "one step too few": run_by_hand(
            kind, given | {"x": np.concatenate([given["x"][:, :1], given["x"][:, :-1]], 1)}
        ),
        "the first state is not read": run_by_hand(kind, given | {"h0": 0 * given["h0"]}),
        "the state of another row": run_by_hand(kind, given | {"h0": given["h0"][::-1]}),
    }
    if kind != "rnn":
        wrong["gates in another order"] = run_by_hand(kind, given, gates=(1, 0, 2, 3))
    for what, made in wrong.items():
        assert judge(kind, given, made).status == "broken", what


@pytest.mark.soak
def test_a_step_near_the_end_of_a_long_loop_is_seen() -> None:
    """Sets alone are 100 times as wide after 12 steps, and infinite after 64."""
    given = inputs_of("gru", 12, hidden=16)
    op = find("gru")
    wide = run_sets(given, form=op.forms[0])
    narrow = enclose(op, given, Accuracy(), Special())["y"]
    last = np.median((narrow.hi - narrow.lo)[:, -1] / 2) / U
    assert last < 200
    assert np.median(wide[:, -1]) / U > 100 * last
    got = run_by_hand("gru", given)
    assert judge("gru", given, got).status == "kept"
    got["y"][1, -1, 3] += Single(1e-4)
    verdict = judge("gru", given, got)
    assert (verdict.status, verdict.tier) == ("broken", "slopes")


def run_sets(given: dict[str, Numbers], form: str) -> Numbers:
    """The half widths of sets alone."""
    op = find("gru")
    sizes = op.sizes_of(given)
    with np.errstate(all="ignore"):
        numbers = {name: one.astype(np.float64) for name, one in given.items()}
        made = op.run(Bands(Accuracy(), sizes, F32, form, index=Places(sizes)), numbers, sizes, {})["y"]
    return np.asarray((made.hi - made.lo) / 2)


def chain(N: System, x: Quantity) -> Quantity:
    """Three products of matrices, one behind the other."""
    for place in range(3):
        x = N.matmul(x, N.input(MATRICES[place]), f"p{place}")
    return x


MATRICES = [store(np.random.default_rng(place).standard_normal((6, 6)), F32).astype(np.float64) for place in range(3)]
X = np.random.default_rng(9).standard_normal((2, 6)).astype(Single).astype(np.float64)


def op_of(formula: Formula) -> Op:
    """An op of one input and one output, with this formula."""
    roles = find("softmax")
    return replace(find("row_sum"), formula=formula, inputs=roles.inputs, outputs=roles.outputs)


def ends_of(formula: Formula, x: Numbers) -> DeepEnds:
    op = op_of(formula)
    sizes = {"rows": x.shape[0], "cols": x.shape[1]}
    made = bound_by_slopes(op, "", Accuracy(), {"x": x}, sizes, {})
    assert made is not None
    return made["y"]


def test_probes_bound_the_sum_of_all_slopes_times_roundings_and_hardly_more() -> None:
    """The sum is known here: each product's roundings times the absolute values of the products behind it."""
    a, known, behind = X, [], [MATRICES[1] @ MATRICES[2], MATRICES[2], np.eye(6)]
    for matrix, rest in zip(MATRICES, behind, strict=True):
        size, value = np.abs(a) @ np.abs(matrix), a @ matrix
        rounded = 7 * U * (size + np.abs(value)) / 2 + 2 * U * size
        known.append(rounded @ np.abs(rest))
        a = value
    exact = sum(known)
    ends = ends_of(chain, X)
    radius = (ends.hi - ends.lo) / 2
    assert np.all(radius >= exact * (1 - 2.0**-10))
    assert np.all(radius <= 4 * exact)


def test_no_order_statistic_of_the_probes_is_below_its_part_more_often_than_it_says() -> None:
    """By the exact distribution: so many of the probes are below `part` with a probability of at most 2^-100."""
    for probes in (64, 128, 256):
        rank, part = order_statistic(probes)
        p = 2 / pi * atan(part)
        tail = sum(comb(probes, k) * p**k * (1 - p) ** (probes - k) for k in range(rank, probes + 1))
        assert tail <= 2.0**-100
        p = 2 / pi * atan(2 * part)
        assert sum(comb(probes, k) * p**k * (1 - p) ** (probes - k) for k in range(rank, probes + 1)) > 2.0**-100


def test_what_the_chord_over_a_kink_leaves_out_is_known_and_no_more() -> None:
    x, R = np.array([-3.0, -2.0, -1.0, 0.0, 0.5, 1.9, 4.0]), 2.0
    N = Depth(Accuracy(), {}, F32, "", {}, 0.0, Tubes(), lambda shape: np.zeros((1, *shape)))  # probes of slopes alone
    a = tabled(N, x, np.full(x.shape, R), np.ones((1, *x.shape)))  # type: ignore[arg-type]
    made = N.maximum(a, 0.0)
    slope = made.probes(1)[0]
    rest = made.R - slope * R
    e = np.linspace(-R, R, 401)[:, None]
    off = np.abs(np.maximum(x + e, 0) - np.maximum(x, 0) - slope * e).max(axis=0)
    assert np.all(off <= rest + 1e-15)
    assert np.all(off >= rest - 1e-15)
    assert np.array_equal(rest > 0, np.abs(x) < R)  # elsewhere it is a straight line


def cancelling(N: System, x: Quantity) -> Quantity:
    """Sums over rows, which numpy adds up one after the other."""
    return N.sum(x, "rows", axis=-2) + 0.0 * x


def test_float64_s_own_sum_is_part_of_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.full((128, 2), 2.0**-53)
    x[0], x[-1] = 1.0, -1.0  # numpy's sum is 0; in double, by a tree, it is 124 of 2^-53 or more
    op, claim = op_of(cancelling), Accuracy(accumulate="f64", adds=7)

    def most() -> float:
        made = bound_by_slopes(op, "", claim, {"x": x}, {"rows": 128, "cols": 2}, {})
        assert made is not None
        return float(made["y"].hi.min())

    assert most() >= 124 * 2.0**-53
    monkeypatch.setattr(Depth, "with_float64", lambda self, own, terms, size: own)
    assert most() < 124 * 2.0**-53


def test_the_centres_of_slopes_are_those_of_more_digits() -> None:
    given = inputs_of("lstm", 6)
    op = find("lstm")
    sizes, numbers = op.sizes_of(given), {name: one.astype(np.float64) for name, one in given.items()}
    ends = bound_by_slopes(op, op.every_form[0], Accuracy(), numbers, sizes, {})
    assert ends is not None
    exact = op.run(Exact(sizes, op.every_form[0], bits=120, index=Places(sizes)), numbers, sizes, {})
    for name, one in ends.items():
        off = np.abs(np.asarray(exact[name].x, dtype=np.float64) - (one.lo + one.hi) / 2)
        assert np.all(off <= 2.0**-10 * (one.hi - one.lo) / 2)


def test_a_product_of_probes_is_that_of_each_probe() -> None:
    rng = np.random.default_rng(0)
    for many, b in (
        ((5, 2, 3, 4, 7), (7, 6)), ((5, 2, 3, 4, 7), (3, 7, 6)), ((5, 2, 3, 4, 7), (2, 1, 7, 6)),
        ((5, 1, 3, 4, 7), (2, 3, 7, 6)), ((1, 4, 7), (7, 6)),
    ):  # fmt: skip
        p, w = rng.standard_normal(many), rng.standard_normal(b)
        assert np.allclose(product_of(p, w), np.matmul(p, w), rtol=1e-12, atol=1e-12)


def test_a_tube_that_does_not_hold_its_probes_is_made_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = ends_of(chain, X)
    monkeypatch.setattr(by_slopes, "PILOT_ROOM", 0.5)
    ends = ends_of(chain, X)
    assert np.allclose((ends.hi - ends.lo) / (usual.hi - usual.lo), 1, atol=0.5)
    for room in ("PILOT_ROOM", "NARROW_ROOM"):
        monkeypatch.setattr(by_slopes, room, 1e-30)
    sizes = {"rows": 2, "cols": 6}
    assert bound_by_slopes(op_of(chain), "", Accuracy(), {"x": X}, sizes, {}) is None


def test_a_formula_of_too_many_elements_has_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bound_by_slopes(op_of(chain), "", Accuracy(), {"x": X}, {"rows": 2, "cols": 6}, {}) is not None
    monkeypatch.setattr(perturbed, "MOST_ELEMENTS", 20)
    assert bound_by_slopes(op_of(chain), "", Accuracy(), {"x": X}, {"rows": 2, "cols": 6}, {}) is None


def test_only_tubes_that_did_not_hold_become_wider() -> None:
    tubes = Tubes(1.0, [np.array([1.0, 1.0])])
    tubes.radius(np.array([[0.5, 1.5]] * 10), np.full(2, np.inf))
    assert not tubes.closed(10)
    assert np.array_equal(tubes.widened(10, 1.5)[0], [1.0, 3.0])  # 2 is the least that was tried and holds 1.5


def test_a_sum_of_inputs_has_no_wider_tube_than_its_own_roundings() -> None:
    N = Depth(Accuracy(), {}, F32, "", {}, 0.0, Tubes(), lambda shape: np.full((1, *shape), 1e9))  # probes far out
    a, b = N.input(X), N.input(MATRICES[0])
    product, total, added = N.matmul(a, b, "p0"), N.sum(a * 3.0), N.add(a, b[:2])
    assert np.all(product.R / np.matmul(np.abs(a.x), np.abs(b.x)) < 10 * U)
    assert np.all(total.R / np.abs(3 * X).sum(axis=-1, keepdims=True) < 12 * U)
    assert np.all(added.R / np.abs(added.x) < 1.01 * U)


def test_what_the_slope_of_exp_leaves_out_is_known_and_no_more() -> None:
    for R in (1e-6, 2.0**-10, 0.01, 1.0, 3.0):
        N = Depth(Accuracy(), {}, F32, "", {}, 0.0, Tubes(), lambda shape: np.zeros((1, *shape)))
        x = np.array([-2.0, 0.0, 1.0])
        made = N.function("exp", tabled(N, x, np.full(3, R), np.zeros((1, 3))))
        most = np.exp(x) * (sum(R**k / factorial(k) for k in range(2, 30)) + R)
        more = made.R - most
        assert np.all((more >= 0) & (more <= 1e-5 * (most + np.exp(x + R)))), R


def test_a_reciprocal_root_of_a_variance_that_may_be_0_is_bounded_by_what_is_added_to_it() -> None:
    N = Depth(Accuracy(), {}, F32, "", {}, 0.0, Tubes(), lambda shape: np.full((1, *shape), 1e9))
    x, R = np.array([0.0, 1e-3, 1.0]), np.array([1e-2, 1e-2, 0.5])
    var = tabled(N, x, R, np.zeros((1, 3)))
    with pytest.raises(OracleError, match="may overflow"), np.errstate(all="ignore"):
        N.rsqrt(N.add(var, N.number(1e-5)))
    var.floor = 0.0
    made = N.rsqrt(N.add(var, N.number(1e-5)))
    for part in np.linspace(-1, 1, 1001):
        right = (np.maximum(x + part * R, 0.0) + 1e-5) ** -0.5
        assert np.all(np.abs(right - made.x) <= made.R)
    assert np.all(made.R < 1.01 * 1e-5**-0.5)


def test_no_greatest_moves_by_more_than_each_of_them() -> None:
    N = Depth(Accuracy(), {}, F32, "", {}, 0.0, Tubes(), lambda shape: np.zeros((1, *shape)))
    for x, R, most in (([1.0, 1.0], [0.5, 0.5], 0.5), ([1.0, 0.9], [0.1, 0.3], 0.3), ([1.0, 0.0], [0.1, 0.3], 0.1)):
        made = N.max(tabled(N, np.array([x]), np.array([R]), np.zeros((1, 1, 2))))
        assert made.R[0, 0] == most


def test_the_loosest_bound_knows_what_another_order_of_factors_loses_to_underflow() -> None:
    x = np.full((1, 1), float(Single(1e10)))
    sizes = {"rows": 1, "cols": 1}
    ends = bound_by_slopes(op_of(lost_in_another_order), "", Accuracy(), {"x": x}, sizes, {}, system=Deepest)
    assert ends is not None
    assert ends["y"].lo[0, 0] <= 0  # x (2^-100 2^-66)


def lost_in_another_order(N: System, x: Quantity) -> Quantity:
    return (x * 2.0**-100 + 2.0**-130) * 2.0**-66


def rectified(N: System, x: Quantity) -> Quantity:
    """Eight kinks one behind the other, with tubes of a thousandth of the numbers: the first sum cancels."""
    x = N.matmul(x, N.input(LARGE), "p") - N.input(CANCELLED)
    for place, one in enumerate(KEPT):
        x = N.matmul(N.maximum(x, 0.0), N.input(one), f"p{place}")
    return x


RNG = np.random.default_rng(5)
LARGE = store(4 * RNG.standard_normal((64, 64)), F32).astype(np.float64)
KEPT = [store(RNG.standard_normal((64, 64)) * 32**-0.5, F32).astype(np.float64) for _ in range(8)]
FIRST = RNG.standard_normal((1, 64)).astype(Single).astype(np.float64)
CANCELLED = store(FIRST @ LARGE - RNG.standard_normal((1, 64)), F32).astype(np.float64)


@pytest.mark.soak
def test_tubes_that_are_too_wide_for_a_step_are_tried_again_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = ends_of(inverse, FIRST)
    monkeypatch.setattr(by_slopes, "PILOT_ROOM", 1e9)  # a divisor may be 0 in such tubes
    ends = ends_of(inverse, FIRST)
    assert np.median((ends.hi - ends.lo) / (usual.hi - usual.lo)) < 1.1
    monkeypatch.setattr(by_slopes, "NARROW_ROOM", 1e9)
    assert bound_by_slopes(op_of(inverse), "", Accuracy(), {"x": FIRST}, {"rows": 1, "cols": 64}, {}) is None


def inverse(N: System, x: Quantity) -> Quantity:
    return 1.0 / (rectified(N, x) + 8.0)


@pytest.mark.soak
def test_tubes_with_kinks_become_narrower_until_that_leaves_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = ends_of(rectified, FIRST)
    monkeypatch.setattr(by_slopes, "PILOT_ROOM", 100.0)
    ends = ends_of(rectified, FIRST)
    assert np.median((ends.hi - ends.lo) / (usual.hi - usual.lo)) < 1.5
    monkeypatch.setattr(by_slopes, "BETTER", 0.0)
    once = ends_of(rectified, FIRST)
    assert np.median((once.hi - once.lo) / (usual.hi - usual.lo)) > 100


def test_another_run_has_other_probes() -> None:
    first, second, third = (draws(*which, 4)((5,)) for which in ((1, 0), (2, 0), (1, 4)))
    assert not np.any(first == second)
    assert not np.any(first == third)


def test_what_may_be_infinite_or_nan_has_no_bound_by_slopes() -> None:
    sizes = {"rows": 2, "cols": 6}
    for bad in (np.nan, np.inf, 3e38):
        x = X.copy()
        x[0, 0] = bad
        assert bound_by_slopes(op_of(chain), "", Accuracy(), {"x": x}, sizes, {}) is None


def test_a_loop_is_kept_where_states_are_stored_in_16_bits() -> None:
    given = {name: store(one, BF16) for name, one in inputs_of("gru", 2).items()}
    numbers = {name: BF16.round(inputs_of("gru", 2)[name].astype(np.float64)) for name in given}
    single = {name: one.astype(Single) for name, one in numbers.items()}
    claim = Accuracy(keep={"h": "bf16"})
    got = {name: store(one, BF16) for name, one in run_by_hand("gru", single).items()}
    assert judge("gru", given, got, claim).status == "kept"
    wrong = {name: store(one, BF16) for name, one in run_by_hand("gru", single, gates=(1, 0, 2)).items()}
    assert judge("gru", given, wrong, claim).is_outside


def test_a_value_with_as_many_rows_as_there_are_probes_is_no_probe() -> None:
    x = np.tile(X, (PILOTS // 2, 1))
    ends, few = ends_of(chain, x), ends_of(chain, X)
    assert np.allclose(ends.hi - ends.lo, np.tile(few.hi - few.lo, (PILOTS // 2, 1)), rtol=0.5)


def test_a_kernel_that_flushes_denormals_may_lose_them_at_each_step() -> None:
    x = np.array([[2.0**-126, -(2.0**-127) - 2.0**-128]])

    def rest(N: System, x: Quantity) -> Quantity:
        return x[..., :1] + x[..., 1:] + 0.0 * x

    op, sizes = op_of(rest), {"rows": 1, "cols": 2}
    ends = bound_by_slopes(op, "", Accuracy(ftz=True), {"x": x}, sizes, {})
    assert ends is not None
    assert np.all(ends["y"].lo <= 0)
    exact = ends_of(rest, x)
    assert np.all(exact.lo > 0)


def test_only_a_plain_sum_rounds_partial_sums_of_one_sign() -> None:
    """A compensated sum errs with the sizes of its terms, and so does one of which a claim counts the additions."""
    x = np.array([[1.0, -1.0, 1.0, -1.0, 2.0**-30]])

    def radius(claim: Accuracy) -> float:
        op = op_of(lambda N, x: N.sum(x, "row") + 0.0 * x)
        ends = bound_by_slopes(op, "", claim, {"x": x}, {"rows": 1, "cols": 5}, {})
        assert ends is not None
        return float(np.max(ends["y"].hi - ends["y"].lo))

    assert 1.2 * radius(Accuracy()) < radius(Accuracy(adds=5)) < 3 * radius(Accuracy())


def test_a_run_says_how_many_numbers_it_has() -> None:
    op = op_of(chain)
    run = DeepRun(op, "", Accuracy(), {"x": X}, {"rows": 2, "cols": 6}, {}, frozenset(), F32, 0.0)
    assert run.ends() is not None
    assert run.elements == 36


@pytest.mark.parametrize("scores", [(0.0, 300.0), (0.0, 1.0)])
def test_minus_infinity_in_a_sum_or_beside_what_may_be_0_has_no_bound(scores: tuple[float, float]) -> None:
    """e^-300 underflows in a kernel, whose 0 times -inf is NaN; float64 has -inf."""
    inputs = {"q": np.ones((1, 1, 1)), "k": np.reshape(scores, (1, 2, 1)), "v": np.array([[[-np.inf], [0.1]]])}
    op = find("attention")
    sizes = op.sizes_of(inputs)
    scalars = op.scalars_of(sizes, {})
    assert bound_by_slopes(op, "divide last", Accuracy(), inputs, sizes, scalars) is None
    finite = inputs | {"v": np.array([[[-1.0], [0.1]]])}
    assert bound_by_slopes(op, "divide last", Accuracy(), finite, sizes, scalars) is not None
    x = np.array([[-np.inf, scores[1]]])
    times = op_of(lambda N, x: x[..., :1] * N.exp(x[..., 1:] * -1.0))
    small = bound_by_slopes(times, "", Accuracy(), {"x": x}, {"rows": 1, "cols": 2}, {})
    assert (small is None) == (scores[1] == 300.0)


def test_sums_of_sequences_of_different_lengths_are_not_deep() -> None:
    assert not names_of(find("paged_decode")).is_deep


def test_a_formula_is_deep_by_its_sums_behind_one_another_not_by_those_beside_them() -> None:
    def behind(N: System, x: Quantity) -> Quantity:
        for _ in range(5):
            x = x - N.sum(x.T.T)
        return x

    def beside(N: System, x: Quantity) -> Quantity:
        return x + N.join(*(N.sum(x * number) for number in range(9))).reshaped(-1, 9)[..., :1]

    assert names_of(op_of(behind)).is_deep
    assert not names_of(op_of(beside)).is_deep
    assert not names_of(find("attention_backward")).is_deep
