"""Answers that are places: the right indices, and the right values, of the greatest elements of a row.

Comparisons are exact, so no set here is an interval: an index is right or wrong. Knows ranks and ties, but no op.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from flint import arb

from kfuzz.oracle.numbers.elements import F32, values
from kfuzz.oracle.numbers.enclosure import Bounds, Doubles, Enclosure, Floats, Index, Mask
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.numbers.verdict import Reason, Special, Ties, Why
from kfuzz.oracle.sets.special import special_rows


@dataclass(frozen=True)
class Ranking:
    """The k greatest elements of every row, in the order that the claim gives.

    `x`: the row's elements; `key`: the numbers by which they are compared. `low`: elements that a flushed comparison
    takes for zero. `order`: the places by rank, with ties as claimed.
    """

    x: Doubles
    key: Doubles
    low: Mask
    order: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    k: int
    ties: Ties
    judged: Mask
    reasons: tuple[Reason, ...]

    @classmethod
    def from_input(
        cls, op: str, given: Floats, k: int | None, special: Special, ftz: bool, of_negative: bool = False
    ) -> "Ranking":
        """Rank the elements of every row, or those with the opposite sign; all of them if no k is given."""
        x = -values(given) if of_negative else values(given)
        cols = x.shape[1]
        if not cols:
            raise OracleError(f"{op}: inputs['x'].shape={x.shape}: an empty row has no maximum; claim cols >= 1")
        rows = special_rows(x, special, pos_inf_claimed=True)
        k = cols if k is None else k
        key = keys(x, special)
        low = (np.abs(x) < F32.min_normal) & (ftz and given.dtype != np.float64)
        order = order_places(key, special.ties)[:, :k]
        judged = np.broadcast_to(rows.judged[:, None], (len(x), k)) & (np.arange(k) < cols)
        reasons = rows.reasons
        if k > cols:
            reasons += (Reason(Why.NO_SUCH_RANK, len(x) * (k - cols)),)
            order = np.concatenate([order, np.zeros((len(x), k - cols), dtype=np.int64)], axis=1)
        return cls(x, key, low, order, k, special.ties, judged, reasons)

    @classmethod
    def ascending(cls, op: str, given: Floats, special: Special, ftz: bool) -> "Ranking":
        """Rank all elements of every row, the least first: the opposite order, in which ties come the other way."""
        ties: Ties = {"first": "last", "last": "first"}.get(special.ties, "any")  # type: ignore[assignment]  # a Ties
        ranking = cls.from_input(op, given, None, replace(special, ties=ties), ftz)
        return replace(ranking, order=ranking.order[:, ::-1])

    @property
    def top(self) -> Doubles:
        """The value of each rank."""
        return np.take_along_axis(self.x, self.order, axis=1)

    @property
    def may_be_low(self) -> Mask:
        """The ranks at which a flushed comparison sees a zero: any element that counts as zero may have this rank."""
        return np.take_along_axis(self.low, self.order, axis=1)


def keys(x: Doubles, special: Special) -> Doubles:
    """The numbers by which elements are compared: themselves or, beside a NaN, ranks.

    NaN ranks above all, or under "ignore" below all.
    """
    nan = np.isnan(x)
    if not any_of(nan):
        return x
    ranks = np.unique(x, return_inverse=True)[1].reshape(x.shape).astype(np.float64)
    return np.where(nan, -1.0, ranks) if special.nan == "ignore" else ranks


def order_places(key: Doubles, ties: Ties) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The places of each row by rank, the greatest element first; ties by the first place, or by the last."""
    if ties != "last":
        return np.argsort(-key, axis=1, kind="stable")
    return np.asarray(key.shape[1] - 1 - np.argsort(-key[:, ::-1], axis=1, kind="stable"))


def enclose_values(ranking: Ranking) -> Enclosure:
    """Enclose the value of each rank; where denormals may be flushed, any that counts as equal, or zero."""
    top, low = ranking.top, ranking.may_be_low
    flushed = np.where(ranking.low, ranking.x, 0.0)
    least = np.where(low, flushed.min(axis=1, keepdims=True, initial=0.0), top)
    most = np.where(low, flushed.max(axis=1, keepdims=True, initial=0.0), top)
    none = np.zeros(top.shape)

    def exact(index: Index, bits: int) -> Bounds:
        return Bounds(*(arb(float(array[index])) for array in (least, top, most)))

    return Enclosure(top, least, most, ranking.judged, none, none, exact, None, ranking.reasons)


def enclose_places(ranking: Ranking, of_rows: bool = False) -> Enclosure:
    """Enclose the right places of each rank; lo and hi are the least and the greatest of them."""
    want = ranking.order.astype(np.float64)
    judged, none = ranking.judged, np.zeros(want.shape)
    parts = (want, *_ends(ranking, want), judged, none, none)
    holds = partial(right_places, ranking)
    if of_rows:
        parts = tuple(part[:, 0] for part in parts)  # type: ignore[assignment]
        holds = partial(_right_place_by_row, ranking)
    return Enclosure(*parts, _refuse_balls, None, ranking.reasons, holds=holds)


def _ends(ranking: Ranking, want: Doubles) -> tuple[Doubles, Doubles]:
    """The first and the last place of the elements that equal each rank's, where the claim leaves ties open."""
    if ranking.ties != "any":
        return want, want
    sought = np.take_along_axis(ranking.key, ranking.order, axis=1)
    least, most = want.copy(), want.copy()
    for row, key in enumerate(ranking.key):
        first, last = (order_places(key[None], ties)[0] for ties in ("first", "last"))
        begin = len(key) - np.searchsorted(key[first][::-1], sought[row], side="right")
        least[row], most[row] = first[begin], last[begin]
    return least, most


def _refuse_balls(index: Index, bits: int) -> Bounds:
    raise AssertionError(f"places at {index} are never in doubt")


def _right_place_by_row(ranking: Ranking, got: Doubles) -> Mask:
    return right_places(ranking, got[:, None])[:, 0]


def right_places(ranking: Ranking, got: Doubles) -> Mask:
    """Which places of an answer are right: the element there has the rank's value, and no place is named twice."""
    cols = ranking.x.shape[1]
    inside = (got >= 0) & (got < cols) & (got == np.floor(got))
    place = np.where(inside, got, 0).astype(np.int64)
    sought = np.take_along_axis(ranking.key, ranking.order, axis=1)
    same = np.take_along_axis(ranking.key, place, axis=1) == sought
    if ranking.ties != "any":
        same = place == ranking.order
    same |= ranking.may_be_low & np.take_along_axis(ranking.low, place, axis=1)
    return np.asarray(inside & same & ~_is_repeated(np.where(inside, got, -1.0 - np.arange(got.shape[1]))))


def _is_repeated(got: Doubles) -> Mask:
    """Elements of a row that are equal to an earlier one."""
    order = np.argsort(got, axis=1, kind="stable")
    sorted_ = np.take_along_axis(got, order, axis=1)
    again = np.zeros(got.shape, dtype=np.bool_)
    np.put_along_axis(again, order[:, 1:], sorted_[:, 1:] == sorted_[:, :-1], axis=1)
    return again
