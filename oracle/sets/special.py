"""Infinities and NaN among the inputs: which elements are judged, and why others are not."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.enclosure import Doubles, Mask
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.masks import any_of
from kfuzz.oracle.numbers.verdict import NanRow, Reason, Special, Why
from kfuzz.oracle.op.independence import independent_dimensions
from kfuzz.oracle.op.op import NamedReals, Op

NOT_IGNORED = "a NaN cannot be left out of this op; only maxima and places leave it out, as fmaxf does"


def words_for_nan(op: Op) -> tuple[NanRow, ...]:
    """What a kernel of this op may do with NaN: only some ops leave it out, and only formulas say where it goes on."""
    is_known = {"ignore": op.ignores_nan, "propagate": not op.gives_sets}
    return tuple(word for word in get_args(NanRow) if is_known.get(word, True))


def check_special(op: Op, special: Special) -> None:
    """Raise an error if a claim ignores NaN and the op has no answer for a row without its NaNs."""
    if special.nan is not None and special.nan not in words_for_nan(op):
        raise OracleError(f"{op.name}: nan={special.nan!r}: expected {' or '.join(words_for_nan(op))}: {NOT_IGNORED}")


@dataclass(frozen=True)
class Rows:
    """Masks over the rows. `plain`: a finite maximum and no NaN; `empty`: only -inf, or no elements."""

    plain: Mask
    empty: Mask
    has_nan: Mask
    has_pos_inf: Mask
    judged: Mask
    reasons: tuple[Reason, ...]


def special_rows(x: Doubles, special: Special, pos_inf_claimed: bool = False) -> Rows:
    """Classify the rows of x by the special values that they contain."""
    has_nan = np.asarray(np.isnan(x).any(axis=-1))
    has_pos_inf = np.asarray((x == np.inf).any(axis=-1))
    empty = np.asarray((x == -np.inf).all(axis=-1))
    plain = ~has_nan & ~has_pos_inf & ~empty
    judged = np.ones(x.shape[:-1], dtype=np.bool_)
    reasons = []
    claimed = (special.nan is not None, special.pos_inf is not None or pos_inf_claimed)
    for mask, is_claimed, why in zip((has_nan, has_pos_inf), claimed, (Why.NAN, Why.POS_INF), strict=True):
        if not is_claimed and mask.any():
            judged &= ~mask
            reasons.append(Reason(why, int(mask.sum())))
    return Rows(plain, empty, has_nan, has_pos_inf, judged, tuple(reasons))


def claimed_elements(
    op: Op, inputs: NamedReals, special: Special, name: str, shape: tuple[int, ...]
) -> tuple[Mask, tuple[Reason, ...], Mask]:
    """The elements of an output that the claim covers, the reasons why others are not judged, and which must be NaN."""
    judged, must = np.ones(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    reasons: tuple[Reason, ...] = ()
    if all(np.isfinite(array).all() for role, array in inputs.items() if op.inputs[role].is_float):
        return judged, reasons, must
    for test, word, why in (
        (np.isnan, special.nan or op.special.get("nan"), Why.NAN),
        (np.isposinf, special.pos_inf or op.special.get("pos_inf"), Why.POS_INF),
        (np.isneginf, None if op.is_gradient else "ieee", Why.NEG_INF),
    ):
        rows = elements_reached(op, inputs, name, test, shape)
        if not any_of(rows):
            continue
        if word is None:
            judged &= ~rows
            dimensions, apart = op.outputs[name].dimensions, independent_dimensions(op)[name]
            in_a_row = int(np.prod([n for d, n in zip(dimensions, shape, strict=True) if d not in apart]))
            reasons += (Reason(why, int(rows.sum()) // max(in_a_row, 1)),)
        elif word == "row":
            must |= rows
    return judged, reasons, must


def elements_reached(
    op: Op, inputs: NamedReals, name: str, test: Callable[[Reals], Mask], shape: tuple[int, ...]
) -> Mask:
    """The elements of an output that a special value may reach: those at its index along independent dimensions."""
    dimensions, apart = op.outputs[name].dimensions, independent_dimensions(op)[name]
    reached = np.zeros(shape, dtype=np.bool_)
    for role, array in inputs.items():
        if not op.inputs[role].is_float or not any_of(mask := test(array)):
            continue
        own = op.inputs[role].dimensions
        kept = [d for d in own if d in apart]
        mask = np.asarray(mask.any(axis=tuple(axis for axis, d in enumerate(own) if d not in apart)))
        order = np.transpose(mask, np.argsort([dimensions.index(d) for d in kept])) if kept else mask
        reached |= order.reshape([n if d in kept else 1 for d, n in zip(dimensions, shape, strict=True)])
    return reached
