"""The measured errors of functions over every float, on the GPUs whose sweeps lie in oracle/accuracy/function_models.

`python -m benchmarks.tightness.gpu_functions` writes such a file. Knows no claim.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from kfuzz.oracle.accuracy.rounding import FunctionModel

FILES = Path(__file__).with_name("function_models")
ROOM = 1.001
"""The sweeps compare with functions of doubles, which are right to a few 2^-53, and keep five decimals."""
NO_RELATIVE_BOUND = 2.0**12
"""In u: where the relative error is larger, near the function's zero, only the absolute error bounds it."""


@cache
def function_models() -> Mapping[str, Mapping[str, FunctionModel]]:
    """The worst errors of all GPUs, by function and by its name in CUDA: `function_models()["log"]["logf"]`."""
    models: dict[str, dict[str, FunctionModel]] = {}
    for of, name, model in _read_sweeps():
        known = models.setdefault(of, {}).get(name, model)
        models[of][name] = FunctionModel(max(known.a0, model.a0), max(known.absolute, model.absolute))
    return models


def _read_sweeps() -> Iterator[tuple[str, str, FunctionModel]]:
    for path in sorted(FILES.glob("*.json")):
        for function in json.loads(path.read_text(encoding="utf-8"))["functions"]:
            yield function["of"], function["function"], _model(function["ranges"])


def _model(ranges: list[dict[str, Any]]) -> FunctionModel:
    """One pair of numbers for all ranges; where a relative error means nothing, the absolute one replaces it."""
    relative = [one["relative"] for one in ranges if one["relative"] < NO_RELATIVE_BOUND]
    absolute = [one["absolute"] for one in ranges if one["relative"] >= NO_RELATIVE_BOUND]
    return FunctionModel(max(1.0, *relative) * ROOM, max(absolute, default=0.0) * ROOM)
