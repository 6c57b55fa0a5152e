"""Answers that are places: the indices that argmax and top_k may give, ties and NaN by claim, claims of such ops."""

from pathlib import Path

import numpy as np
import pytest
from paths import KERNELS

from kfuzz.claims.kernel import load
from kfuzz.devices import ClaimError
from kfuzz.oracle import Accuracy, OracleError, Special, judge
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import BF16, F16, F32, store
from kfuzz.oracle.numbers.verdict import Reason, Ties, Verdict, Why

INF, NAN = np.inf, np.nan


def argmax(row: list[float], place: int, special: Special | None = None, ftz: bool = False) -> Verdict:
    got = {"index": np.array([place], np.int32)}
    return judge("argmax", {"x": np.array([row], np.float32)}, got, Accuracy(ftz=ftz), special)


def top_k(row: list[float], tops: list[float], places: list[int], special: Special | None = None) -> Verdict:
    got = {"values": np.array([tops], np.float32), "indices": np.array([places], np.int32)}
    return judge("top_k", {"x": np.array([row], np.float32)}, got, special=special)


def test_of_equal_elements_any_may_be_named_and_none_twice() -> None:
    for places in ([1, 3], [3, 1]):
        top_k([0, 5, 4, 5], [5, 5], places).check()
    assert top_k([0, 5, 4, 5], [5, 5], [1, 1]).diagnosis == "a place twice"
    assert top_k([0, 5, 4, 5], [5, 4], [1, 2]).status == "broken"


@pytest.mark.parametrize(("ties", "place"), [("first", 1), ("last", 3)])
def test_a_claim_says_which_of_equals_is_meant(ties: str, place: int) -> None:
    special = Special(ties=ties)  # type: ignore[arg-type]
    argmax([0, 5, 4, 5], place, special).check()
    wrong = argmax([0, 5, 4, 5], 4 - place, special)
    assert (wrong.status, wrong.diagnosis) == ("broken", "another of equals")
    argmax([0, 5, 4, 5], 4 - place).check()


def test_a_zero_equals_the_other_zero() -> None:
    for place in (0, 1):
        argmax([-0.0, 0.0], place).check()
    argmax([-0.0, 0.0], 0, Special(ties="first")).check()
    assert argmax([-0.0, 0.0], 1, Special(ties="first")).status == "broken"


def test_a_row_of_minus_infinity_is_a_row_of_equals() -> None:
    argmax([-INF, -INF], 1).check()
    assert argmax([-INF, -INF], -1).diagnosis == "no place of the row"
    assert argmax([-INF, -INF], 2).diagnosis == "no place of the row"


def test_nan_is_the_greatest_or_the_least_as_the_claim_has_it() -> None:
    row = [1, NAN, INF, NAN]
    assert argmax(row, 0).status == "not judged"
    for place in (1, 3):
        argmax(row, place, Special(nan="row")).check()
    assert argmax(row, 2, Special(nan="row")).diagnosis == "NaN passed over"
    assert argmax(row, 3, Special(nan="row", ties="first")).diagnosis == "another of equals"
    argmax(row, 2, Special(nan="ignore")).check()
    assert argmax(row, 1, Special(nan="ignore")).diagnosis == "NaN taken"
    top_k(row, [NAN, NAN, INF], [3, 1, 2], Special(nan="ieee")).check()
    top_k(row, [INF, 1, NAN], [2, 0, 1], Special(nan="ignore")).check()
    top_k([NAN, -INF], [-INF], [1], Special(nan="ignore")).check()


def test_where_denormals_are_flushed_any_of_them_may_be_taken_for_the_greatest() -> None:
    row = [-1, 1e-40, 0.0, 3e-40]
    for place, right in enumerate((False, True, True, True)):
        assert (argmax(row, place, ftz=True).status == "kept") is right
        assert (argmax(row, place, Special(ties="first"), ftz=True).status == "kept") is right
    assert argmax(row, 1).status == "broken"
    x = {"x": np.array([[1e-40, 2e-40]], np.float32)}
    flushed = {"values": np.zeros((1, 1), np.float32), "indices": np.zeros((1, 1), np.int32)}
    judge("top_k", x, flushed, Accuracy(ftz=True)).check()
    assert judge("top_k", x, flushed).status == "broken"


def test_ranks_beyond_the_end_of_a_row_are_not_judged() -> None:
    verdict = top_k([2, 1], [2, 1, 77], [0, 1, -9])
    assert (verdict.status, verdict.judged) == ("kept", 4)
    assert verdict.reasons == (Reason(Why.NO_SUCH_RANK, 1),)


