"""Ops that draw: what may come, and the bounds of its probability. Right samplers in float32 stay inside."""

from dataclasses import replace

import numpy as np
import pytest

from kfuzz.oracle import Accuracy, OracleError, Special, judge
from kfuzz.oracle.accuracy.quantizing import Quantizing
from kfuzz.oracle.bounds.question import enclose_rounded, enclose_sets
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import BF16, F16, F32, I8, Element, store
from kfuzz.oracle.numbers.verdict import Verdict
from kfuzz.oracle.op.answer_sets import AnswerSet
from kfuzz.oracle.op.role import shares_of
from kfuzz.oracle.sets.sampling import BY_RACE

INF = np.inf


def drawn(
    op: str, x: object, output: str = "token", form: str | None = None, stored: Element = F32, **scalars: float
) -> AnswerSet:
    array = np.atleast_2d(np.asarray(x, np.float32))
    name = next(iter(find(op).inputs))
    return enclose_sets(find(op), {name: array}, Accuracy(form=form), Special(), scalars, {output: stored})[output]


def token(op: str, row: object, place: int, **scalars: float) -> Verdict:
    x = np.atleast_2d(np.asarray(row, np.float32))
    return judge(op, {"logits": x}, {"token": np.array([place], np.int32)}, scalars=scalars)


def may_come(op: str, row: object, **scalars: float) -> list[int]:
    """The tokens that may come."""
    return [place for place in range(len(np.asarray(row))) if token(op, row, place, **scalars).status == "kept"]


def logs(*chances: float) -> list[float]:
    return [float(np.log(one)) if one else -INF for one in chances]


def test_a_token_of_minus_infinity_never_comes() -> None:
    assert may_come("categorical", [0, -INF, -50]) == [0, 2]
    assert token("categorical", [0, 1], 2).status == token("categorical", [0, 1], -1).status == "broken"


@pytest.mark.parametrize("row", [[-INF, -INF], [np.nan, 0], [INF, 0]])
def test_a_row_that_gives_no_probabilities_is_not_judged(row: list[float]) -> None:
    assert token("categorical", row, 0).status == "not judged"


def test_of_tokens_that_tie_at_the_edge_of_top_k_any_may_come() -> None:
    assert may_come("top_k_sampling", [3, 1, 2, 2, 2], k=2) == [0, 2, 3, 4]
    assert may_come("top_k_sampling", [3, 1, 2, 2.001, 2], k=2) == [0, 3]
    assert may_come("top_k_sampling", [3, 1], k=9) == [0, 1]
    chances = drawn("top_k_sampling", [3, 1, 2, 2, 2], k=2).chances
    assert chances is not None
    assert list(chances().lo[0] > 0) == [True, False, False, False, False]


def test_top_p_forbids_a_token_only_if_those_before_it_certainly_reach_p() -> None:
    row = logs(0.5, 0.3, 0.15, 0.05)
    assert may_come("top_p_sampling", row, top_p=0.79) == [0, 1]
    assert may_come("top_p_sampling", row, top_p=0.8) == [0, 1, 2], "the sum may round to 0.8 or to less"
    assert may_come("top_p_sampling", row, top_p=0.81) == [0, 1, 2]
    assert may_come("top_p_sampling", logs(0.4, 0.3, 0.3), top_p=0.6) == [0, 1, 2], "equal tokens in any order"
    assert may_come("top_p_sampling", row, top_p=1e-6) == [0]


def test_min_p_is_a_share_of_the_greatest_probability() -> None:
    assert may_come("min_p_sampling", logs(0.5, 0.3, 0.1, 0.1), min_p=0.3) == [0, 1]
    assert may_come("min_p_sampling", logs(0.5, 0.3, 0.1, 0.1), min_p=0.2) == [0, 1, 2, 3]


def from_probs(row: list[float], place: int, **limits: float) -> str:
    """Whether a token may come of a row of probabilities."""
    given = {"probs": np.array([row], np.float32)}
    spelled = "sampling_from_probs(probs" + "".join(f", {name}" for name in limits) + ")"
    types = {"top_k": np.int32, "top_p": np.float32}
    given |= {name: np.array([limit], types[name]) for name, limit in limits.items()}
    return judge(spelled, given, {"token": np.array([place], np.int32)}).status


@pytest.mark.parametrize(
    ("limits", "tokens"),
    [
        ({}, [0, 1, 2, 3]),
        ({"top_k": 2}, [0, 1]),
        ({"top_k": 0}, [0, 1, 2, 3]),
        ({"top_p": 0.79}, [0, 1]),
        ({"top_p": 0.81}, [0, 1, 2]),
        ({"top_p": 0.0}, [0]),
        ({"top_k": 2, "top_p": 0.6}, [0]),  # 0.5 of 0.8 is more than 0.6
        ({"top_k": 3, "top_p": 0.6}, [0, 1]),
    ],
)
def test_top_p_is_a_share_of_what_top_k_leaves(limits: dict[str, float], tokens: list[int]) -> None:
    row = [0.5, 0.3, 0.15, 0.05, 0.0]
    assert [place for place in range(5) if from_probs(row, place, **limits) == "kept"] == tokens


