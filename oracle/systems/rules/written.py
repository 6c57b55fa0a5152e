"""What the kernel wrote in one output, taken from there on as an exact number: docs/numerics.md#written-scale."""

import numpy as np

from kfuzz.oracle.numbers.masks import all_of
from kfuzz.oracle.systems.band_system import BandSystem
from kfuzz.oracle.systems.value import Quantity

INF = np.inf


def written(N: BandSystem, a: Quantity) -> Quantity:
    """The numbers that the kernel wrote for a; a's own set, as stored, where no answer is known.

    A number outside of a's set is accused there; what depends on it is then not judged, nor where a may be anything.
    """
    stored = N.store(a, N.formats.get(a.name, N.f))
    answer = N.answers.get(a.name)
    if answer is None:
        made = N.value(stored.lo, stored.hi, stored.nan, "written", a)
    else:
        got = N.E.convert(answer.reshape(a.shape))
        inside = np.asarray((got >= stored.lo) & (got <= stored.hi), dtype=np.bool_)
        inside &= np.asarray(N.E.is_finite(got), dtype=np.bool_) & np.asarray(stored.hi < INF, dtype=np.bool_)
        if all_of(inside):
            made = N.value(got, got, False, "written", a)
        else:
            lo, hi = np.where(inside, got, -INF), np.where(inside, got, INF)
            made = N.value(lo, hi, ~inside, "written", a)
    made.name = a.name
    return made
