"""Fourier transforms: sums of numbers times roots of one."""

from math import log2, prod

import torch

from kfuzz.claims.references.torch.twins.rules.shared import finite
from kfuzz.claims.references.torch.twins.sets import NumberSet, StepResult
from kfuzz.claims.references.torch.twins.table import Operation, Roundings, axes_in


def transform(run: Roundings, op: Operation) -> list[StepResult]:
    """Each result is off by no more than the sum of all sizes is, whatever tree adds them up."""
    a: NumberSet = op.args[0]
    x = op.at(lambda one: one.number)[0]
    axes = axes_in(op.args[1], a.x.ndim)
    count = max(prod(max(a.x.shape[axis], x.shape[axis]) for axis in axes), 1)
    # the value at a constant input says by how much torch divides
    scale = {0: 1.0, 1: count**-0.5, 2: 1.0 / count}[int(op.args[2])]
    twice = 2.0 if op.name == "_fft_c2r" else 1.0

    def total(one: torch.Tensor) -> torch.Tensor:
        return scale * twice * one.sum(axes, keepdim=True).expand(x.shape)

    r = None if a.is_exact else total(a.radius)
    return [StepResult(x, r, (count + 8 + 4 * log2(count)) * run.fine * total(finite(a.size)))]


RULES = dict.fromkeys(("_fft_r2c", "_fft_c2r", "_fft_c2c"), transform)
