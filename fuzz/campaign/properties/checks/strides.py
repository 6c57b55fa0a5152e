"""Strides: a function of tensors is right for slices, transposes and expanded tensors, or refuses them.

One input of a trial is handed over in another layout, with NaN between its elements, and the answer is judged like
any other: a function may well round otherwise there. Knows layouts; it does not know how a function reads a tensor.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from kfuzz.campaign.properties.property import Examined
from kfuzz.campaign.properties.twins import has_error, run_once
from kfuzz.cases.case import Case, case_for
from kfuzz.cases.plans.choose import once_in, one_of, seed_of, seeded_choices
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Buffer, Call, ClaimError, Finding, Job
from kfuzz.devices.tensors import TensorLayout, contiguous_strides, layout_names
from kfuzz.kinds import Kind
from kfuzz.oracle.numbers.elements import Element
from kfuzz.oracle.numbers.layout import Shape

CONTIGUOUS = "contiguous"
WORDS = "strided tensors"
KIND: Kind = "strides"
UNCLAIMED_ONCE_IN = 4
GAP = 3
"""Elements between two rows of a slice."""

Make = Callable[[Shape], TensorLayout]


def is_claimed(kernel: Kernel) -> bool:
    return _written(kernel) == "any"


def is_expected(kernel: Kernel) -> bool:
    """A caller who passes a transposed tensor gets a wrong answer without a word, unless the claim rules it out."""
    return _written(kernel) is None


def _written(kernel: Kernel) -> str | None:
    function = kernel.front.language.function_of(kernel.written)
    return None if function is None else function.strides


def why_untested(kernel: Kernel) -> str:
    if kernel.front.language.runner.lends_strides:
        return "" if is_claimed(kernel) else 'a callable is handed strided arrays only if it claims strides = "any"'
    if _written(kernel) == CONTIGUOUS:
        return 'the claim says strides = "contiguous"'
    calls = (entry for entry in kernel.entries if isinstance(entry, Call))
    return "" if any(call.tensors for call in calls) else "no function of the claim takes tensors"


def look(trial: Examined) -> Finding | bool | None:
    if not trial.is_right or not trial.outcome.runs:
        return None
    if trial.kernel.front.language.runner.lends_strides:
        return True  # the runs of the trial have such inputs (devices/python/probes.py)
    choose = seeded_choices(seed_of("strides", trial.probe.seed))
    if not is_claimed(trial.kernel) and not once_in(choose, UNCLAIMED_ONCE_IN):
        return None
    tensors = dict(call_of(trial.bound.job).tensors)
    inputs = [
        one for one in trial.bound.job.buffers
        if one.name in tensors and one.content is not None and not one.is_output and one.content.size
    ]  # fmt: skip
    every = [(one, layout) for one in inputs for layout in layouts_of(one.shape)]
    if not is_claimed(trial.kernel):  # a check of contiguity lets an offset pass, and what then happens is loud
        every = [(one, layout) for one, layout in every if not is_contiguous(layout.layout)]
    if not every:
        return None
    buffer, layout = one_of(choose, every)
    return judge_layout(trial, buffer.name, layout)


def judge_layout(trial: Examined, name: str, layout: "NamedLayout") -> Finding | bool | None:
    """How the function fails with one input in another layout; True if it is right or refuses."""
    case = expand_rows(trial, name) if layout.is_expanded else trial.case
    try:
        bound = trial.kernel.bind(case.arrays, trial.tune)
    except ClaimError:
        return None
    outcome = run_once(trial, replace(hand_over(bound.job, name, layout), earlier=()))
    where = f"where {name} is {layout.words}"
    if outcome.refusal:
        return True
    if has_error(outcome):
        first = next(one for one in outcome.findings if one.severity == "error")
        return Finding(KIND, f"{first.message}, {where}", array=name, line=first.line, file=first.file)
    if not outcome.runs:
        return None
    is_right = trial.judge(case, trial.kernel.outputs(outcome.runs[0].outputs, bound.sizes))
    return True if is_right else Finding(KIND, f"the answer is wrong {where}", array=name)


@dataclass(frozen=True)
class NamedLayout:
    """A layout of a tensor, and its words. `is_expanded`: all its rows are one row in memory."""

    words: str
    layout: TensorLayout
    is_expanded: bool = False


def layouts_of(shape: Shape) -> list[NamedLayout]:
    """The layouts in which a tensor of this shape is not contiguous, or does not begin at the beginning."""
    plain = contiguous_strides(shape)
    sizes = tuple(shape)
    wide = contiguous_strides((*shape[:-1], shape[-1] + GAP))
    every = [
        NamedLayout("a view that begins one element after the beginning of its memory", (sizes, plain, 1)),
        NamedLayout("every second element of a longer row", (sizes, tuple(2 * one for one in plain), 0)),
    ]
    if len(shape) > 1:
        turned = tuple(reversed(contiguous_strides(tuple(reversed(shape)))))
        every += [
            NamedLayout("the transpose of a contiguous tensor", (sizes, turned, 0)),
            NamedLayout("a slice of a tensor with longer rows", (sizes, wide, 1)),
            NamedLayout("every second row of a tensor", (sizes, (2 * plain[0], *plain[1:]), 0)),
            NamedLayout("one row, expanded", (sizes, (0, *plain[1:]), 0), is_expanded=True),
        ]
    return [one for one in every if is_other(one.layout)]


def is_other(layout: TensorLayout) -> bool:
    """Whether it differs from that of a contiguous tensor: the stride of a dimension of 1 does not matter."""
    sizes, strides, offset = layout
    pairs = zip(sizes, strides, contiguous_strides(sizes), strict=True)
    return offset > 0 or any(size > 1 and one != other for size, one, other in pairs)


def is_contiguous(layout: TensorLayout) -> bool:
    """Whether only its beginning differs from that of a contiguous tensor."""
    sizes, strides, _ = layout
    return not is_other((sizes, strides, 0))


def expand_rows(trial: Examined, name: str) -> Case:
    """The trial's case, in which all rows of one input are its first one."""
    role = str(trial.kernel.arrays[name].reads)
    array = trial.case.arrays[role]
    rows = np.zeros(len(array), np.intp)
    return case_for(trial.kernel, {**trial.case.arrays, role: array.take(rows, axis=0)}, trial.case.dimensions)


