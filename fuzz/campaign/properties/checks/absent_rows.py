"""Rows that are not there: an array has more rows than the count that the kernel is given, as in a captured graph.

A trial's own runs have ordinary rows there, and find what is written to them. Here they hold NaN, infinities, the
largest numbers or invalid indices, and the answers in the rows that are there must stay the same. Knows arrays and
elements; it does not know how a device runs them.
"""

from dataclasses import replace

import numpy as np

from kfuzz.campaign.properties.property import Examined, NamedOutputs, Twin
from kfuzz.campaign.properties.twins import Agreement, compare_twin, finding_of, has_error
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Buffer, Finding
from kfuzz.kinds import Kind
from kfuzz.oracle.numbers.elements import Element

WORDS = "rows that are not there"
KIND: Kind = "absent-rows"


def is_claimed(kernel: Kernel) -> bool:
    """An array with such rows is the claim."""
    return True


def why_untested(kernel: Kernel) -> str:
    has_any = any(one.slots for one in kernel.arrays.values() if one.reads)
    return "" if has_any else "no input of the claim has any"


def look(trial: Examined) -> Finding | bool | None:
    job = trial.bound.job
    absent = [one for one in job.buffers if one.content is not None and one.absent]
    if not trial.is_right or not absent or not trial.outcome.runs:
        return None
    choice = trial.probe.seed
    hostile = {one.name: fill_absent(one, choice + place) for place, one in enumerate(absent)}
    words = ", ".join(f"{one.name} {show_fill(one.element, choice + place)}" for place, one in enumerate(absent))
    twin = replace(job, buffers=tuple(hostile.get(one.name, one) for one in job.buffers))
    found = compare_twin(trial, Twin(twin, lambda got: there(trial, got), lambda got: there(trial, got)))
    where = f"where the rows that are not there hold other values ({words})"
    if found.agreement is Agreement.DIFFERENT:
        return finding_of(KIND, found, where)
    if found.agreement is Agreement.NOT_RUN and has_error(found.outcome):
        first = next(one for one in found.outcome.findings if one.severity == "error")
        return Finding(KIND, f"{first.message}, {where}", array=first.array, line=first.line, file=first.file)
    if found.agreement is Agreement.VARYING:
        answers = [there(trial, run.outputs) for run in found.outcome.runs]
        if not all(trial.judge(trial.case, one) for one in answers):
            return Finding(KIND, f"the answer is wrong {where}", array=absent[0].name)
        return True
    return True if found.agreement is Agreement.SAME else None


def there(trial: Examined, got: NamedOutputs) -> NamedOutputs:
    """The outputs of the rows that are there, by role."""
    return trial.kernel.outputs(got, trial.bound.sizes)


def hostile_bits(element: Element) -> list[tuple[int, str]]:
    """Bits that no row that is there need have, each with a word for it."""
    if not element.is_float:
        return [(element.largest_integer, "the largest integer"), (-1 % (1 << element.bits), "-1")]
    found = [(element.infinity - 1, "the largest number")]
    if element.has_infinity:
        found += [(element.infinity, "inf"), (element.infinity | element.sign_bit, "-inf")]
    if element.nan is not None:
        found = [(element.nan, "NaN"), *found]
    return found


def show_fill(element: Element, choice: int) -> str:
    """The word for what the rows of an array that are not there hold."""
    every = hostile_bits(element)
    return every[choice % len(every)][1]


def fill_absent(buffer: Buffer, choice: int) -> Buffer:
    """An array whose rows that are not there hold something else."""
    assert buffer.content is not None, "asked of an input"
    every = hostile_bits(buffer.element)
    content = np.array(buffer.content)
    words = content.reshape(-1).view(f"u{buffer.element.bytes}")
    words[len(words) - buffer.absent :] = every[choice % len(every)][0]
    return replace(buffer, content=content)
