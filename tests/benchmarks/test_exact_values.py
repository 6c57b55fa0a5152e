"""The second computation of an accused element is the function's definition, and may contradict the oracle."""

import ast
import json
import math
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from benchmarks.libraries import exact_values
from benchmarks.libraries.exact_values import exact_value
from benchmarks.libraries.judging import Tried, confirm
from benchmarks.libraries.narrow import Claimed
from kfuzz.campaign.minimizing.minimize import Failure
from kfuzz.campaign.trials.defect import Defect, Scene
from kfuzz.claims.kernel import Kernel
from kfuzz.oracle.numbers.elements import F16
from kfuzz.oracle.numbers.verdict import Worst

X, T = 0.5, 0.25
ROW, OTHER = np.array([0.5, 1.25, 3.0]), np.array([0.25, 2.0, 0.5])
S, E = 1 / (1 + math.exp(-X)), np.exp(ROW)
SOFT = E / E.sum()
OFF = ROW - ROW.mean()


def softplus(x: float) -> float:
    return math.log1p(math.exp(x))


OF_NUMBER = {
    "sigmoid": S, "silu": X * S, "softplus": softplus(X), "logsigmoid": -softplus(-X), "soft_margin": softplus(-X),
    "gelu": X / 2 * (1 + math.erf(X / 2**0.5)), "ndtr": (1 + math.erf(X / 2**0.5)) / 2,
    "gelu_tanh": X / 2 * (1 + math.tanh((2 / math.pi) ** 0.5 * (X + 0.044715 * X**3))),
    "mish": X * math.tanh(softplus(X)), "elu": X, "celu": X, "selu": 1.0507009873554805 * X, "softsign": X / 1.5,
    "hardsigmoid": 3.5 / 6, "hardswish": X * 3.5 / 6, "tanh": math.tanh(X), "sinh": math.sinh(X), "cosh": math.cosh(X),
    "asinh": math.asinh(X), "atanh": math.atanh(X), "logit": 0.0, "log_cosh": math.log(math.cosh(X)),
    "entr": -X * math.log(X), "sinc": 2 / math.pi, "erf": math.erf(X), "erfc": math.erfc(X), "exp": math.exp(X),
    "exp2": 2**0.5, "expm1": math.expm1(X), "log": math.log(X), "log2": -1.0, "log10": math.log10(X),
    "log1p": math.log1p(X), "sqrt": X**0.5, "rsqrt": 2**0.5, "reciprocal": 2.0, "slope_of_sigmoid": S * (1 - S),
    "slope_of_tanh": 1 - math.tanh(X) ** 2, "slope_of_silu": S * (1 + X * (1 - S)), "slope_of_softplus": S,
    "slope_of_logsigmoid": 1 - S,
    "slope_of_mish": math.tanh(softplus(X)) + X * S / math.cosh(softplus(X)) ** 2,
}  # fmt: skip
OF_TWO = {
    "logaddexp": math.log(math.exp(X) + math.exp(T)), "hypot": math.hypot(X, T), "squared_error": 0.0625,
    "bce_with_logits": (1 - T) * X + softplus(-X), "half_squared_error": 0.03125, "huber": 0.03125,
    "xlogy": X * math.log(T), "swiglu": X * S * T, "swiglu_of_one_more": X * S * (T + 1),
    "geglu": X * T * (1 + math.erf(X / 2**0.5)) / 2,
    "geglu_tanh": X * T / 2 * (1 + math.tanh((2 / math.pi) ** 0.5 * (X + 0.044715 * X**3))),
}  # fmt: skip
OF_ROW = {
    "logsumexp": math.log(E.sum()), "log_mean_exp": math.log(E.mean()), "l2_norm": math.hypot(*ROW),
    "squares": float(ROW @ ROW), "mean": float(ROW.mean()),
    "variance": float(ROW.var()), "std": float(ROW.std()), "row_sum": 4.75, "product": 1.875,
}  # fmt: skip
OF_PLACE = {
    "softmax": SOFT[1], "log_softmax": math.log(SOFT[1]), "prefix_sum": 1.75,
    "layer_norm": OFF[1] / math.sqrt(ROW.var() + 1e-5), "rms_norm": 1.25 / math.sqrt((ROW**2).mean() + 1e-6),
    "normalize": 1.25 / math.hypot(*ROW), "unit": 1.25 / math.hypot(*ROW), "zscore": OFF[1] / ROW.std(),
}  # fmt: skip
OF_TWO_ROWS = {
    "cosine": ROW @ OTHER / math.hypot(*ROW) / math.hypot(*OTHER), "dot": ROW @ OTHER, "linear": ROW @ OTHER,
    "distance": math.hypot(*(ROW - OTHER)), "squared_distance": math.hypot(*(ROW - OTHER)) ** 2,
}  # fmt: skip
GRADIENTS = {
    "softmax": SOFT[1] * (OTHER[1] - SOFT @ OTHER), "log_softmax": OTHER[1] - SOFT[1] * OTHER.sum(),
    "logsumexp": OTHER[0] * SOFT[1], "l2_norm": OTHER[0] * 1.25 / math.hypot(*ROW),
}  # fmt: skip


