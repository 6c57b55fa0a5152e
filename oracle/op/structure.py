"""The integers that an array may hold: a range, an order, bounds of segments; and how any numbers become such integers.

    "int[n] < rows or -1"   "int[n] distinct < slots"   "int[batch + 1] rises 0..total"   "int[batch] 1..page"

An op's file declares it after the dimensions. A kernel is never handed anything else: `arrange` makes integers of this
structure of any numbers that a case has, and integers that have it stay as they are. Knows no op and no claim.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.shapes import Lengths, evaluate, longer_by, names_in, read_dimension

IntegerOrder = Literal["any", "sorted", "distinct", "permutation", "rises", "ends", "parts"]
Integers = NDArray[np.int64]

SIZE = r"[^.<>=]+?"
RANGE = re.compile(
    rf"(?:(sorted|distinct)\s+)?(?:<\s*(?P<below>{SIZE})|(?P<low>{SIZE})\s*\.\.\s*(?P<high>{SIZE}))"
    r"(?P<absent>\s+or\s+-\s*1)?"
)
SEGMENTS = re.compile(rf"(rises\s+0\s*\.\.|rises\s+to\s|adds\s+up\s+to\s)\s*({SIZE})(?:\s+by\s+(\d+))?")
ORDERS: Mapping[str | None, IntegerOrder] = {None: "any", "sorted": "sorted", "distinct": "distinct"}
SEGMENT_ORDERS: Mapping[str, IntegerOrder] = {"rises 0..": "rises", "rises to": "ends", "adds up to": "parts"}
USAGE = (
    '"< rows", "1..page", each with "or -1" after it and "sorted" or "distinct" before it, "permutation", '
    '"rises 0..total", "rises to total" or "adds up to total", each with "by 1" after it if no segment is empty'
)


@dataclass(frozen=True)
class Structure:
    """Integers from `low` to `high`, which are expressions over sizes, in an order.

    `absent`: -1 may stand for no integer. `count`: the dimension along which the order holds, the array's last one. Of
    segments, `high` is where the last one ends, and each has at least `each` elements: with the order "rises" the array
    holds where each begins, and the end of the last; with "ends" where each ends; with "parts" how long each is.
    """

    low: str
    high: str
    count: str
    order: IntegerOrder = "any"
    absent: bool = False
    each: int = 0

    @property
    def is_segments(self) -> bool:
        """Whether it cuts a dimension into segments."""
        return self.order in ("rises", "ends", "parts")

    @property
    def names(self) -> frozenset[str]:
        """The sizes on which it depends; each integer may be a place along them."""
        return names_in(self.low) | names_in(self.high)

    @cached_property
    def segments(self) -> str:
        """The dimension that counts the segments, or an expression for it."""
        found = longer_by(self.count) if self.order == "rises" else None
        return found[0] if found and found[1] == 1 else f"{self.count} - 1" if self.order == "rises" else self.count

    @property
    def rules(self) -> tuple[str, ...]:
        """The conditions on sizes without which no array has this structure."""
        if self.is_segments:
            return (f"1 <= {self.segments}", *((f"{self.each} * ({self.segments}) <= {self.high}",) * (self.each > 0)))
        if self.order in ("distinct", "permutation") and not self.absent:
            return (f"{self.count} <= {self.high} - {self.low} + 1",) if self.order == "distinct" else ()
        return () if self.absent else (f"{self.low} <= {self.high}",)

    def bounds(self, sizes: Lengths) -> tuple[int, int]:
        """The least and the greatest integer at these sizes."""
        return int(evaluate(self.low, sizes)), int(evaluate(self.high, sizes))

    def rename(self, names: Mapping[str, str]) -> "Structure":
        """The same structure over dimensions of other names."""

        def renamed(text: str) -> str:
            return re.sub(r"[A-Za-z_]\w*", lambda found: names.get(found[0], found[0]), text)

        return replace(self, low=renamed(self.low), high=renamed(self.high), count=renamed(self.count))

    def arrange(self, numbers: NDArray[Any], sizes: Lengths) -> Integers:
        """Integers of this structure, made of any numbers; those that have it already are unchanged."""
        low, high = self.bounds(sizes)
        flat = np.nan_to_num(numbers.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
        whole = np.rint(np.clip(flat, -(2.0**40), 2.0**40)).astype(np.int64)
        rows = whole.reshape(-1, whole.shape[-1]) if whole.size else whole.reshape(0, 0)
        if self.is_segments:
            made = [SEGMENTED[self.order](row, high, self.each) for row in rows]
            return np.array(made, np.int64).reshape(whole.shape)
        is_absent = (whole == -1) if self.absent and low > -1 else np.zeros(whole.shape, np.bool_)
        if high < low:
            return np.full(whole.shape, -1 if self.absent else low, np.int64)
        if self.order == "sorted":
            return np.sort(np.where(is_absent, -1, np.clip(whole, low, high)), axis=-1)
        placed = np.where((whole >= low) & (whole <= high), whole, low + np.mod(np.abs(whole) - low, high - low + 1))
        if self.order in ("distinct", "permutation"):
            table = placed.reshape(rows.shape)
            missing = is_absent.reshape(rows.shape)
            made = [_distinct(row, gone, low, high) for row, gone in zip(table, missing, strict=True)]
            return np.array(made, np.int64).reshape(whole.shape)
        return np.where(is_absent, -1, placed)

    def ends(self, numbers: NDArray[Any], sizes: Lengths) -> Integers:
        """Where each segment ends, of one row of numbers."""
        made = self.arrange(numbers.reshape(-1), sizes)
        return made[1:] if self.order == "rises" else made if self.order == "ends" else np.cumsum(made)

    def of_lengths(self, lengths: Integers) -> Integers:
        """The row of segments that are so long."""
        if self.order == "parts":
            return lengths
        first = [0] if self.order == "rises" else []
        return np.array([*first, *np.cumsum(lengths)], np.int64)

    def has(self, given: NDArray[Any], sizes: Lengths) -> bool:
        """Whether these integers have the structure."""
        return bool(np.array_equal(self.arrange(given, sizes), given))

    def __str__(self) -> str:
        """As an op's file writes it."""
        by = f" by {self.each}" if self.each else ""
        spelled = next((text for text, order in SEGMENT_ORDERS.items() if order == self.order), "")
        if spelled:
            return f"{spelled}{'' if spelled.endswith('.') else ' '}{self.high}{by}"
        if self.order == "permutation":
            return "permutation"
        before = "" if self.order == "any" else f"{self.order} "
        less = self.high.removesuffix(" - 1")
        within = f"< {less}" if self.low == "0" and less != self.high else f"{self.low}..{self.high}"
        return f"{before}{within}{' or -1' if self.absent else ''}"