@pytest.mark.parametrize("form", [F32, F16, BF16], ids=lambda form: form.name)
def test_two_systems_agree_on_every_rank_and_their_answer_is_kept(form) -> None:  # noqa: ANN001  an Element
    rng = np.random.default_rng(3)
    x = store(np.concatenate([rng.standard_normal((6, 33)), rng.integers(-3, 3, (6, 33))]), form)
    exact = find("top_k").compute({"x": x}, {}, bits=200)
    tops, places = (exact[role].astype(np.float64)[:, :7] for role in ("values", "indices"))
    special = Special(ties="first")
    judge("top_k", {"x": x}, {"values": store(tops, form), "indices": places.astype(np.int32)}, special=special).check()
    first = find("argmax").compute({"x": x}, {}, bits=200)["index"].astype(np.int32)
    assert (first == places[:, 0]).all()
    judge("argmax", {"x": x}, {"index": first}, special=special).check()


def test_answers_that_are_no_integers_or_do_not_agree_are_mistakes() -> None:
    x = {"x": np.zeros((1, 4), np.float32)}
    with pytest.raises(OracleError, match="expected an array of integers"):
        judge("argmax", x, {"index": np.zeros(1, np.float32)})
    with pytest.raises(OracleError, match="k is 3 here and 2 elsewhere"):
        judge("top_k", x, {"values": np.zeros((1, 2), np.float32), "indices": np.zeros((1, 3), np.int32)})


@pytest.mark.parametrize(
    ("before", "after", "reported"),
    [("i32[rows]", "f32[rows]", "'index' of argmax is i32"), ('ties = "first"', 'ties = "second"', "one of")],
)
def test_a_claim_of_places_is_checked_against_its_op(before: str, after: str, reported: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.cu"
    file.write_text((KERNELS / "argmax" / "warp.cu").read_text().replace(before, after))
    with pytest.raises(ClaimError, match=reported):
        load(file)


def test_only_an_op_of_places_has_ties_and_it_selects_what_it_was_given(tmp_path: Path) -> None:
    file = tmp_path / "mine.cu"
    file.write_text((KERNELS / "reduce" / "warp_max_xor.cu").read_text().replace(
        "// [[launch]]", '// [values]\n// ties = "first"\n//\n// [[launch]]'))  # fmt: skip
    with pytest.raises(ClaimError, match="does not answer with places"):
        load(file)
    file.write_text((KERNELS / "top_k" / "warp_rounds.cu").read_text().replace('values = "f32[', 'values = "f16['))
    with pytest.raises(ClaimError, match="what it answers is of its input's type"):
        load(file)


def test_the_least_element_is_found_among_its_equals() -> None:
    x = {"x": np.array([[3, 1, 2, 1]], np.float32)}
    for place in (1, 3):
        judge("argmin", x, {"index": np.array([place], np.int32)}).check()
    assert judge("argmin", x, {"index": np.array([3], np.int32)}, special=Special(ties="first")).status == "broken"
    assert judge("argmin", x, {"index": np.array([0], np.int32)}).diagnosis == "place of a greater element"


@pytest.mark.parametrize(("ties", "right"), [("first", [1, 3, 2, 0]), ("last", [3, 1, 2, 0])])
def test_a_sort_is_a_permutation_whose_ties_the_claim_orders(ties: Ties, right: list[int]) -> None:
    x = {"x": np.array([[3, 1, 2, 1]], np.float32)}

    def judged(places: list[int], special: Special | None = None) -> str:
        return judge("argsort", x, {"indices": np.array([places], np.int32)}, special=special).status

    assert judged(right) == judged(right, Special(ties=ties)) == "kept"
    other = [3, 1, 2, 0] if ties == "first" else [1, 3, 2, 0]
    assert (judged(other), judged(other, Special(ties=ties))) == ("kept", "broken")
    assert judged([1, 1, 2, 0]) == "broken"  # an element twice, and another lost


def test_a_sort_loses_no_element_and_puts_nan_last() -> None:
    row = [np.nan, 2.0, -np.inf, 2.0, 0.0]
    x, special = {"x": np.array([row], np.float32)}, Special(nan="row")

    def judged(values: list[float], places: list[int]) -> str:
        got = {"values": np.array([values], np.float32), "indices": np.array([places], np.int32)}
        return judge("sort", x, got, special=special).status

    assert judged([-np.inf, 0, 2, 2, np.nan], [2, 4, 1, 3, 0]) == "kept"
    assert judged([-np.inf, 0, 2, 2, np.nan], [2, 4, 3, 1, 0]) == "kept"
    assert judged([-np.inf, 0, 0, 2, np.nan], [2, 4, 1, 3, 0]) == "broken"
    assert judged([np.nan, -np.inf, 0, 2, 2], [0, 2, 4, 1, 3]) == "broken"


@pytest.mark.parametrize("op", ["argmin", "argsort", "sort"])
def test_the_order_of_random_rows_is_that_of_numpy(op: str) -> None:
    x = np.random.default_rng(3).integers(-3, 4, (50, 9)).astype(np.float32)
    places = np.argsort(x, axis=1, kind="stable")
    got = {
        "argmin": {"index": x.argmin(axis=1).astype(np.int32)},
        "argsort": {"indices": places.astype(np.int32)},
        "sort": {"values": np.sort(x, axis=1), "indices": places.astype(np.int32)},
    }[op]
    judge(op, {"x": x}, got, special=Special(ties="first")).check()
