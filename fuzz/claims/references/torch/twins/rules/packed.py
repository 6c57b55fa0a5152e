"""Products of matrices whose elements are several to a byte."""

import torch

from kfuzz.claims.references.torch.twins.rules.shared import rounding
from kfuzz.claims.references.torch.twins.sets import FP4, StepResult, gamma, in_type, unknown_where
from kfuzz.claims.references.torch.twins.table import Operation, Roundings
from kfuzz.devices.python.torch.elements import TYPES
from kfuzz.devices.python.torch.packed import scaled_rows, unpack
from kfuzz.oracle.numbers.elements import E4M3


def multiply_packed(run: Roundings, op: Operation) -> list[StepResult]:
    """A B, of rows of A and columns of B in blocks that each have a scale."""
    a, b, by_a, by_b = op.args[:4]
    left = scaled_rows(unpack(in_type(a.x, FP4), -1), in_type(by_a.number, TYPES[E4M3]))
    right = scaled_rows(unpack(in_type(b.x, FP4), 0).t(), in_type(by_b.number, TYPES[E4M3]))
    x, size = left @ right.t(), left.abs() @ right.t().abs()
    r = unknown_where(torch.full(x.shape, not op.is_exact), x, None)
    return [StepResult(x, r, rounding(run, x, op.dtype, gamma(left.shape[1] + 6, run.fine) * size))]


RULES = {"scaled_mm": multiply_packed}
