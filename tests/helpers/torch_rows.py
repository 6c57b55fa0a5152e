"""The inputs of tests/data/torch_outputs.json: rows at the edges of each format, the same on every machine.

Made of raw bits of PCG64, which numpy promises not to change; of nothing that a library may round in its own way.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.numbers.elements import FORMATS, store

Arrays = dict[str, NDArray[Any]]
COLS = 33
FORMAT_NAMES = ("f32", "f16", "bf16")


def normal(seed: int, *shape: int) -> NDArray[np.float64]:
    """Sums of four uniform numbers, of about unit variance."""
    raw = np.random.PCG64(seed).random_raw(4 * int(np.prod(shape))).reshape(4, *shape)
    return ((raw >> np.uint64(40)).astype(np.float64) * 2.0**-24 - 0.5).sum(axis=0) * 1.75


def rows(seed: int, largest: float) -> NDArray[np.float64]:
    """One row of each kind; `largest` is the format's largest number."""
    x = normal(seed, 9, COLS)
    x[1] = 100.0 + 0.125 * x[1]  # a mean that is large against the spread
    x[2] = 0.7
    x[3, 5] += 30.0
    x[4, 1::3] = -np.inf
    x[5] *= 1e-6
    x[6] = np.where(np.arange(COLS) % 2, -largest, largest / 4)
    x[7] = np.round(x[7])  # full of ties
    x[8] *= 25.0
    return x


def inputs(op: str, kind: str) -> Arrays:
    """What torch was given, in the format's own bits."""
    form = FORMATS[kind]
    made: Arrays
    if "attention" in op:
        made = {role: normal(7 + place, 2, 17, 16) for place, role in enumerate("qkv")}
        made["q"][0, :4] *= 12.0  # sharp scores
        made["v"][1] = 1.0 + 0.01 * made["v"][1]  # nearly constant values
    else:
        made = {"x": rows(3, form.max)}
        if "norm" in op:
            made["x"][4], made["x"][6] = np.abs(made["x"][0]), 5.0 * made["x"][8]  # no infinities, no overflow
            made["w"] = 1.0 + 0.5 * normal(11, COLS)
        if op == "layer_norm":
            made["b"] = 0.5 * normal(12, COLS)
    found = {role: store(x, form) for role, x in made.items()}
    if op == "cross_entropy":
        found["labels"] = np.array([0, 32, 5, 5, 2, 7, 11, 31, 16], np.int32)
    return found