def test_any_numbers_become_probabilities_and_probabilities_stay() -> None:
    rows = np.array([[0, 0, 0], [1, -3, 0], [np.inf, 1, 1], [np.nan, 2, 2]])
    made = shares_of(rows)
    assert np.allclose(made, [[1, 0, 0], [0.25, 0.75, 0], [1, 0, 0], [0, 0.5, 0.5]])
    many = shares_of(np.random.default_rng(1).random((4, 999)))
    assert np.array_equal(shares_of(many), many)


def test_the_temperature_divides_logits() -> None:
    row = np.log([0.5, 0.3, 0.2])
    half = drawn("categorical", row, temperature=0.5).chances
    assert half is not None
    squares = np.array([0.25, 0.09, 0.04]) / 0.38
    assert np.all((half().lo[0] < squares) & (squares < half().hi[0]))
    assert np.all(half().hi[0] - half().lo[0] < 1e-4)
    with pytest.raises(OracleError, match="above 0"):
        drawn("categorical", row, temperature=0.0)


def sample_in_float32(x: np.ndarray[tuple[int, ...], np.dtype[np.float32]], u: np.float32, order: str) -> int:
    """A token by the cumulated sum of float32 weights, from the left or in blocks of four."""
    weights = np.exp(x - x.max(), dtype=np.float32)
    sums = np.cumsum(weights, dtype=np.float32)
    if order == "blocks":
        parts = np.add.reduceat(weights, range(0, len(x), 4), dtype=np.float32)
        begins = np.concatenate([[np.float32(0)], np.cumsum(parts, dtype=np.float32)[:-1]])
        inner = [np.cumsum(weights[k : k + 4], dtype=np.float32) + begins[k // 4] for k in range(0, len(x), 4)]
        sums = np.concatenate(inner)
    passed = np.flatnonzero(sums > u * sums[-1])
    return int(passed[0]) if len(passed) else int(np.flatnonzero(weights > 0)[-1])


def test_a_right_sampler_in_float32_draws_only_what_may_come() -> None:
    rng = np.random.default_rng(1)
    for order in ("left", "blocks"):
        x = (rng.standard_normal((64, 37)) * rng.choice([0.1, 1, 30], (64, 1))).astype(np.float32)
        x[rng.random(x.shape) < 0.2] = -INF
        sums = np.cumsum(np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True)), axis=1)
        edges = sums[np.arange(64), rng.integers(0, 37, 64)] / sums[:, -1]  # where rounding decides
        u = np.minimum(edges, 1 - 2.0**-24).astype(np.float32)
        got = np.array([sample_in_float32(row, one, order) for row, one in zip(x, u, strict=True)], np.int32)
        judge("categorical_from_uniform", {"logits": x, "u": u}, {"token": got}).check()


def test_a_given_uniform_number_decides_the_token() -> None:
    given = {"logits": np.zeros((1, 4), np.float32), "u": np.array([0.3], np.float32)}
    for place, status in ((0, "broken"), (1, "kept"), (2, "broken")):
        assert judge("categorical_from_uniform", given, {"token": np.array([place])}).status == status
    given = {"logits": np.array([[-INF, 0, 0]], np.float32), "u": np.zeros(1, np.float32)}
    assert judge("categorical_from_uniform", given, {"token": np.array([0])}).status == "broken"
    judge("categorical_from_uniform", given, {"token": np.array([1])}).check()


@pytest.mark.parametrize("form", [None, BY_RACE])
def test_coarse_uniform_numbers_stay_within_the_chances_of_both_ways(form: str | None) -> None:
    """All 2^11 uniform numbers of 11 bits: their exact frequencies are within the bounds for so many bits."""
    x = np.log(np.array([0.6, 0.25, 0.1, 0.05]))
    chances = drawn("categorical", x, form=form, random_bits=11.0).chances
    assert chances is not None
    weights = np.exp(np.float32(x)).astype(np.float64)
    u = np.arange(2048) / 2048
    if form is None:
        tokens = np.searchsorted(np.cumsum(weights) / weights.sum(), u, side="right")
        shares = np.bincount(tokens, minlength=4) / 2048
    else:  # the first token against the best of the others, which is exponential, too
        with np.errstate(divide="ignore"):
            first = -np.log(u) / weights[0]
        shares = np.array([np.exp(-first * (weights.sum() - weights[0])).mean()])
    assert np.all(shares >= chances().lo[0][: len(shares)])
    assert np.all(shares <= chances().hi[0][: len(shares)])
    exact = drawn("categorical", x, random_bits=60.0).chances
    assert exact is not None
    assert not np.all((shares >= exact().lo[0][: len(shares)]) & (shares <= exact().hi[0][: len(shares)]))


