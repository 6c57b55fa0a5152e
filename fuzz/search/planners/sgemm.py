"""The inputs of sgemm: two matrices that are made for each other."""

from collections.abc import Mapping

from kfuzz.cases.recipe import Band, Base, Edit, Recipe, bits_of, mix
from kfuzz.claims.kernel import Shape
from kfuzz.search.choose import Choose, one_of, seldom
from kfuzz.search.edges import columns
from kfuzz.search.families import NAN, NEG_INF, POS_INF
from kfuzz.search.large import MANY
from kfuzz.search.rows import MOST_BANDS
from kfuzz.search.sizes import Ground


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Two matrices made for each other; special values at single places."""
    (m, k), n = wanted["a"], wanted["b"][1]
    form, seed = choose(0, len(PRODUCTS) - 1), choose(0, 0xFFFF)
    is_large = max(m, n, k) > MANY
    a, b = (Band(base._replace(seed=seed + side)) for side, base in enumerate(PRODUCTS[PLAIN if is_large else form]))
    bands_a, bands_b = [a], [b]
    if is_large:  # no two rows alike, and what lies beyond 16 bits counts most: what wraps there must not go under
        beyond = Edit(MANY, -1, bits_of(1e4), "add")
        return {"a": Recipe(m, k, (a._replace(edits=(beyond,)),)), "b": Recipe(k, n, (b,))}
    if form == 0:  # a shifted identity: the product is rows of b, each element numbered
        size = max(1, min(m, MOST_BANDS))
        bands_a = [Band(Base(), (Edit(i % max(k, 1), i % max(k, 1), bits_of(1.0)),)) for i in range(size)]
    elif seldom(choose, 2):  # one k counts more than all the others
        where = one_of(choose, columns(k, ground.widths) or (0,))
        bands_a = [a._replace(edits=(Edit(where, where, bits_of(1e4)),))]
    if seldom(choose, 4):
        bits = one_of(choose, (POS_INF, NEG_INF, NAN, 0))
        side, length, rows = ((bands_a, k, m), (bands_b, n, k))[choose(0, 1)]
        where = one_of(choose, columns(length, ground.widths) or (0,))
        first = side[0]
        odd = first._replace(edits=(*first.edits, Edit(where, where, bits)))
        others = max(0, min(rows, MOST_BANDS) - len(side))
        plain = [band._replace(base=band.base._replace(seed=mix(seed, i))) for i, band in enumerate(side[:1] * others)]
        side[:] = [odd, *side[1:], *plain]
        if side is bands_b and choose(0, 1):  # 0 times infinity is NaN, which who leaves out zeros never finds
            first = bands_a[0]
            bands_a[0] = first._replace(edits=(*first.edits, Edit(0, 0, 0)))
    return {"a": Recipe(m, k, tuple(bands_a)), "b": Recipe(k, n, tuple(bands_b))}


def _pattern(kind: str, offset: float = 0.0, scale: float = 1.0) -> Base:
    return Base(kind, bits_of(offset), bits_of(scale))  # type: ignore[arg-type]  # the kinds are written out below


PRODUCTS: tuple[tuple[Base, Base], ...] = (
    (_pattern("constant"), _pattern("ramp", 1.0)),
    (_pattern("integer"), _pattern("integer")),
    (_pattern("normal"), _pattern("normal")),
    (_pattern("constant", 1.0), _pattern("power")),
    (_pattern("sign", 0.1, 1e6), _pattern("uniform", 1.0, 1e-3)),
    (_pattern("power"), _pattern("power")),
    (_pattern("normal", 0.0, 1e15), _pattern("normal", 0.0, 1e15)),
    (_pattern("normal", 0.0, 1e-22), _pattern("normal", 0.0, 1e-20)),
    (_pattern("uniform", 1.0), _pattern("uniform", 1.0)),
    (_pattern("normal", 0.0, 1e-38), _pattern("normal")),
)
"""Pairs of patterns: exact ones first, so that any difference shows; then cancelling, large, denormal ones."""
PLAIN = 2
