"""Inputs without infinities and NaNs, for arrays in which the maker of a problem's inputs never has one.

Knows recipes, element types and what a reference promises; it knows no op.
"""

from dataclasses import replace

import numpy as np

from kfuzz.cases.case import Values
from kfuzz.cases.recipe import Band, Recipe, bits_of
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.references.running import inputs_always_finite
from kfuzz.oracle.numbers.elements import Element


def promised_finite(kernel: Kernel) -> tuple[str, ...]:
    """The inputs in which the maker of a problem's inputs never has an infinity or NaN, and the claim says nothing of
    these.

    max(x, 0) by fmaxf is right, and gives 0 for a NaN where torch.relu gives NaN. If the claim says what becomes of
    them, they count.
    """
    special = kernel.special
    if kernel.reference is None or special.nan or special.pos_inf or special.all_neg_inf:
        return ()
    return inputs_always_finite(kernel.op)


def with_finite_numbers(made: Recipe | Values, element: Element) -> Recipe | Values:
    """The same numbers, with the largest ones of the array's type for infinities and 0 for NaNs.

    Sums of a recipe may be infinite, too, and a number that is finite as float32 in 16 bits: then they are no recipe.
    """
    if isinstance(made, Recipe):
        made = replace(made, bands=tuple(_finite_band(band, element) for band in made.bands))
    values = made.values if isinstance(made, Recipe) else made
    finite = np.clip(np.nan_to_num(values, nan=0.0), -element.max, element.max).astype(values.dtype)
    return made if np.array_equal(finite, values) else finite


def _finite_band(band: Band, element: Element) -> Band:
    base = band.base._replace(offset=_finite_bits(band.base.offset, element))
    return Band(base, tuple(edit._replace(bits=_finite_bits(edit.bits, element)) for edit in band.edits))


def _finite_bits(bits: int, element: Element) -> int:
    number = float(np.uint32(bits).view(np.float32))
    if np.isfinite(number):
        return bits
    return bits_of(0.0 if np.isnan(number) else np.copysign(element.max, number))
