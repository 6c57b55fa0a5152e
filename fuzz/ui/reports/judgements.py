"""A judgement in words and as JSON: a paragraph for a model, and kfuzz-judgement/1 for the program that asks.

Knows judgements and defects; never how they came about.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from kfuzz.campaign.answers import Judgement
from kfuzz.campaign.trials.defect import Defect
from kfuzz.kinds import KINDS
from kfuzz.ui.reports.failure import extent_text

SCHEMA = "kfuzz-judgement/1"
MOST_WRITTEN = 4096
"""Elements of an array that JSON holds; of a larger one it has the type and the shape."""
PlainJson = None | bool | int | float | str | list["PlainJson"] | dict[str, "PlainJson"]


def paragraph(defect: Defect) -> str:
    """What is wrong, at which input, what came and what is right, and where to look."""
    worst, extent = defect.worst, defect.extent
    said = [f"{defect.kind}: {KINDS[defect.kind].sentence}."]
    if worst is None or extent is None:
        said.append(f"{_sentence(defect.message)}")
    else:
        place = f"{worst.output}[{', '.join(map(str, worst.index))}]"
        right = f"{worst.want:.9g}" if worst.lo == worst.hi else f"from {worst.lo:.9g} to {worst.hi:.9g}"
        said.append(f"{place} is {worst.got:.9g}; every right computation gives {right}.")
        said.append(f"Wrong: {extent_text(extent, len(worst.index))}.")
        if defect.diagnosis:
            said.append(_sentence(f"It looks like: {defect.diagnosis}{f', {defect.detail}' if defect.detail else ''}"))
    said.append(f"Input: {defect.scene.words}.")
    if defect.scene.tune:
        said.append(f"Launch: {' '.join(f'{name}={value}' for name, value in defect.scene.tune.items())}.")
    if defect.line is not None:
        other = f" and line {defect.other_line}" if defect.other_line else ""
        said.append(f"Look at {defect.where}{other}.")
    return " ".join(said)


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def as_dict(judgement: Judgement) -> dict[str, PlainJson]:
    """All of it, as JSON has it."""
    found: dict[str, PlainJson] = {"schema": SCHEMA}
    for one in fields(judgement):
        found[one.name] = _plain(getattr(judgement, one.name))
    return {**found, "exit_code": judgement.exit_code}


def line_of_judgement(answer: str, judgement: Judgement, **labels: object) -> str:
    """A judgement as one line of JSON, which names its answer."""
    return json.dumps({**labels, "answer": answer, **as_dict(judgement)}, allow_nan=False)


def line_of_error(words: str, **labels: object) -> str:
    """Why there is no judgement, as one line of JSON."""
    return json.dumps({**labels, "error": words})


def _plain(value: object) -> PlainJson:
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)  # JSON has no such number
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _array(array: NDArray[np.generic]) -> PlainJson:
    """Its type, shape and, if they are few, its elements in memory order."""
    about: dict[str, PlainJson] = {"dtype": str(array.dtype), "shape": [*map(int, array.shape)]}
    if array.size <= MOST_WRITTEN:
        about["elements"] = [_plain(one) for one in array.reshape(-1).tolist()]
    return about
