"""What adding float32 numbers in any order may give, by a textbook bound that shares nothing with kfuzz's oracle.

Knows the KernelBench problems with long sums by name, and their exact answers.
"""

import math
from collections.abc import Sequence
from typing import Any


def part_of_bound(torch: Any, name: str, got: Any, exact: Any, inputs: Sequence[Any]) -> float | None:  # noqa: ANN401  torch and its tensors, which have no types here
    """The largest error as a part of what n additions in float32 in any order may give; None for other problems.

    e^(n u) - 1 of the sum of the terms' sizes, with a few roundings more than additions: Higham's bound of a sum. For a
    norm of two passes it moves the mean, and the sum of squares, by which the answer is divided.
    """
    u, more = 2.0**-24, 8
    worst = 0.0
    if name.startswith("4_Matrix_vector"):
        grown = math.expm1((inputs[0].shape[1] + more) * u)
        for one, right, row in zip(got.reshape(-1), exact.reshape(-1), inputs[0], strict=True):
            size = float(row.double().abs() @ inputs[1].double().abs().reshape(-1))
            worst = max(worst, abs(float(one) - float(right)) / (grown * size))
    elif name.startswith("94_MSELoss"):
        grown = (inputs[0].numel() + more) * u  # from 1 on the bound says nothing
        return abs(float(got) - float(exact)) / (math.expm1(grown) * float(exact)) if grown < 1 else None
    elif name.startswith("40_LayerNorm"):
        for one, right, sample in zip(got, exact, inputs[0], strict=True):
            x = sample.double()
            grown = math.expm1((x.numel() + more) * u)
            middle = grown * float(x.abs().mean())
            var = float(x.var(correction=0))
            least = var * (1 - grown) - 2 * middle * math.sqrt(var)
            most = (var + middle * middle) * (1 + grown)
            roots = [1 / math.sqrt(max(least, 0.0) + 1e-5), 1 / math.sqrt(most + 1e-5)]
            off = x - x.mean()
            ends = [(off + side * middle) * root for side in (-1, 1) for root in roots]
            low, high = torch.stack(ends).amin(0), torch.stack(ends).amax(0)
            over = torch.where(one >= right, (one - right) / (high - right), (right - one) / (right - low))
            worst = max(worst, float(over.max()))
    else:
        return None
    return worst if math.isfinite(worst) else None
