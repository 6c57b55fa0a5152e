"""The inputs of the calls before the one that counts."""

import numpy as np
import pytest

from kfuzz.devices import Buffer, Decoy
from kfuzz.devices.python.probes import decoy_of, form_of_decoy
from kfuzz.oracle.numbers.elements import F32


@pytest.mark.parametrize("values", [[-np.inf], [1.0, np.inf, 2.0], [0.5, -np.inf, 3.0, np.nan]])
def test_a_nearly_equal_input_has_the_same_infinities(values: list[float]) -> None:
    """A mask of one -inf became the least float, and an attention that gives 0 for it was called stale."""
    given = np.array(values, np.float32)
    near = decoy_of(Buffer("x", F32, given.shape, content=given), Decoy.NEAR)
    finite = np.isfinite(given)
    assert np.array_equal(near[~finite], given[~finite], equal_nan=True)
    assert (near[finite] != given[finite]).all()


def test_each_form_comes_first_in_some_trials() -> None:
    """A cache by numbers rounded to 16 bits was kept: the input that counts always came before the nearly equal one."""
    assert {form_of_decoy(seed, 0) for seed in range(3)} == {*Decoy}
    assert {form_of_decoy(7, number) for number in range(3)} == {*Decoy}
