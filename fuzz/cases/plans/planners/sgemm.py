"""The inputs of sgemm: two matrices that are made for each other."""

from collections.abc import Mapping, Sequence

from kfuzz.cases.plans.choose import Choose, once_in, one_of
from kfuzz.cases.plans.edges import columns
from kfuzz.cases.plans.families import NAN, NEG_INF, POS_INF
from kfuzz.cases.plans.rows import MOST_BANDS
from kfuzz.cases.plans.scale import MANY
from kfuzz.cases.plans.sizes import Ground
from kfuzz.cases.recipe import MAX_EDITS, Band, Base, Edit, Recipe, bits_of, mix
from kfuzz.oracle.numbers.layout import Shape


def recipes(ground: Ground, wanted: Mapping[str, Shape], choose: Choose) -> dict[str, Recipe]:
    """Two matrices made for each other; special values at single places."""
    return products(ground, (*wanted["a"], wanted["b"][1]), choose, PRODUCTS)  # type: ignore[arg-type]  # m, k, n


def products(
    ground: Ground, sizes: tuple[int, int, int], choose: Choose, patterns: Sequence[tuple[Base, Base]]
) -> dict[str, Recipe]:
    """The matrices for m, k and n, by some of the patterns, which include the first three of PRODUCTS."""
    m, k, n = sizes
    form, seed = choose(0, len(patterns) - 1), choose(0, 0xFFFF)
    is_large = max(m, n, k) > MANY
    a, b = (Band(base._replace(seed=seed + side)) for side, base in enumerate(patterns[PLAIN if is_large else form]))
    bands_a, bands_b = [a], [b]
    if is_large:  # no two rows alike, and elements beyond 16 bits count most, so that an index that wraps shows
        beyond = Edit(MANY, -1, bits_of(1e4), "add")
        return {"a": Recipe(m, k, (a._replace(edits=(beyond,)),)), "b": Recipe(k, n, (b,))}
    if form == 0:  # a shifted identity: the product is rows of b, each element numbered
        size = max(1, min(m, MOST_BANDS))
        bands_a = [Band(Base(), (Edit(i % max(k, 1), i % max(k, 1), bits_of(1.0)),)) for i in range(size)]
    elif once_in(choose, 2):  # one k counts more than all the others
        where = one_of(choose, columns(k, ground.widths) or (0,))
        bands_a = [a._replace(edits=(Edit(where, where, bits_of(1e4)),))]
    if once_in(choose, 3):
        bits, side = one_of(choose, SPECIAL), choose(0, 2)
        places = special_places(ground, (m, n, k), mix(seed, 0), 1 if bits in (0, NAN) else PLACES)
        if side != 1:
            bands_a = put_special(bands_a, m, [(row, step) for step, row, _ in places], bits, seed)
        if side != 0:
            bands_b = put_special(bands_b, k, [(step, col) for step, _, col in places], bits, seed)
        if side and choose(0, 1):  # 0 times infinity is NaN, which a kernel that skips zeros misses
            step = places[0][0]
            bands_a[0] = bands_a[0]._replace(edits=(*bands_a[0].edits, Edit(step, step, 0))[-MAX_EDITS:])
    return {"a": Recipe(m, k, tuple(bands_a)), "b": Recipe(k, n, tuple(bands_b))}


def special_places(ground: Ground, sizes: tuple[int, int, int], bits: int, count: int) -> list[tuple[int, int, int]]:
    """So many (step along k, row of a, column of b), no two in one row or column if there are enough.

    Each step is where a tile of some width ends or begins, or where the last one, which may be ragged, would still show
    what the tile before it held: 0 in the padding of one matrix times an infinity left in the other is NaN.
    """
    m, n, k = sizes
    widths = [width for width in ground.widths if width < k] or [1]
    found = []
    for number in range(count):
        own = mix(bits, number)
        width, any_step = widths[own % len(widths)], (own >> 16) % max(k, 1)
        steps = (k - 1, k - width, k - k % width - 1, k - k % width, any_step)
        step = min(max(steps[(own >> 8) % len(steps)], 0), max(k - 1, 0))
        found.append((step, (number + (own >> 32)) % max(m, 1), (number + (own >> 48)) % max(n, 1)))
    return found


def put_special(bands: list[Band], rows: int, places: list[tuple[int, int]], bits: int, seed: int) -> list[Band]:
    """The bands of a matrix, one for each row up to MOST_BANDS, with special values at these places."""
    size = max(1, min(rows, MOST_BANDS))
    made = [bands[row % len(bands)] for row in range(size)]
    if len(bands) == 1:
        made = [band._replace(base=band.base._replace(seed=mix(seed, row))) for row, band in enumerate(made)]
    for row, col in places:
        band = made[row % size]
        made[row % size] = band._replace(edits=(*band.edits, Edit(col, col, bits))[-MAX_EDITS:])
    return made


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
SPECIAL = (POS_INF, NEG_INF, POS_INF, NAN, NEG_INF, 0)
"""Mostly infinities: NaN spreads through every product, and hides errors."""
PLACES = 4
