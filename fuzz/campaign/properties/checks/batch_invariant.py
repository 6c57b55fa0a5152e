"""Batch invariance: a row has the same bits whatever other rows there are, wherever it lies, however many there are.

The same rows run in other batches: one alone, in reverse order, among more rows, beside other rows. Knows rows and
claims; it does not know what is right.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from math import prod
from pathlib import Path

import numpy as np

from kfuzz.campaign.properties.property import Examined, Planned, Twin
from kfuzz.campaign.properties.rows import RowsOfBatch, count_rows, with_rows
from kfuzz.campaign.properties.twins import Agreement, compare_each, finding_of
from kfuzz.cases.plans.choose import Choose, once_in, one_of, seed_of, seeded_choices
from kfuzz.cases.plans.edges import edges, named_numbers, widths
from kfuzz.cases.plans.programs import MOST_PROGRAMS, has_programs
from kfuzz.cases.plans.scale import MOST_THREADS
from kfuzz.cases.plans.sizes import threads
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.axes import Axis
from kfuzz.devices import ClaimError, Finding

WORDS = "batch invariance"
MOST_ELEMENTS, LARGEST_BATCH = 1 << 16, 1 << 16
"""Elements of a case that is looked at, and of a batch with more rows; the latter has at most MOST_THREADS threads."""
BATCHES = 4
"""Other batches in a trial of a kernel that claims it; else one, in one trial of UNCLAIMED_ONCE_IN."""
UNCLAIMED_ONCE_IN = 8
NAME = Path(__file__).stem


def is_claimed(kernel: Kernel) -> bool:
    return kernel.claims.batch_invariant


def why_untested(kernel: Kernel) -> str:
    cut = kernel.roles.cut
    if not cut:
        return f"no row of {kernel.roles.op} has an answer of its own"
    arrays = [(one, one.reads or one.writes) for one in kernel.arrays.values() if (one.reads or one.writes) in cut]
    if any(len(one.shape) < len(dimensions_of(kernel, str(role))) for one, role in arrays):
        return "its arrays hold one row"
    return ""


def foresee(trial: Planned) -> Sequence[Twin]:
    choose = seeded_choices(seed_of("batches", trial.probe.seed))
    wanted = BATCHES if is_claimed(trial.kernel) else 1
    if wanted == 1 and not once_in(choose, UNCLAIMED_ONCE_IN):
        return ()
    if not 0 < trial.case.elements <= MOST_ELEMENTS or not prod(trial.case.axes.values()):
        return ()
    batches = islice(other_batches(trial, choose), wanted)
    return [twin for words, rows in batches for twin in twins_of(trial, rows, words)]


def look(trial: Examined) -> Finding | bool | None:
    if not trial.is_right:
        return None
    known = trial.twins.get(NAME)
    twins, seen = foresee(trial) if known is None else known, None
    for twin, found in zip(twins, compare_each(trial, twins), strict=True):
        if found.agreement is Agreement.DIFFERENT:
            return finding_of("batch-variant", found, twin.words)
        seen = found.agreement is Agreement.SAME or seen
    return seen


def twins_of(trial: Planned, rows: RowsOfBatch, words: str) -> Iterator[Twin]:
    """The job with another batch, if the claim allows a launch for it."""
    kernel, sizes = trial.kernel, trial.bound.sizes
    with suppress(ClaimError):
        bound = kernel.bind(with_rows(kernel, trial.case, rows).arrays, trial.tune)
        yield Twin(
            bound.job,
            lambda got: {
                role: one.take(rows, axis=kernel.roles.cut[role]) for role, one in kernel.outputs(got, sizes).items()
            },
            lambda got: kernel.outputs(got, bound.sizes),
            words,
        )


def other_batches(trial: Planned, choose: Choose) -> Iterator[tuple[str, RowsOfBatch]]:
    """Other batches of the same rows that the claim covers, in an order that the seed gives, each with its words."""
    count = count_rows(trial.kernel, trial.case)
    row, other = choose(0, count - 1), choose(0, count - 1)
    every = list(candidates(trial, count, row, other, choose))
    first = choose(0, max(len(every) - 1, 0))
    for words, rows in (*every[first:], *every[:first]):
        if not np.array_equal(rows, np.arange(count)):
            arrays = with_rows(trial.kernel, trial.case, rows).arrays
            if trial.kernel.takes(arrays, trial.tune):
                yield words, rows


def candidates(trial: Planned, count: int, row: int, other: int, choose: Choose) -> Iterator[tuple[str, RowsOfBatch]]:
    """Batches that may or may not be within the claim."""
    sizes = batch_sizes(trial, count)
    for more in dict.fromkeys(size for one in sizes if one for size in (one_of(choose, one), one[-1])):
        rows = (np.arange(more) + choose(0, count - 1)) % count
        yield f"in a batch of {more} rows, where the batch had {count}", rows
    yield f"where its row is row 0 of 1, and was one of {count}", np.array([row])
    yield f"where the same {count} rows come in reverse order", np.arange(count)[::-1]
    beside = np.where(np.arange(count) == row, row, other)
    yield f"where all rows but row {row} are replaced by row {other}", beside


def batch_sizes(trial: Planned, count: int) -> list[list[int]]:
    """Numbers of rows at an edge of the launch or the text: larger ones, and smaller ones."""
    axis, kernel = axis_of_rows(trial.kernel), trial.kernel
    most = LARGEST_BATCH * count // trial.case.elements
    axes = {name: trial.bound.sizes[name] for name in kernel.axes}
    if many := threads(kernel, axes, trial.tune):
        most = min(most, MOST_THREADS * count // many)
    most = max(count, MOST_PROGRAMS if has_programs(kernel) else most)
    named = [one for one in named_numbers(kernel) if count < one <= most]
    near = {2 * count, 3 * count, *(one + step for one in named for step in (-1, 0, 1))}
    every = near | ({*edges(axis, widths(kernel, trial.tune))} if axis else set())
    larger = sorted(one for one in every if count < one <= most)
    smaller = sorted(one for one in every | {count - 1, count // 2} if 0 < one < count)
    return [larger, smaller]


def axis_of_rows(kernel: Kernel) -> Axis | None:
    """The kernel's axis that counts rows; None if an expression does."""
    for array in kernel.arrays.values():
        if array.reads in kernel.roles.cut and len(array.shape) == len(kernel.roles.inputs[str(array.reads)]):
            return kernel.axes.get(array.shape[kernel.roles.cut[str(array.reads)]].text)
    return None


def dimensions_of(kernel: Kernel, role: str) -> tuple[str, ...]:
    """The dimensions of an input or output."""
    return kernel.roles.inputs.get(role) or kernel.roles.outputs[role]
