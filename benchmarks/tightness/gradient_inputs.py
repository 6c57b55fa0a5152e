"""Inputs at which gradients are compared, and a gradient of each output. Knows ops; it needs no torch."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.op.op import Op

Numbers = NDArray[Any]
PROBABLE = {"bce_loss": ("x", "t"), "kl_div_loss": ("t",), "batch_norm": ("var",)}
"""Inputs that are made to lie between 0 and 1."""


def inputs_for(op: Op, seed: int = 0, size: int = 3) -> tuple[dict[str, Numbers], dict[str, Numbers]]:
    """Inputs of few bits, to which a small step may be added exactly, and a gradient for each output."""
    rng = np.random.default_rng(seed)
    given = op.random_inputs(op.small_sizes(size), rng)
    for name in PROBABLE.get(op.name, ()):
        given[name] = 1 / (1 + np.exp(-given[name]))
    given = {k: np.round(a * 1024) / 1024 if op.inputs[k].is_float else a for k, a in given.items()}
    sizes = op.sizes_of(given)
    shapes = {name: role.shape(sizes) for name, role in op.outputs.items() if role.is_float}
    return given, {f"g_{name}": np.round(rng.standard_normal(shape) * 1024) / 1024 for name, shape in shapes.items()}
