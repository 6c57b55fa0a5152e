"""How much tighter a claim without `adds` could be: the additions are counted once.

Knows claims, devices and verdicts.
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from kfuzz.cases.plans.sizes import row_axis
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.expression import show_sizes
from kfuzz.common.printable import shown_path
from kfuzz.devices import ClaimError, Device, DeviceError, Probe
from kfuzz.devices.cpu.counting import Counter
from kfuzz.measure.roundings.grounds import inputs_of, is_too_much
from kfuzz.measure.roundings.measure import sampled
from kfuzz.oracle import Accuracy, judge
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.enclosure import Floats
from kfuzz.oracle.op.arrays import check_inputs
from kfuzz.oracle.op.spelling import in_own_arrays

SIZES = (1000, 300, 32)
"""Sizes of the longest axis: the first that the claim allows is used."""
FEW = 4
NO_SCALARS: Mapping[str, float | str] = {}
TRIED = 4
"""Inputs of these sizes."""


@dataclass(frozen=True)
class Slack:
    """At some sizes: the relative error allowed without `adds`, and the error that the counted additions allow."""

    sizes: str
    allowed: float
    shown: float


def slack_of(kernel: Kernel, device: Device) -> Slack | None:
    """The gain from a claim of `adds`; None if there is one, or codes, or no count, or no gain."""
    if kernel.rounding.adds is not None or kernel.roles.grids or not kernel.front.language.runner.counts_roundings:
        return None
    axes = axes_for(kernel)
    tune = next(kernel.tunes(axes), None)
    if tune is None or is_too_much(kernel, axes, tune):
        return None
    try:
        with closing(Counter()) as counter:
            sample = sampled(kernel, axes, tune, counter)
    except (ClaimError, DeviceError):
        return None
    if isinstance(sample, str):
        return None
    inputs = inputs_of(kernel, axes)
    bound = kernel.bind(inputs, tune)
    claimed = replace(bound.accuracy, adds=sample.most_adds)
    allowed, shown = (width(kernel, inputs, one, bound.scalars) for one in (bound.accuracy, claimed))
    if shown >= allowed / 2 or not all(keeps_claim(kernel, axes, tune, claimed, device, seed) for seed in range(TRIED)):
        return None
    return Slack(show_sizes(axes, axes), allowed, shown)


def axes_for(kernel: Kernel) -> dict[str, int]:
    """A long axis to add along, the others short."""
    rows = row_axis(kernel)
    long = [name for name in kernel.axes if name != rows][-1:] or list(kernel.axes)[-1:]
    found = {}
    for name, axis in kernel.axes.items():
        wanted = SIZES if name in long else (FEW,)
        end = axis.hi if axis.hi < wanted[0] else axis.lo
        found[name] = next((size for size in wanted if size in axis), end)
    return found


def keeps_claim(
    kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int], claimed: Accuracy, device: Device, seed: int
) -> bool:
    """Whether a claim is kept on one input of these sizes."""
    inputs = {role: np.roll(array, seed, axis=-1) for role, array in inputs_of(kernel, axes).items()}
    bound = kernel.bind(inputs, tune)
    outcome = device.run(bound.job, Probe(runs=2, seed=seed))
    if not outcome.runs:
        return False
    got = kernel.outputs(outcome.runs[0].outputs, bound.sizes)
    return judge(kernel.op, kernel.stored(inputs), got, claimed, kernel.special, bound.scalars).status == "kept"


def width(
    kernel: Kernel, inputs: Mapping[str, Floats], accuracy: Accuracy, scalars: Mapping[str, float | str] = NO_SCALARS
) -> float:
    """The relative error that the claim allows the largest element of its widest output."""
    found = 0.0
    op = find(kernel.op)
    given = check_inputs(kernel.op, op, kernel.stored(inputs), scalars)
    op, by_rows, _ = in_own_arrays(op, given, {})
    for enclosure in enclose(op, by_rows, accuracy, kernel.special, scalars).values():
        at = np.unravel_index(np.nanargmax(np.abs(enclosure.want)), enclosure.want.shape)
        want = abs(float(enclosure.want[at]))
        if want:
            found = max(found, float(enclosure.hi[at] - enclosure.lo[at]) / 2 / want)
    return found


def describe_slack(kernel: Kernel, slack: Slack) -> str:
    """The gain in words, for the author of the claim."""
    command = f"kfuzz claim {shown_path(kernel.path)}"
    return f"{kernel.name}: errors below {percent(slack.allowed)} pass now. {command} makes that {percent(slack.shown)}"


def percent(error: float) -> str:
    return f"{100 * error:.2g} %"
