"""Rows whose answers cannot all be right together, in any form that the kernel may compute.

It knows neither op nor claim: `find` returns, form by form, the rows that contradict themselves.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Protocol

from flint import ctx

from kfuzz.oracle.bounds.joint.boxes import Contradiction
from kfuzz.oracle.numbers.enclosure import PRECISIONS, Clash, Doubles, Index


class FindContradictions(Protocol):
    """The rows of an answer that no shared values of one form fit; checked with balls if one row is named."""

    def __call__(self, got: Doubles, form: str, row: Index | None = None) -> Mapping[Index, Contradiction]: ...


def find_clashes(find: FindContradictions, forms: tuple[str, ...], got: Doubles) -> Iterator[Clash]:
    """Rows that no form's shared values fit, the worst first, each with a function that checks it with balls."""
    first = find(got, forms[0])
    rows = set(first)
    for form in forms[1:]:
        rows = rows and rows.intersection(find(got, form))
    for row in sorted(rows, key=lambda r: -first[r].excess):
        worst = first[row]
        yield Clash((*row, worst.worst), worst.wrong, worst.message(row), partial(_is_certain, find, forms, got, row))


def _is_certain(find: FindContradictions, forms: tuple[str, ...], got: Doubles, row: Index) -> bool:
    with ctx.workprec(PRECISIONS[0]):
        return all(find(got, form, row) for form in forms)
