"""The rows that the planner of the norms makes are judged."""

import numpy as np
import pytest

from kfuzz.cases.plans.planners.layer_norm import far_off
from kfuzz.cases.recipe import Band, Base, Recipe, materialise
from kfuzz.claims.kernel import KERNELS, load
from kfuzz.oracle import judge
from kfuzz.oracle.numbers.enclosure import FLT_MAX

KERNEL = load(KERNELS / "layer_norm" / "welford_warp.cu")
LAST = 4
"""The bits that choose the last of the means."""


@pytest.mark.parametrize("cols", [2, 7, 31, 100])
def test_an_answer_of_nan_is_broken_where_the_mean_is_large_and_the_spread_has_a_square(cols: int) -> None:
    """Chan's formula squares the mean itself where a part is empty: infinity, and its product with 0 is NaN."""
    base, edits = far_off(LAST, cols)
    assert status(Band(base, edits), cols) == "broken"
    assert status(Band(Base("constant", base.offset)), cols) == "not judged", "without a spread any answer may be right"


def status(band: Band, cols: int) -> str:
    """The verdict on an answer of NaN to this row."""
    x = materialise(Recipe(1, cols, (band,)))
    assert (np.square(x, dtype=np.float64) > FLT_MAX).all()
    inputs = {"x": x, "w": np.ones(cols, np.float32), "b": np.zeros(cols, np.float32)}
    bound = KERNEL.bind(inputs, {"threads": 32})
    return judge("layer_norm", inputs, {"y": np.full((1, cols), np.nan, np.float32)}, bound.accuracy).status
