"""Rows with special values: which are judged, and what is said of those that are not.

Knows the claim's words for special values; nothing of any op's formula.
"""

from dataclasses import dataclass

import numpy as np

from kfuzz.oracle.enclosure import Doubles, Mask
from kfuzz.oracle.verdict import Special


@dataclass(frozen=True)
class Rows:
    """One mask over the rows each: `plain` has a finite maximum and no NaN; `empty` is nothing but -inf, or nothing."""

    plain: Mask
    empty: Mask
    has_nan: Mask
    has_pos_inf: Mask
    judged: Mask
    reasons: tuple[str, ...]


def special_rows(x: Doubles, special: Special, pos_inf_claimed: bool = False) -> Rows:
    """The rows of x sorted by what special values they hold."""
    has_nan = np.asarray(np.isnan(x).any(axis=-1))
    has_pos_inf = np.asarray((x == np.inf).any(axis=-1))
    empty = np.asarray((x == -np.inf).all(axis=-1))
    plain = ~has_nan & ~has_pos_inf & ~empty
    judged = np.ones(x.shape[:-1], dtype=np.bool_)
    reasons = []
    for mask, claim, name in ((has_nan, special.nan, "NaN"), (has_pos_inf, special.pos_inf, "+inf")):
        claimed = claim is not None or (name == "+inf" and pos_inf_claimed)
        if not claimed and mask.any():
            judged &= ~mask
            reasons.append(f"{int(mask.sum())} rows with {name}: the claim does not speak of {name}")
    return Rows(plain, empty, has_nan, has_pos_inf, judged, tuple(reasons))
