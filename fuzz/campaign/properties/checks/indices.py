"""Indices out of range: a kernel that claims to check them follows none, and gives all other answers as before.

In a twin some integers are just beyond the last, below the first, or the largest there are. The op says nothing about
their own answers. Knows arrays, indices and places; it does not know how a device runs them.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kfuzz.campaign.properties.property import Examined, NamedOutputs, Twin
from kfuzz.campaign.properties.twins import Agreement, compare_twin, finding_of
from kfuzz.cases.plans.choose import Choose, one_of, seed_of, seeded_choices
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.arrays import Array
from kfuzz.devices import Buffer, ClaimError, DeviceError, Finding, Outcome
from kfuzz.kinds import Kind
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import Element
from kfuzz.oracle.numbers.enclosure import Mask
from kfuzz.oracle.op.shapes import limit_of

WORDS = "indices out of range"
KIND: Kind = "unchecked-index"
MOST_PLACES = 3
REFUSALS = ("exception",)
"""Kinds of findings that are a right answer to an index out of range."""


def is_claimed(kernel: Kernel) -> bool:
    return kernel.claims.checks_indices


def why_untested(kernel: Kernel) -> str:
    if not kernel.claims.checks_indices:
        return "the claim does not say that they are checked"
    if find(kernel.op).make_inputs is not None:
        return "the reference's file makes them, and only it knows their range"
    return "" if indices_of(kernel) else "no input of the claim holds indices"


def indices_of(kernel: Kernel) -> Mapping[str, tuple[str, Array]]:
    """The arrays of integers in a range, with their names, by role; offsets of segments are none."""
    roles = kernel.roles
    found = {}
    for name, array in kernel.arrays.items():
        role = array.reads
        structure = roles.structures.get(role or "")
        is_range = structure is not None and not structure.is_segments
        if role and role not in roles.truths and (is_range or roles.integers.get(role)):
            found[role] = name, array
    return found


def look(trial: Examined) -> Finding | bool | None:
    if not trial.is_right or not trial.outcome.runs:
        return None
    choose = seeded_choices(seed_of("indices", trial.probe.seed))
    role, (name, array) = one_of(choose, tuple(indices_of(trial.kernel).items()))
    buffer = next((one for one in trial.bound.job.buffers if one.name == name), None)
    if buffer is None or buffer.content is None or not np.asarray(buffer.content).size:
        return None
    number, changed = beyond(trial, role, array.element, choose), choose_places(buffer, choose)
    content = np.array(buffer.content)
    content[changed] = number
    other = replace(buffer, content=content)
    job = replace(trial.bound.job, buffers=tuple(other if one is buffer else one for one in trial.bound.job.buffers))
    first = ", ".join(str(int(one)) for one in np.argwhere(changed)[0])
    where = f"where {name}[{first}] is {number}, out of range"
    outcome = run_checked(trial, replace(trial, bound=replace(trial.bound, job=job)))
    error = next((one for one in outcome.findings if one.severity == "error"), None)
    if error is not None:
        if error.kind in REFUSALS:
            return True
        return Finding(KIND, f"{error.message}, {where}", array=error.array, line=error.line, file=error.file)

    def others(got: NamedOutputs) -> NamedOutputs:
        return untouched(trial, role, changed, got)

    found = compare_twin(trial, Twin(job, others, others))
    if found.agreement is Agreement.DIFFERENT:
        return finding_of(KIND, found, where)
    return True if found.agreement is Agreement.SAME else None


def run_checked(trial: Examined, twin: Examined) -> Outcome:
    """One run of the twin's job that checks each access; no run if the device cannot."""
    try:
        return trial.run_job(replace(twin.bound.job, earlier=()), replace(trial.probe, check=True, runs=1, options=()))
    except (ClaimError, DeviceError):
        return Outcome()


def beyond(trial: Examined, role: str, element: Element, choose: Choose) -> int:
    """A number that is no index: beyond the last one, below the first, or as far away as the type goes."""
    kernel, sizes = trial.kernel, {**trial.bound.sizes, **trial.case.axes}
    structure = kernel.roles.structures.get(role)
    low, high = (
        (0, (limit_of(kernel.roles.integers[role], sizes) or 1) - 1) if structure is None else structure.bounds(sizes)
    )
    below = low - 2 if structure is not None and structure.absent else low - 1
    return int(one_of(choose, (high + 1, below, element.largest_integer, -element.largest_integer - 1)))


def choose_places(buffer: Buffer, choose: Choose) -> Mask:
    """A few places of an array."""
    made: Mask = np.zeros(np.asarray(buffer.content).shape, np.bool_)
    flat = made.reshape(-1)
    for _ in range(choose(1, MOST_PLACES)):
        flat[choose(0, flat.size - 1)] = True
    return made


def untouched(trial: Examined, role: str, changed: Mask, got: NamedOutputs) -> NamedOutputs:
    """Of each output that has a dimension of the indices, the places along it at which no index was changed."""
    kernel = trial.kernel
    outputs, dims = kernel.outputs(got, trial.bound.sizes), kernel.roles.inputs[role]
    found = {}
    for name, answer in outputs.items():
        shared = next((d for d in dims if d in kernel.roles.outputs[name] and not d.isdigit()), None)
        if shared is None:
            continue
        axis = dims.index(shared)
        touched = changed.any(axis=tuple(one for one in range(changed.ndim) if one != axis))
        found[name] = np.delete(answer, np.flatnonzero(touched), axis=kernel.roles.outputs[name].index(shared))
    return found