def test_dropout_is_zero_or_scaled_and_nothing_else() -> None:
    x = np.array([[2.0, -4.0, 0.0, INF]], np.float32)
    for y, status in (
        ([4, -8, 0, 0], "kept"),
        ([0, 0, 0, INF], "kept"),
        ([2, -8, 0, 0], "broken"),
        ([4, 4, 0, 0], "broken"),
    ):
        assert judge("dropout", {"x": x}, {"y": np.array([y], np.float32)}, scalars={"p": 0.5}).status == status
    assert (
        judge("dropout", {"x": x}, {"y": np.array([[2, 0, 0, 0]], np.float32)}, scalars={"p": 0.0}).status == "broken"
    )
    one = drawn("dropout", x, "y", p=0.25)
    assert one.chances is not None
    assert list(one.categorize(np.array([[0, -16 / 3, 0, 1.0]]))[0]) == [0, 1, -1, -1]
    assert np.allclose(one.chances().hi[0], [0.25, 0.75], atol=1e-6)
    assert list(one.chances().hi[2]) == [1, 1], "where the draw does not show, nothing is known"


@pytest.mark.parametrize("form", ["u < 1 - p", "u >= p"])
def test_a_given_uniform_number_decides_what_is_kept(form: str) -> None:
    given = {"x": np.ones((1, 2), np.float32), "u": np.array([[0.1, 0.9]], np.float32)}
    kept = [1 / 0.75, 0] if form == "u < 1 - p" else [0, 1 / 0.75]
    accuracy = Accuracy(form=form)
    for y, status in ((kept, "kept"), (kept[::-1], "broken")):
        got = {"y": np.array([y], np.float32)}
        assert judge("dropout_from_uniform", given, got, accuracy, scalars={"p": 0.25}).status == status


@pytest.mark.parametrize("form", [BF16, F16])
def test_stochastic_rounding_gives_a_neighbour_with_its_share(form: Element) -> None:
    step = 2.0 ** (1 - form.p)
    x = np.array([[1 + step / 4, -(1 + step * 0.75), 1.0]])
    for y, status in (
        ([1, -1, 1], "kept"),
        ([1 + step, -1 - step, 1], "kept"),
        ([1, -1, 1 + step], "broken"),
        ([1 - step, -1, 1], "broken"),
    ):
        got = {"y": store(np.array([y]), form)}
        assert judge("stochastic_round", {"x": x.astype(np.float32)}, got).status == status
    least = {"x": np.array([[form.tiny]], np.float32)}
    for number, status in ((0, "kept"), (2 * form.tiny, "kept"), (4 * form.tiny, "broken")):
        assert judge("stochastic_round", least, {"y": store(np.array([[number]]), form)}).status == status
    chances = drawn("stochastic_round", x, "y", stored=form).chances
    assert chances is not None
    assert np.allclose(chances().hi[:2], [[0.75, 0.25], [0.25, 0.75]], atol=1e-4)


def test_gumbel_numbers_of_given_uniform_numbers_decide() -> None:
    given = {"logits": np.array([[0, 1, -INF]], np.float32), "u": np.array([[0.5, 0.5, 0.99]], np.float32)}
    judge("gumbel_max", given, {"token": np.array([1])}).check()
    assert judge("gumbel_max", given, {"token": np.array([2])}).status == "broken"
    zero = {"logits": np.array([[5, 0]], np.float32), "u": np.array([[0, 0.5]], np.float32)}
    judge("gumbel_max", zero, {"token": np.array([1])}).check()
    assert judge("gumbel_max", zero, {"token": np.array([0])}).status == "broken"


def test_a_quantizer_that_rounds_at_random_goes_up_with_the_share_of_its_quotient() -> None:
    x = {"x": np.array([[127.0, 3.25, -3.25, 5.0]], np.float32)}
    accuracy = Accuracy(quantize=Quantizing(scale="amax / max", apply="divide", round="stochastic"), divide="ieee")
    written = {"q": np.array([[127.0, 3, -4, 5]]), "scale": np.ones((1, 1))}
    formats = {"q": I8, "scale": F32}
    (one,) = enclose_rounded(find("group_quantize"), x, accuracy, Special(), {"group": 4}, formats, written).values()
    assert one.chances is not None
    assert one.categorize is not None
    assert list(one.categorize(np.array([[127.0, 4, -3, 7]]))[0]) == [1, 1, 1, -1]
    assert np.allclose(one.chances().hi[1:3], [[0.75, 0.25], [0.25, 0.75]], atol=2.0**-7)
    assert list(one.chances().hi[3]) == [1, 0], "5 is a number of the grid"
    assert list(one.chances().hi[1]) != [1, 1]
    loose = replace(accuracy, divide="fast")
    (one,) = enclose_rounded(find("group_quantize"), x, loose, Special(), {"group": 4}, formats, written).values()
    assert one.chances is not None
    assert list(one.chances().hi[3]) == [1, 1], "the set of its quotient reaches over 5"
