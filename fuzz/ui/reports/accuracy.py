"""How much of a kernel's answers was judged, and how far these were from the exact answers, in a line each.

Knows figures of reports; it does not know how an answer is judged.
"""

from collections.abc import Iterator, Sequence

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
        yield f"{unjudged} of {plural(rows, 'row')} of {names} not judged; --json says why"
    nearest = max(tried, key=lambda one: one.progress.worst_ratio)
    yield f"accuracy: at most {nearest.progress.worst_ratio:.2g} of what the claims allow ({nearest.kernel.name})"


def describe_unjudged(rows: int, unjudged: int, reasons: Sequence[str], most: int = MOST_REASONS) -> str:
    """`3 of 80 rows not judged, because: rows with NaN: ...`; empty if all rows were judged."""
    if not unjudged:
        return ""
    more = f"; and {len(reasons) - most} more, see --json" if len(reasons) > most else ""
    why = f", because: {'; '.join(reasons[:most])}{more}" if reasons else ""
    return f"{unjudged} of {plural(rows, 'row')} not judged{why}"


def describe_error(judged: int, ulps: float | None, ratio: float) -> str:
    """`accuracy: at most 2.1 ulp, 0.31 of what the claim allows`; empty if nothing was judged."""
    if not judged:
        return ""
    units = "" if ulps is None else f"{ulps:.2g} ulp, "
    return f"accuracy: at most {units}{ratio:.2g} of what the claim allows"


def judged_share(rows: int, unjudged: int) -> str:
    """` (99.9 % judged)`, rounded down: it is 100 % only if every row was judged."""
    if not rows:
        return ""
    return " (all judged)" if not unjudged else f" ({1000 * (rows - unjudged) // rows / 10:g} % judged)"
