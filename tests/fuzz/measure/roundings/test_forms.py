"""`kfuzz claim` names the form of an op with a fragile form: the first that trials keep."""

from pathlib import Path

import pytest

from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.measure.roundings.keep import describe_form, form_of

MOMENTS = "(x * x).mean(1, dtype=np.float32) - x.mean(1, dtype=np.float32) ** 2"
STABLE = "((x - x.mean(1, keepdims=True, dtype=np.float32)) ** 2).mean(1, dtype=np.float32)"


@pytest.mark.slow(4)
@pytest.mark.parametrize(
    ("variance", "form", "why"),
    [
        (MOMENTS, "moments", "loses all digits"),
        (STABLE, "two pass", "the first of the op's forms that the trials keep"),
    ],
)
def test_the_form_of_a_variance_is_named(tmp_path: Path, variance: str, form: str, why: str) -> None:
    (tmp_path / "f.py").write_text(f"import numpy as np\n\n\ndef f(x):\n    return {variance}\n")
    kernel = kernel_with(tmp_path / "f.py", Unclaimed("variance"))
    assert form_of(kernel, {"accuracy": {}, "values": {}}, seed=1, cases=12) == form
    assert why in describe_form(kernel, form)


def test_an_op_without_fragile_forms_is_not_tried(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("def f(x):\n    return x.sum(1)\n")
    kernel = kernel_with(tmp_path / "f.py", Unclaimed("row_sum"))
    assert form_of(kernel, {}, seed=1, cases=1) == ""
    assert describe_form(kernel, "") == ""
