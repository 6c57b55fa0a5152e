"""What functions were seen to err by, on every float, on the cards whose sweeps lie in oracle/function_models.

`python benchmarks/tightness/gpu_functions.py` writes such a file. Knows the files; never which claim asks.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from kfuzz.oracle.rounding import FunctionModel

FILES = Path(__file__).with_name("function_models")
ROOM = 1.001
"""The sweeps compare with functions of doubles, which are right to a few 2^-53, and keep five decimals."""
NO_RELATIVE_BOUND = 2.0**12
"""In u: beyond it, beside its zero, a function is bounded by an absolute error alone."""


@cache
def function_models() -> Mapping[str, Mapping[str, FunctionModel]]:
    """By function and by its name in CUDA, the worst of all cards: `measured()["log"]["logf"]`."""
    found: dict[str, dict[str, FunctionModel]] = {}
    for of, name, model in _read_sweeps():
        known = found.setdefault(of, {}).get(name, model)
        found[of][name] = FunctionModel(max(known.a0, model.a0), max(known.absolute, model.absolute))
    return found


def _read_sweeps() -> Iterator[tuple[str, str, FunctionModel]]:
    for path in sorted(FILES.glob("*.json")):
        for function in json.loads(path.read_text(encoding="utf-8"))["functions"]:
            yield function["of"], function["function"], _model(function["ranges"])


def _model(ranges: list[dict[str, Any]]) -> FunctionModel:
    """One pair of numbers for all ranges: where a relative error means nothing, the absolute one stands for it."""
    relative = [one["relative"] for one in ranges if one["relative"] < NO_RELATIVE_BOUND]
    absolute = [one["absolute"] for one in ranges if one["relative"] >= NO_RELATIVE_BOUND]
    return FunctionModel(max(1.0, *relative) * ROOM, max(absolute, default=0.0) * ROOM)