def call_of(job: Job) -> Call:
    """The call of a job that hands over tensors."""
    return next(step.entry for step in job.steps if isinstance(step.entry, Call) and step.entry.tensors)


def hand_over(job: Job, name: str, layout: NamedLayout) -> Job:
    """The job with one input in another layout."""
    step = next(step for step in job.steps if isinstance(step.entry, Call) and step.entry.tensors)
    call = call_of(job)
    names = [declared.split()[-1].lstrip("*") for declared in call.declared]
    sizes, strides, offset = layout.layout
    values = dict(zip(layout_names(name, len(sizes)), (*sizes, *strides, offset), strict=True))
    args = tuple(values.get(one, value) for one, value in zip(names, step.args, strict=True))
    buffers = tuple(spread_input(one, layout.layout) if one.name == name else one for one in job.buffers)
    return replace(
        job, buffers=buffers, steps=tuple(replace(one, args=args) if one is step else one for one in job.steps)
    )


def spread_input(buffer: Buffer, layout: TensorLayout) -> Buffer:
    """An input whose elements lie in another layout, with NaN between them, or 0 if the type has none."""
    assert buffer.content is not None, "asked of an input"
    sizes, strides, offset = layout
    count = offset + 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    memory = filled(count, buffer.element)
    bytes_of = memory.itemsize
    view = as_strided(memory[offset:], sizes, tuple(bytes_of * stride for stride in strides), writeable=True)
    view[...] = buffer.content
    return replace(buffer, shape=(count,), content=memory)


def filled(count: int, element: Element) -> NDArray[np.generic]:
    """Memory that holds NaN in each element, if the type has one."""
    word = element.nan if element.nan is not None else 0
    return np.full(count, word, f"<u{element.bytes}").view(element.dtype)
