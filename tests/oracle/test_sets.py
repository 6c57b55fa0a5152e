"""Ops whose answers are multisets, counts and permutations: unique, histogram, and the routing of tokens."""

import numpy as np
import pytest

from kfuzz.oracle import Accuracy, Special, judge
from kfuzz.oracle.numbers.verdict import Verdict

NAN = np.nan


def unique(x: list[float], values: list[float], count: int, ftz: bool = False) -> Verdict:
    got = {"values": np.array([values], np.float32), "count": np.array([count], np.int32)}
    return judge("unique", {"x": np.array([x], np.float32)}, got, Accuracy(ftz=ftz))


def test_each_value_comes_once_in_order_and_the_rest_is_not_judged() -> None:
    unique([2, 1, 2, 1], [1, 2, NAN, 9], 2).check()
    for values, count in (([2, 1, 0, 0], 2), ([1, 2, 0, 0], 3), ([1, 1, 2, 2], 4), ([1, 0, 0, 0], 1)):
        assert unique([2, 1, 2, 1], values, count).status == "broken"


def test_zeros_are_equal_and_nan_is_not_judged() -> None:
    unique([0, -0.0], [-0.0, 7], 1).check()
    assert unique([0, -0.0], [-0.0, 0.0], 2).status == "broken"
    assert unique([NAN, 1], [1, NAN], 2).status == "not judged"
    assert unique([1e-40, 0], [0, 1e-40], 2, ftz=True).status == "not judged"


def route(
    expert: list[int], order: list[int], slot: list[int], offsets: list[int], special: Special | None = None
) -> Verdict:
    got = {"order": np.array(order), "slot": np.array(slot), "offsets": np.array(offsets)}
    return judge("route", {"expert": np.array(expert)}, got, special=special, scalars={"experts": 3})


def test_tokens_of_one_expert_come_in_any_order_and_each_once() -> None:
    for order, slot in (([1, 3, 0, 2], [2, 0, 3, 1]), ([3, 1, 2, 0], [3, 1, 2, 0])):
        route([2, 0, 2, 0], order, slot, [0, 2, 2, 4]).check()
    for order in ([1, 1, 0, 2], [1, 0, 3, 2], [1, 3, 0, 4], [1, 3, 0, -1]):
        assert route([2, 0, 2, 0], order, [2, 0, 3, 1], [0, 2, 2, 4]).status == "broken"
    assert route([2, 0, 2, 0], [3, 1, 2, 0], [3, 1, 2, 0], [0, 2, 2, 4], Special(ties="first")).status == "broken"


def test_slots_are_the_inverse_of_the_order_that_was_written() -> None:
    wrong = route([2, 0, 2, 0], [1, 3, 0, 2], [3, 1, 2, 0], [0, 2, 2, 4])
    assert wrong.status == "broken"
    assert wrong.worst is not None
    assert wrong.worst.output == "slot", "it is the inverse of another right order"
    lost = route([2, 0, 2, 0], [1, 1, 0, 2], [2, 0, 3, 1], [0, 2, 2, 4])
    assert lost.worst is not None
    assert lost.worst.output == "order"


@pytest.mark.parametrize("offsets", [[2, 2, 4, 4], [0, 2, 4, 4], [0, 2, 2, 3]])
def test_offsets_are_where_each_expert_begins(offsets: list[int]) -> None:
    assert route([2, 0, 2, 0], [1, 3, 0, 2], [2, 0, 3, 1], offsets).status == "broken"


def histogram(x: list[float], counts: list[int]) -> Verdict:
    scalars = {"bins": len(counts), "low": 0.0, "high": 1.0}
    return judge("histogram", {"x": np.array(x, np.float32)}, {"counts": np.array(counts)}, scalars=scalars)


def test_what_lies_outside_counts_nowhere_and_the_upper_end_counts() -> None:
    histogram([-0.5, 0.1, 0.3, 0.9, 1.0, 1.5, NAN, np.inf], [1, 1, 0, 2]).check()
    for counts in ([2, 1, 0, 2], [1, 1, 0, 3], [1, 1, 0, 0], [1, 0, 1, 2]):
        assert histogram([-0.5, 0.1, 0.3, 0.9, 1.0, 1.5, NAN, np.inf], counts).status == "broken"


def test_an_element_at_an_edge_may_count_on_either_side_and_counts_once() -> None:
    for counts, status in (([1, 0], "kept"), ([0, 1], "kept"), ([1, 1], "broken"), ([0, 0], "broken")):
        assert histogram([0.5], counts).status == status
