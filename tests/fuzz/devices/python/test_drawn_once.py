"""Inputs of a draw are made once for each call, also where an array of numpy, which has no hash, says which draw."""

import numpy as np
import pytest

from kfuzz.devices.python.calling import called_once
from kfuzz.devices.python.loading import number_in


@pytest.mark.parametrize("draw", [3, np.int32(3), np.array([3], np.int32), np.array([[3]])])
def test_inputs_are_made_once_for_a_draw(draw: object) -> None:
    made: list[int] = []
    make = called_once(lambda one: made.append(number_in(one)) or object())
    assert make(draw) is make(draw)
    assert made == [3]


def test_other_draws_have_other_inputs() -> None:
    make = called_once(lambda *given: [number_in(one) for one in given])
    first, second = np.array([1]), np.array([2])
    assert [make(first), make(second), make(first), make()] == [[1], [2], [1], []]