def _distinct(row: Integers, missing: NDArray[np.bool_], low: int, high: int) -> Integers:
    """The row with each integer that stood before it replaced by one that stands nowhere, the least first."""
    made = np.where(missing, -1, row)
    known, first = np.unique(row[~missing], return_index=True)
    again = np.flatnonzero(~missing)
    again = np.delete(again, first)
    if again.size:
        # of the integers from low on, at least as many as are needed stand among the first len(row) + 1
        pool = np.setdiff1d(np.arange(low, min(high, low + len(row)) + 1), known, assume_unique=True)[: again.size]
        made[again] = -1  # more integers than places: only where some may be absent
        made[again[: pool.size]] = pool
    return made


def _bounds_of(ends: Integers, total: int, each: int) -> Integers:
    """Where segments end: rising, each at least so many elements after the one before it, the last at `total`."""
    least = each * np.arange(1, len(ends) + 1)
    free = np.clip(np.sort(np.clip(ends, 0, total)) - least, 0, max(total - each * len(ends), 0))
    made = np.maximum.accumulate(free) + least
    made[-1] = total
    return made


def _rising(row: Integers, total: int, each: int) -> Integers:
    return np.concatenate((np.zeros(1, np.int64), _bounds_of(row[1:], total, each)))


def _parts(row: Integers, total: int, each: int) -> Integers:
    ends = np.cumsum(np.clip(np.abs(row), 0, total))
    return np.diff(_bounds_of(ends, total, each), prepend=0)


SEGMENTED: Mapping[str, Callable[[Integers, int, int], Integers]] = {
    "rises": _rising,
    "ends": _bounds_of,
    "parts": _parts,
}
"""The integers that an array of segments holds, made of any."""


def read_structure(text: str, count: str) -> Structure | None:
    """A structure as an op's file writes it, of an array whose last dimension is `count`; None if it is none."""
    text = " ".join(text.split())
    try:
        if text == "permutation":
            return Structure("0", read_dimension(f"{count} - 1"), count, "permutation")
        if found := SEGMENTS.fullmatch(text):
            order = SEGMENT_ORDERS[" ".join(found[1].split()).replace(" ..", "..")]
            return Structure("0", read_dimension(found[2]), count, order, each=int(found[3] or 0))
        if found := RANGE.fullmatch(text):
            high = f"{found['below']} - 1" if found["below"] else found["high"]
            low = read_dimension(found["low"] or "0")
            return Structure(low, read_dimension(high), count, ORDERS[found[1]], bool(found["absent"]))
    except SyntaxError:
        raise OracleError(f"{text!r}: no structure; write {USAGE}") from None
    return None
