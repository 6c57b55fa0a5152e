"""How much tighter a claim a kernel would stand that does not say how many additions it makes.

Knows claims, devices and verdicts; never how additions are counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from kfuzz.claiming.grounds import inputs_of
from kfuzz.claims.expression import show_sizes
from kfuzz.claims.front_matter import shown_path
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Device, Probe
from kfuzz.oracle import Accuracy, judge
from kfuzz.oracle.find import find
from kfuzz.oracle.op import Floats
from kfuzz.search.sizes import row_axis
from numpy.typing import NDArray

SIZES = (1000, 300, 32)
"""Of the longest axis: the first that the claim allows."""
FEW = 4
TRIED = 4
"""Inputs of these sizes."""

Answers = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True)
class Slack:
    """At some sizes: the relative error that the silent claim allows, a count that is kept as well, and its error."""

    sizes: str
    allowed: float
    adds: int
    shown: float


def slack_of(kernel: Kernel, device: Device) -> Slack | None:
    """What a claim of `adds` would gain; None where the claim has one, or where nothing is to be gained."""
    if kernel.rounding.adds is not None:
        return None
    axes = axes_for(kernel)
    tune = next(kernel.tunes(axes), None)
    if tune is None:
        return None
    least, inputs = 0, inputs_of(kernel, axes)
    for seed in range(TRIED):
        inputs = {role: np.roll(array, seed, axis=-1) for role, array in inputs_of(kernel, axes).items()}
        bound = kernel.bind(inputs, tune)
        outcome = device.run(bound.job, Probe(runs=2, seed=seed))
        if not outcome.runs:
            return None
        needed = least_adds(kernel, inputs, kernel.outputs(outcome.runs[0].outputs), bound.accuracy)
        if needed is None:
            return None
        least = max(least, needed)
    silent = kernel.bind(inputs, tune).accuracy
    allowed = width(kernel, inputs, silent)
    shown = width(kernel, inputs, replace(silent, adds=least))
    return Slack(show_sizes(axes, axes), allowed, least, shown) if shown < allowed / 2 else None


def axes_for(kernel: Kernel) -> dict[str, int]:
    """A long axis to add along, the others short."""
    rows = row_axis(kernel)
    long = [name for name in kernel.axes if name != rows][-1:] or list(kernel.axes)[-1:]
    found = {}
    for name, axis in kernel.axes.items():
        wanted = (*SIZES, axis.hi, axis.lo) if name in long else (FEW, axis.hi, axis.lo)
        found[name] = next(size for size in wanted if size in axis)
    return found


def least_adds(kernel: Kernel, inputs: Mapping[str, Floats], got: Answers, silent: Accuracy) -> int | None:
    """The least count with which this answer is kept; None where it is not kept at all."""

    def is_kept(adds: int) -> bool:
        return judge(kernel.op, inputs, got, replace(silent, adds=adds), kernel.special).status == "kept"

    low, high = 0, max(array.shape[-1] for array in inputs.values())
    if not is_kept(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_kept(middle) else (middle + 1, high)
    return low


def width(kernel: Kernel, inputs: Mapping[str, Floats], accuracy: Accuracy) -> float:
    """The relative error that the claim allows the largest element of its widest output."""
    found = 0.0
    for enclosure in find(kernel.op).enclose(inputs, accuracy, kernel.special).values():
        at = np.unravel_index(np.nanargmax(np.abs(enclosure.want)), enclosure.want.shape)
        want = abs(float(enclosure.want[at]))
        if want:
            found = max(found, float(enclosure.hi[at] - enclosure.lo[at]) / 2 / want)
    return found


def told(kernel: Kernel, slack: Slack) -> str:
    """In words, for the author of the claim."""
    return (
        f"{kernel.name}: the claim leaves adds out, so at {slack.sizes} an error of {percent(slack.allowed)} passes; "
        f"with adds = {slack.adds} it is kept as well, and errors of {percent(slack.shown)} show: "
        f"kfuzz claim {shown_path(kernel.path)}"
    )


def percent(error: float) -> str:
    return f"{100 * error:.2g} %"
