"""The least sizes at which a reference runs.

Knows torch, and the inputs as they are declared; it knows no set.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from kfuzz.claims.references.torch.declared import Declared
from kfuzz.claims.references.torch.inputs import tensors_for
from kfuzz.claims.references.torch.sizes import Dims, Steps, length_of
from kfuzz.claims.references.torch.twins.leaves import as_real, leaves

STEPS = (*range(8), *(8 + n * n // 4 for n in range(2, 60)))
"""How far above the smallest size another is tried, before those between it and the one below."""


def least_sizes(
    reference: Callable[..., Any], declared: Declared, sizes: Mapping[str, int], steps: Steps,
    fixed: Mapping[str, int], shapes: Dims,
) -> dict[str, int]:  # fmt: skip
    """For each dimension that has one, the size below which the reference does not run, with the others as they are.

    Nor does it where its answers have other shapes than these: an axis of one element may fit any other.
    """
    smallest = {**{name: max(least, multiple) for name, (least, multiple) in steps.items()}, **fixed}
    if does_run(reference, declared, smallest, shapes):
        return {}
    free = [name for name in steps if name not in fixed]

    def least_of(name: str, others: Mapping[str, int]) -> int | None:
        least, by = smallest[name], steps[name][1]
        below = least - by
        for n in [n for n in (least + by * step for step in STEPS) if n < sizes[name]] + [sizes[name]]:
            if does_run(reference, declared, {**others, name: n}, shapes):
                between = range(below + by, n, by)
                return next((m for m in between if does_run(reference, declared, {**others, name: m}, shapes)), n)
            below = n
        return None

    alone = {name: least_of(name, sizes) or sizes[name] for name in free}
    every = {**smallest, **alone}
    if not does_run(reference, declared, every, shapes):  # a rule over several sizes, as that there are two elements
        name = next((name for name in reversed(free) if least_of(name, every) is not None), None)
        every = {**sizes} if name is None else {**every, name: least_of(name, every) or sizes[name]}
    return {name: every[name] for name in free if every[name] > smallest[name]}


def does_run(
    reference: Callable[..., Any], declared: Declared, sizes: Mapping[str, int], shapes: Dims | None = None
) -> bool:
    """Whether the reference gives elements at these sizes, in these shapes."""
    try:
        every = [one for _, one in leaves(reference(*tensors_for(declared, sizes).values()))]
    except Exception:  # any error of torch for such shapes
        return False
    made = [as_real(one) if isinstance(one, torch.Tensor) else one for one in every]
    tensors = [one for one in made if isinstance(one, torch.Tensor)]
    wanted = [[length_of(d, sizes) for d in dims] for dims in (shapes or {}).values()]
    fits = shapes is None or all(list(np.shape(one)) == of for one, of in zip(made, wanted, strict=False))
    return fits and all(one.numel() for one in tensors)
