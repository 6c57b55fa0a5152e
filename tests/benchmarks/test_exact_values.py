"""The second computation of an accused element is the function's definition, and may contradict the oracle."""

import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks.detection.exact_values import OF_NUMBER, OF_PLACE, OF_ROW, exact_value
from benchmarks.detection.judge_libraries import Accusation, Claimed, confirm
from kfuzz.oracle.elements import F16
from kfuzz.oracle.verdict import Worst
from kfuzz.trials.defect import Defect, Scene

ROW = np.array([0.5, -1.25, 3.0])
KNOWN = {
    "sigmoid": 1 / (1 + math.exp(-0.5)), "silu": 0.5 / (1 + math.exp(-0.5)), "softplus": math.log1p(math.exp(0.5)),
    "logsigmoid": -math.log1p(math.exp(-0.5)), "gelu": 0.25 * (1 + math.erf(0.5 / math.sqrt(2))),
    "ndtr": 0.5 * (1 + math.erf(0.5 / math.sqrt(2))), "mish": 0.5 * math.tanh(math.log1p(math.exp(0.5))),
    "tanh": math.tanh(0.5), "erf": math.erf(0.5), "erfc": math.erfc(0.5), "exp": math.exp(0.5),
    "expm1": math.expm1(0.5), "log1p": math.log1p(0.5), "logsumexp": float(np.log(np.exp(ROW).sum())),
    "l2_norm": math.hypot(*ROW), "mean": float(ROW.mean()), "variance": float(ROW.var()), "row_sum": float(ROW.sum()),
    "softmax": float(np.exp(ROW)[0] / np.exp(ROW).sum()), "log_softmax": float(0.5 - np.log(np.exp(ROW).sum())),
}  # fmt: skip


@pytest.mark.parametrize("name", [*OF_NUMBER, *OF_ROW, *OF_PLACE])
def test_a_definition_agrees_with_the_functions_of_math(name: str) -> None:
    found = exact_value(name, {"x": ROW[None]}, (0, 0))
    assert found is not None
    assert math.isclose(float(found.number), KNOWN[name], rel_tol=2**-48)


def test_digits_remain_where_one_is_taken_away_and_there_is_no_value_of_nan() -> None:
    found = exact_value("softplus", {"x": np.array([[-200.0]])}, (0, 0))
    assert found is not None
    assert found.digits == "1.3838965267367375306e-87"
    assert exact_value("softplus", {"x": np.array([[math.nan]])}, (0, 0)) is None
    masked = exact_value("logsumexp", {"x": np.array([[0.25, -math.inf]])}, (0,))
    assert masked is not None
    assert float(masked.number) == 0.25
    assert exact_value("unheard of", {"x": ROW[None]}, (0, 0)) is None


@pytest.mark.parametrize(("lo", "hi", "status"), [(1.0, 1.0, "withdrawn"), (0.622, 0.623, "broken")])
def test_an_accusation_that_the_definition_contradicts_is_withdrawn(lo: float, hi: float, status: str) -> None:
    scene = Scene("any", "any.py", "one number", 1, {}, {}, False)
    worst = Worst("y", (0, 0), 0.5, 0.622, lo, hi, "", "")
    defect = Defect(scene, "numeric", "error", "any", "any", "off", worst=worst)
    one = Claimed(Path("torch/function_of_one.py"), (("FUNCTION", "sigmoid"),))
    found = confirm(one, Accusation(defect, {"x": np.array([[0.5]])}, F16), 3, 3)
    assert found.status == status
    assert found.exact.startswith("0.62245933120185456464") == (status == "broken")
