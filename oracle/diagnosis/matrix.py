"""Describe the error in a wrong matrix: sgemm and transpose."""

from collections.abc import Callable, Mapping

import numpy as np

from kfuzz.oracle.accuracy.rounding import U
from kfuzz.oracle.numbers.elements import BF16, F16, F32
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure, Floats, Index, Mask
from kfuzz.oracle.numbers.label import Diagnosis
from kfuzz.oracle.numbers.plural import plural


def diagnose(
    inputs: Mapping[str, Floats], output: str, got: Doubles, enclosure: Enclosure, wrong: Mask, worst: Index
) -> Diagnosis:
    """Compare the wrong elements with the other elements and with the inputs."""
    want = enclosure.want
    if not enclosure.bits and (~np.isfinite(got[worst]) or ~np.isfinite(want[worst])):
        label = "number where NaN belongs" if np.isnan(want[worst]) else "not finite"
        return Diagnosis(label, f"{got[worst]:g} where {want[worst]:g} belongs")
    if enclosure.bits and (passed := _find_changed_bits(got[wrong], want[wrong])) is not None:
        return passed
    if (got[wrong] == 0).all():
        return Diagnosis(
            "all zero" if (got == 0).all() else "zero elements", f"0 in {plural(int(wrong.sum()), 'element')}"
        )
    moved = _find_move(got, want, wrong)
    if moved is not None:
        return moved
    return (
        Diagnosis("wrong elements", plural(int(wrong.sum()), "element"))
        if enclosure.bits
        else _product(inputs, got, enclosure, worst)
    )


def _find_changed_bits(got: Doubles, want: Doubles) -> Diagnosis | None:
    """Bit patterns that were treated as numbers on their way."""
    have, right = (bits.astype(np.uint32).view(np.float32) for bits in (got, want))
    if ((have == right) | (np.isnan(have) & np.isnan(right))).all():
        return Diagnosis("same value, other bits", f"arithmetic changed {plural(len(got), 'element')}, NaN or 0")
    if ((have == 0) & (np.abs(right) < F32.min_normal)).all():
        return Diagnosis("flush to zero", f"0 in place of {plural(len(got), 'denormal element')}")
    return None


def _find_move(got: Doubles, want: Doubles, wrong: Mask) -> Diagnosis | None:
    if _same(got[wrong], want.T.reshape(want.shape)[wrong]):
        return Diagnosis("permuted", "laid out as its transpose")
    for down, right in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        if _same(got[wrong], np.roll(want, (-down, -right), (0, 1))[wrong]):
            return Diagnosis("permuted", f"elements hold the answer {down:+d} rows and {right:+d} columns away")
    return None


def _same(a: Doubles, b: Doubles) -> bool:
    """Whether they are equal up to rounding, and not merely because all are one value."""
    if len(a) < 2 or len(np.unique(b)) < 2 or not np.isfinite(b).all():
        return False
    return bool((np.abs(a - b) <= 2.0**-20 * np.abs(b)).all())


def _product(inputs: Mapping[str, Floats], got: Doubles, enclosure: Enclosure, worst: Index) -> Diagnosis:
    row, column = inputs["a"][worst[0]].astype(np.float64), inputs["b"][:, worst[1]].astype(np.float64)
    terms, off = row * column, got[worst] - enclosure.want[worst]
    width = enclosure.hi[worst] - enclosure.lo[worst] + 4 * U * abs(enclosure.want[worst])
    for name, bits in (("tf32 or fp16", F16.p), (BF16.name, BF16.p)):
        for done, to in (("rounded", np.round), ("cut off", np.trunc)):
            narrow = float(_round(row, bits, to) @ _round(column, bits, to))
            if abs(got[worst] - narrow) <= width < abs(off):
                return Diagnosis(f"{name} inputs", f"the inputs were {done} to {bits} bits")
    for sign, label in ((-1, "dropped element"), (1, "counted twice")):
        fits = np.flatnonzero(np.abs(off - sign * terms) <= width)
        if len(fits) and abs(off) > 2 * width:
            return Diagnosis(label, f"off by {sign} times the product at k = {int(fits[-1])}")
    return Diagnosis("wrong elements", f"off by {off:.9g}")


def _round(x: Doubles, bits: int, to: Callable[[Doubles], Doubles]) -> Doubles:
    mantissa, exponent = np.frexp(x)
    return np.asarray(np.ldexp(to(np.ldexp(mantissa, bits)), exponent - bits))
