"""Recipes: the same bits everywhere and always, in words that a person can read."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kfuzz.cases.recipe import FIRST_KINDS, Band, Base, Edit, Recipe, bits_of, describe, materialise, mix, value_of

ONE = bits_of(1.0)
NEG_INF = bits_of(-np.inf)

bases = st.builds(
    Base, st.sampled_from(FIRST_KINDS), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)
)
edits = st.builds(
    Edit,
    st.integers(-12, 12),
    st.integers(-12, 12),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["set", "add"]),
    st.integers(1, 5),
)
bands = st.builds(Band, bases, st.lists(edits, max_size=8).map(tuple))
recipes = st.builds(Recipe, st.integers(0, 9), st.integers(0, 9), st.lists(bands, min_size=1, max_size=4).map(tuple))


def element(recipe: Recipe, row: int, col: int) -> int:
    """The definition, one element at a time in plain Python: what the vectorised form must agree with."""
    count = len(recipe.bands)
    band, turn = recipe.bands[row % count], row // count
    kind, offset, scale, seed, *_ = band.base
    if kind == "counter":
        bits = ((seed + turn * recipe.cols) % 2**32 + col) % 2**32
    elif kind == "constant":
        bits = offset
    else:
        z = mix(mix(seed, turn) if turn else seed, col)
        if kind == "bits":
            bits = z >> 32
        else:
            low = 2**16 - 1
            total = (z & low) + (z >> 16 & low) + (z >> 32 & low) + (z >> 48)
            pattern = {
                "ramp": float(col),
                "normal": (total - 131070) * (1.0 / 37837.0),
                "uniform": (z >> 40) / 2**24,
                "sign": 1.0 if z >> 63 else -1.0,
                "integer": float((z >> 60) - 8),
                "power": (1.0 if z >> 63 else -1.0) * 2.0 ** ((z >> 58 & 31) - 16),
            }[kind]
            with np.errstate(all="ignore"):
                bits = bits_or_nan(np.float32(pattern * value_of(scale) + value_of(offset)))
    for edit in band.edits:
        first = edit.first + recipe.cols if edit.first < 0 else edit.first
        last = edit.last + recipe.cols if edit.last < 0 else edit.last
        if first <= col <= last and (col - first) % edit.every == 0:
            with np.errstate(all="ignore"):
                value = np.uint32(bits).view(np.float32) + np.uint32(edit.bits).view(np.float32)
            bits = edit.bits if edit.op == "set" else bits_or_nan(value)
    return bits


def bits_or_nan(value: np.float32) -> int:
    return 0x7FC00000 if np.isnan(value) else int(value.view(np.uint32))


@pytest.mark.slow
@given(recipes)
def test_the_fast_form_is_the_definition(recipe: Recipe) -> None:
    got = materialise(recipe).view(np.uint32)
    for row, col in np.ndindex(got.shape):
        assert int(got[row, col]) == element(recipe, row, col)


@given(recipes, st.data())
@pytest.mark.slow
def test_picked_rows_keep_their_bits(recipe: Recipe, data: st.DataObject) -> None:
    if recipe.rows == 0:
        return
    rows = data.draw(st.lists(st.integers(0, recipe.rows - 1), min_size=1, max_size=6))
    whole = materialise(recipe).view(np.uint32)
    assert np.array_equal(materialise(recipe.pick(rows)).view(np.uint32), whole[rows])


@given(recipes, st.integers(0, 9))
@pytest.mark.slow
def test_a_shorter_row_without_edits_is_a_prefix(recipe: Recipe, cols: int) -> None:
    plain = Recipe(1, 9, (Band(recipe.bands[0].base),))
    short = Recipe(1, cols, plain.bands)
    assert np.array_equal(materialise(short).view(np.uint32), materialise(plain).view(np.uint32)[:, :cols])


FROZEN = {
    "constant": "29dc6a94cae87d0c",
    "ramp": "9cd2a5bb8117dd1d",
    "normal": "c54434c5fad241f2",
    "uniform": "f0b7668a8de050cb",
    "sign": "a935c72e4eaed43b",
    "integer": "594e549bc1c63969",
    "power": "963114ffa17adfcf",
    "bits": "8494db1c1e8ea759",
    "counter": "9ed88b0c75f46fd0",
}


@pytest.mark.parametrize("kind", FIRST_KINDS)
def test_the_generator_is_frozen(kind: str) -> None:
    """A change of one bit of kfuzz-recipe/1 breaks case files in the hands of users: it needs a new name."""
    edits = (Edit(-1, -1, bits_of(12.0), "add"), Edit(1, 5, NEG_INF, every=2))
    band = Band(Base(kind, bits_of(0.7), bits_of(-3.5), 20261120), edits)
    values = materialise(Recipe(3, 40_000, (band,)))
    assert hashlib.sha256(values.view("<u4").tobytes()).hexdigest()[:16] == FROZEN[kind]


def test_a_frozen_hash_would_notice_one_bit() -> None:
    one = materialise(Recipe(1, 100, (Band(Base("normal", 0, ONE, 1)),)))
    other = materialise(Recipe(1, 100, (Band(Base("normal", 0, ONE, 1), (Edit(7, 7, 1, "add"),)),)))
    other.view(np.uint32)[0, 99] ^= 1
    assert hashlib.sha256(one.tobytes()).hexdigest() != hashlib.sha256(other.tobytes()).hexdigest()


def test_normal_has_mean_zero_and_unit_variance() -> None:
    """Over 10^6 values the mean is within 5 standard errors of 0 and the variance within 1% of 1."""
    values = materialise(Recipe(1, 1_000_000, (Band(Base("normal", 0, ONE, 5)),))).astype(np.float64)
    assert abs(values.mean()) < 5e-3
    assert abs(values.var() - 1) < 1e-2
    assert abs(values).max() < 3.47


def test_rows_of_one_band_differ() -> None:
    values = materialise(Recipe(50, 8, (Band(Base("normal", 0, ONE, 5)),)))
    assert len({row.tobytes() for row in values}) == 50


def test_a_counter_numbers_every_element() -> None:
    values = materialise(Recipe(7, 11, (Band(Base("counter", seed=100)),))).view(np.uint32)
    assert values.ravel().tolist() == list(range(100, 177))


def test_a_set_keeps_the_payload_of_a_nan_and_the_sign_of_a_zero() -> None:
    band = Band(Base("constant", bits_of(-0.0)), (Edit(1, 1, 0x7F812345),))
    assert materialise(Recipe(1, 2, (band,))).view(np.uint32).tolist() == [[0x80000000, 0x7F812345]]


def test_limits_bound_what_is_finite() -> None:
    band = Band(Base("constant", bits_of(-500.0)), (Edit(0, 0, bits_of(500.0)), Edit(1, 1, NEG_INF)))
    recipe = Recipe(1, 3, (band,), (bits_of(-80.0), bits_of(80.0)))
    assert materialise(recipe).tolist() == [[80.0, -np.inf, -80.0]]


@pytest.mark.parametrize(
    ("band", "words"),
    [
        (Band(), "0"),
        (Band(Base("constant", NEG_INF)), "-inf"),
        (Band(Base("ramp", ONE, bits_of(0.5))), "1 + 0.5 * col"),
        (Band(Base("normal", ONE, ONE, 7), (Edit(-1, -1, ONE, "add"),)), "1 + 1 * normal(7), col -1 += 1"),
        (Band(Base(), (Edit(0, -1, NEG_INF, every=2),)), "0, cols 0..-1 step 2 = -inf"),
    ],
)  # fmt: skip
def test_a_recipe_reads_as_words(band: Band, words: str) -> None:
    assert describe(Recipe(1, 9, (band,))) == words
