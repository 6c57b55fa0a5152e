"""Function models: errors measured on GPUs are within the documented ones, and a claim may name a measured model."""

import json
from pathlib import Path

import pytest
from layer_norm_claims import GOOD, kernel_of

from kfuzz.claims.language.rounding_values import MODELS
from kfuzz.devices import ClaimError
from kfuzz.oracle.accuracy.measured import FILES, function_models
from kfuzz.oracle.accuracy.rounding import LOOSEST, FunctionModel

NOT_SWEPT = {"ex2.approx", "__sinf", "__cosf", "powf", "atan2f"}
"""Words whose functions no sweep has been made of."""


def test_no_gpu_errs_by_more_than_is_documented() -> None:
    compared = 0
    for of, models in function_models().items():
        for name, seen in models.items():
            documented = MODELS.get(of, {}).get(name)
            if documented is not None:
                assert seen.a0 <= documented.a0 * 1.001, name  # the room that a measured figure has
                assert seen.absolute <= documented.absolute, name
                compared += 1
    assert compared == sum(name not in NOT_SWEPT for models in MODELS.values() for name in models)


def test_default_errors_cover_the_measured_errors_of_every_accurate_function() -> None:
    accurate = {
        "logf",
        "log1pf",
        "expm1f",
        "sqrtf",
        "rsqrtf",
        "tanhf",
        "erff",
        "erfcf",
        "exp2f",
        "log2f",
        "log10f",
        "sinf",
        "cosf",
    }
    for of, model in LOOSEST.items():
        if {*MODELS[of]} <= NOT_SWEPT:
            continue
        (seen,) = (model for name, model in function_models()[of].items() if name in accurate)
        assert seen.a0 <= model.a0 * 1.001


def test_a_sweep_is_of_all_floats_and_says_where() -> None:
    for path in FILES.glob("*.json"):
        document = json.loads(path.read_text(encoding="utf-8"))
        assert document["stride"] == 1
        assert set(document["measured_on"]) == {"card", "driver", "cuda", "day"}
        assert all(document["measured_on"].values())
        (tanh,) = (one for one in document["functions"] if one["function"] == "tanhf" and not one["flags"])
        assert sum(one["tried"] for one in tanh["ranges"]) == 2 * 255 * 2**23  # all that are finite


def test_a_claim_may_ask_for_what_was_measured(tmp_path: Path) -> None:
    seen = kernel_of(tmp_path, GOOD.replace('"rsqrtf"', '"rsqrtf measured"')).accuracy({"rows": 3, "cols": 4})
    documented = kernel_of(tmp_path).accuracy({"rows": 3, "cols": 4})
    assert seen.functions["rsqrt"] == function_models()["rsqrt"]["rsqrtf"]
    assert isinstance(seen.functions["rsqrt"], FunctionModel)
    assert 2 < seen.functions["rsqrt"].a0 < documented.functions["rsqrt"].a0
    with pytest.raises(ClaimError, match="rsqrtf measured"):
        kernel_of(tmp_path, GOOD.replace('"rsqrtf"', '"rsqrtf guessed"'))
