"""Hints beside a verdict: what you could have claimed instead, if it would have changed the verdict.

Knows claims and verdicts; never how a job is run.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.claims.bound import Bound
from kfuzz.claims.kernel import Kernel
from kfuzz.oracle import Verdict, judge
from kfuzz.oracle.judging.find_op import find

ByRole = Mapping[str, NDArray[Any]]

OF_ROUNDING = ("fast exp", "less accurate than claimed", "wrong elements", "exp of another base", "denominator")
"""Diagnoses that another kind of exp or division would explain, or an atomic that flushes denormals to zero."""


def add_hints(kernel: Kernel, inputs: ByRole, got: ByRole, bound: Bound, verdict: Verdict) -> Verdict:
    """A broken verdict with hints in its detail; any other verdict unchanged."""
    if not verdict.is_outside:
        return verdict
    hints = [drawn] if (drawn := hint_at_weights(kernel, inputs)) else []
    hints += [keeps] if (keeps := hint_at_finite(kernel, inputs, got, bound)) else []
    hints += [keeps] if (keeps := hint_at_rounds(kernel, inputs, got, bound)) else []
    if verdict.kind == "numeric" and verdict.diagnosis in (*OF_ROUNDING, "all zero", "zero elements"):
        hints += kernel.rounding.doubts
    return replace(verdict, detail="; ".join(part for part in (verdict.detail, *hints) if part)) if hints else verdict


def hint_at_weights(kernel: Kernel, inputs: ByRole) -> str:
    """Which weights are others than those with which an object is made."""
    for role, sets in find(kernel.op).weights.items():
        number = int(inputs[role].reshape(-1)[0])
        if number:
            return f"with drawn weights, {role} = {number}: {', '.join(sets[number])}"
    return ""


def hint_at_finite(kernel: Kernel, inputs: ByRole, got: ByRole, bound: Bound) -> str:
    """The hint at `finite = true`, if only rows with -inf are wrong and all others are right."""
    if kernel.finite or not has_rows(kernel) or any(array.dtype != np.float32 for array in inputs.values()):
        return ""
    masked = np.any([np.isneginf(array.reshape(len(array), -1)).any(axis=1) for array in inputs.values()], axis=0)
    if not masked.any():
        return ""
    if masked.all():
        return "every row has -inf; [values] finite = true leaves such rows out"
    rest = judge(
        kernel.op,
        {role: array[~masked] for role, array in inputs.items()},
        {role: array[~masked] for role, array in got.items()},
        bound.accuracy,
        kernel.special,
        bound.scalars,
    )
    return "only rows with -inf are wrong: [values] finite = true keeps it" if rest.status == "kept" else ""


def hint_at_rounds(kernel: Kernel, inputs: ByRole, got: ByRole, bound: Bound) -> str:
    """The hint that a value was not rounded, if the answer is right for a kernel that need not round it."""
    rounds = bound.accuracy.rounds
    if not rounds:
        return ""
    free = judge(kernel.op, inputs, got, replace(bound.accuracy, rounds=()), kernel.special, bound.scalars)
    return f"it can only come of {' or '.join(rounds)} without the claimed rounding" if free.status == "kept" else ""


def has_rows(kernel: Kernel) -> bool:
    """Whether every array is cut into the op's independent rows by its first axis, so that some can be left out."""
    every = {**kernel.roles.inputs, **kernel.roles.outputs}
    is_whole = all(
        len(array.shape) == len(every[role])
        for array in kernel.arrays.values()
        for role in (array.reads, array.writes)
        if role
    )
    return is_whole and all(kernel.roles.cut.get(role) == 0 for role in every)
