"""Chooses earlier calls of a host function or a Python callable: what it remembers of them must not change its answer.

Knows cases and claims; it does not know how a device makes the calls.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from kfuzz.cases.case import Case, Values, case_of
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Job, Probe, is_host
from kfuzz.oracle.op.shapes import longer_by

MOST_ELEMENTS = 1 << 16
"""Elements of a case that gets earlier calls: larger calls take long and show nothing more."""
EVERY = 3
"""If nothing in the text outlives a call, one trial in so many still gets earlier calls."""
MANY_EVERY, MANY, MANY_ELEMENTS = 4, 24, 1 << 10
"""If something does, one trial in so many gets this many calls, if its case is so small: a function that counts its
calls may be right in the first ones, and a run begins with fresh variables. The cpu device has room for the arrays that
28 calls return."""


def earlier_jobs(kernel: Kernel, case: Case, tune: Mapping[str, int], probe: Probe, job: Job) -> tuple[Job, ...]:
    """The earlier calls of a job: of smaller sizes, of larger ones, and with other values in the same arrays, in some
    trials many times.
    """
    if job.vast or not all(is_host(step.entry) for step in job.steps):
        return ()
    if probe.after_calls:
        return jobs_of_other_sizes(kernel, case, tune)
    remembers = kernel.front.language.remembers(job.source)
    if case.elements > MOST_ELEMENTS or not (remembers or probe.seed % EVERY == 0):
        return ()
    made = jobs_of_other_sizes(kernel, case, tune)
    is_many = remembers and case.elements <= MANY_ELEMENTS and probe.seed // EVERY % MANY_EVERY == 0
    returned = sum(one.is_returned for one in job.buffers)
    return (*made, *(made[-1:] * (MANY // max(returned, 1) if is_many else 0)))


def jobs_of_other_sizes(kernel: Kernel, case: Case, tune: Mapping[str, int]) -> tuple[Job, ...]:
    """The calls of other sizes, and the one with other values."""
    return tuple(kernel.bind(one.arrays, tune).job for one in earlier_cases(kernel, case, tune))


def earlier_cases(kernel: Kernel, case: Case, tune: Mapping[str, int]) -> Iterator[Case]:
    """Cases within the claim, made from the values of this one; the last has the same sizes."""
    if all(case.axes.values()):
        for sizes in (halved_cases(case), doubles(case)):
            found = next((one for one in sizes if kernel.takes(one.arrays, tune)), None)
            if found is not None:
                yield found
    yield reverse_values(case)


def halved_cases(case: Case) -> Iterator[Case]:
    """The case with each dimension halved, then with one dimension halved."""
    yield from (resize(case, {name: -(-case.axes[name] // 2) for name in names}) for names in dimension_groups(case))


def doubles(case: Case) -> Iterator[Case]:
    """The case with each dimension doubled, then with one dimension doubled."""
    yield from (resize(case, {name: 2 * case.axes[name] for name in names}) for names in dimension_groups(case))


def dimension_groups(case: Case) -> list[list[str]]:
    """All dimensions, and each by itself."""
    return [[*case.axes], *([name] for name in case.axes)]


def resize(case: Case, sizes: Mapping[str, int]) -> Case:
    """The case with these sizes: the first part of its values, or its values repeated."""

    def cut(role: str, array: Values) -> Values:
        for place, name in enumerate(case.dimensions[role]):
            longer = longer_by(name)
            size = sizes[longer[0]] + longer[1] if longer and longer[0] in sizes else sizes.get(name)
            if size is not None:
                array = array.take(np.arange(size) % array.shape[place], axis=place)
        return array

    return case_of(case.op, {role: cut(role, array) for role, array in case.arrays.items()}, case.dimensions)


def reverse_values(case: Case) -> Case:
    """The case with each array's values in reverse order."""
    arrays = {role: array.ravel()[::-1].reshape(array.shape) for role, array in case.arrays.items()}
    return case_of(case.op, arrays, case.dimensions)
