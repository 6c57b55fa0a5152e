"""How much of a kernel's answers was judged, and how far these were from the exact answers, in a line each.

Knows figures of reports; it does not know how an answer is judged.
"""

from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, Context

from kfuzz.campaign.result import KernelResult
from kfuzz.oracle.numbers.plural import plural

MOST_REASONS, MOST_KERNELS = 2, 3


def accuracy_lines(results: Sequence[KernelResult]) -> Iterator[str]:
    """For each kernel, or for many together: the rows that were not judged, and the worst error of the others."""
    tried = [one for one in results if one.progress.rows]
    if len(tried) <= MOST_KERNELS:
        for one in tried:
            progress = one.progress
            left = describe_unjudged(progress.rows, progress.unjudged_rows, sorted(progress.reasons))
            worst = describe_error(progress.elements, progress.worst_ulps, progress.worst_ratio)
            yield from (f"{one.kernel.name}: {text}" for text in (left, worst) if text)
        return
    if left_out := [one for one in tried if one.progress.unjudged_rows]:
        rows = sum(one.progress.rows for one in left_out)
        unjudged = sum(one.progress.unjudged_rows for one in left_out)
        names = f"{len(left_out)} of {plural(len(tried), 'kernel')}"
        yield f"{names} have rows that were not judged, {unjudged} of {rows}; --json says why"
    nearest = max(tried, key=lambda one: one.progress.worst_ratio)
    yield f"accuracy: no error is more than {share_text(nearest.progress.worst_ratio)} ({nearest.kernel.name})"


def describe_unjudged(rows: int, unjudged: int, reasons: Sequence[str], most: int = MOST_REASONS) -> str:
    """`3 of 80 rows not judged, because: rows with NaN: ...`; empty if all rows were judged."""
    if not unjudged:
        return ""
    more = f"; and {len(reasons) - most} more, see --json" if len(reasons) > most else ""
    why = f", because: {'; '.join(reasons[:most])}{more}" if reasons else ""
    return f"{unjudged} of {plural(rows, 'row')} not judged{why}"


def describe_error(judged: int, ulps: float | None, ratio: float) -> str:
    """`accuracy: no error is more than 2.2 ulp, or 32 % of what the claim allows`; empty if nothing was judged."""
    if not judged:
        return ""
    units = "" if ulps is None else f"{two_digits(ulps)} ulp, or "
    return f"accuracy: no error is more than {units}{share_text(ratio)}"


def share_text(ratio: float) -> str:
    """`32 % of what the claim allows`."""
    return f"{two_digits(100 * ratio)} % of what the claim allows"


def two_digits(most: float) -> str:
    """A number that nothing exceeds, rounded up."""
    return f"{float(Context(prec=2, rounding=ROUND_CEILING).create_decimal(float(most))):g}"


def judged_share(rows: int, unjudged: int) -> str:
    """` (99.9 % judged)`, rounded down: it is 100 % only if every row was judged."""
    if not rows:
        return ""
    return " (all judged)" if not unjudged else f" ({1000 * (rows - unjudged) // rows / 10:g} % judged)"