def value(name: str, *inputs: np.ndarray, index: tuple[int, ...] = (0, 1)) -> float:
    found = exact_value(name, dict(zip("xg", inputs, strict=False)), index)
    assert found is not None
    return float(found.number)


@pytest.mark.parametrize("table", ["OF_NUMBER", "OF_TWO", "OF_ROW", "OF_PLACE", "OF_TWO_ROWS", "GRADIENTS"])
def test_the_definitions_agree_with_the_functions_of_math(table: str) -> None:
    known: dict[str, float] = globals()[table]
    assert known.keys() == getattr(exact_values, table).keys()
    x, t = np.array([[0.0, X]]), np.array([[0.0, T]])
    for name, right in known.items():
        if table in ("OF_NUMBER", "OF_TWO"):
            found = value(name, x, *([t] if table == "OF_TWO" else []))
        else:
            is_of_row = table == "GRADIENTS" and name in ("logsumexp", "l2_norm")
            g = OTHER[:1] if is_of_row else np.array([OTHER, OTHER])
            index = (0,) if table in ("OF_ROW", "OF_TWO_ROWS") and name != "linear" else (0, 1)
            found = value(name, ROW[None], *([] if table in ("OF_ROW", "OF_PLACE") else [g]), index=index)
        assert math.isclose(found, right, rel_tol=2**-46, abs_tol=2**-60), name


def test_labels_and_columns_have_their_own_places() -> None:
    assert math.isclose(value("cross_entropy", ROW[None], np.array([2]), index=(0,)), -math.log(SOFT[2]))
    column = (ROW[1] - ROW.mean()) / math.sqrt(ROW.var() + 1e-5)
    assert math.isclose(value("batch_norm", ROW[:, None], index=(1, 0)), column)


def test_digits_remain_where_one_is_taken_away_and_there_is_no_value_of_nan() -> None:
    found = exact_value("softplus", {"x": np.array([[-200.0]])}, (0, 0))
    assert found is not None
    assert found.digits == "1.3838965267367375306e-87"
    cancelled = exact_value("softmax", {"x": np.array([[-47.6875, -48.0]]), "g": np.ones((1, 2))}, (0, 0))
    assert cancelled is not None
    assert cancelled.digits == "0.0"
    assert exact_value("softplus", {"x": np.array([[math.nan]])}, (0, 0)) is None
    masked = exact_value("logsumexp", {"x": np.array([[0.25, -math.inf]])}, (0,))
    assert masked is not None
    assert float(masked.number) == 0.25
    assert exact_value("unheard of", {"x": ROW[None]}, (0, 0)) is None
    assert exact_value("reciprocal", {"x": np.array([[0.0]])}, (0, 0)) is None


@pytest.mark.parametrize(("lo", "hi", "status"), [(1.0, 1.0, "withdrawn"), (0.622, 0.623, "broken")])
def test_an_accusation_that_the_definition_contradicts_is_withdrawn(lo: float, hi: float, status: str) -> None:
    scene = Scene("any", "any.py", "one number", 1, {}, {}, False)
    worst = Worst("y", (0, 0), 0.5, 0.622, lo, hi, "", "")
    defect = Defect(scene, "numeric", "error", "any", "any", "off", worst=worst)
    stored = {"x": np.array([[0.5]], np.float16)}
    kernel = SimpleNamespace(arrays={"y": SimpleNamespace(writes="y", element=F16)}, stored=lambda _: stored)
    subject = SimpleNamespace(case=SimpleNamespace(arrays=stored))
    one = Claimed(Path("torch/sigmoid.py"), ())
    found = confirm(one, cast(Kernel, kernel), cast(Failure, SimpleNamespace(subject=subject, defect=defect)), Tried())
    assert found.status == status
    assert found.exact.startswith("0.62245933120185456464")


def test_the_definitions_import_nothing_of_kfuzz() -> None:
    tree = ast.parse(Path(exact_values.__file__).read_text())
    froms = [node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = [one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names]
    assert {one.split(".")[0] for one in (*froms, *names)} == {
        "collections",
        "dataclasses",
        "typing",
        "numpy",
        "mpmath",
    }


def test_no_answer_that_the_page_accuses_is_the_number_nearest_to_the_exact_one() -> None:
    bits = {"f32": (24, -126), "bf16": (8, -126), "f16": (11, -14)}
    for path in (Path(exact_values.__file__).parent / "data").glob("*.json"):
        table = json.loads(path.read_text())["tables"]["results"]
        rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        for row in rows:
            if row["status"] == "broken" and row["exact"] and math.isfinite(row["got"]):
                digits, least = bits[row["key"].rpartition("-")[2]]
                exact, got = Fraction(row["exact"]), Fraction(row["got"])
                smaller = max(min(abs(exact), abs(got)), Fraction(1, 1 << 900))
                place = Fraction(2) ** (max(math.frexp(smaller)[1] - 1, least) - digits + 1)
                assert abs(got - exact) > place / 2, (row["library"], row["key"])
