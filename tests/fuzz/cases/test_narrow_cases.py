"""Arrays of narrow types in recipes, cases and their files: every code survives, and each type is named."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from kfuzz.cases import case_file
from kfuzz.cases.case import Case, Record, bits_in, case_of, element_in
from kfuzz.cases.errors import CaseError
from kfuzz.cases.recipe import GENERATOR, NARROW_GENERATOR, Band, Base, Edit, Recipe, bits_of, describe, value_of
from kfuzz.claims.grid_numbers import encode_numbers, ties_of
from kfuzz.oracle.numbers.elements import ELEMENTS, F32, element_of, values

NARROW = [name for name, one in ELEMENTS.items() if one.is_narrow]
NAN = float("nan")


def recipe_of(name: str, *bands: Band, rows: int = 1, cols: int = 8) -> Recipe:
    return Recipe(rows, cols, bands, element=name)


@pytest.mark.parametrize("name", NARROW)
def test_a_counter_gives_every_code_and_a_case_file_keeps_each(name: str, tmp_path: Path) -> None:
    count = 1 << element_of(name).bits
    array = recipe_of(name, Band(Base("counter")), cols=count).values
    assert bits_in(array).ravel().tolist() == list(range(count))
    case = case_of("softmax", {"x": array})
    case_file.write(tmp_path / "case.json", Record(case))
    assert case_file.read(tmp_path / "case.json").case == case


@pytest.mark.parametrize("name", NARROW)
def test_the_codes_of_noise_are_finite(name: str) -> None:
    found = values(recipe_of(name, Band(Base("codes", seed=7)), cols=4000).values)
    assert np.isfinite(found).all()
    assert len(np.unique(found)) == len(np.unique(element_of(name).numbers[np.isfinite(element_of(name).numbers)]))


def test_a_number_becomes_the_nearest_code_and_ties_go_to_even() -> None:
    numbers = np.array([1.0625, 1.1875, 464, 1e30, -np.inf, NAN, -0.0, 2.0**-10, 1.5 * 2.0**-9], np.float32)
    codes = bits_in(encode_numbers(numbers, ELEMENTS["e4m3"])).tolist()
    assert codes == [0x38, 0x3A, 0x7E, 0x7E, 0xFE, 0x7F, 0x80, 0, 2]
    assert bits_in(encode_numbers(np.array([2.5, -3.5, 200, NAN], np.float32), ELEMENTS["i8"])).tolist() == [
        2,
        252,
        127,
        0,
    ]


def test_a_large_array_is_kept_as_a_recipe_or_beside_the_file(tmp_path: Path) -> None:
    recipe = recipe_of("e5m2", Band(Base("codes", seed=3), (Edit(-1, -1, bits_of(NAN)),)), rows=3, cols=2000)
    for source in (recipe, recipe.values):
        case = case_of("softmax", {"x": source})
        case_file.write(tmp_path / "case.json", Record(case))
        assert case_file.read(tmp_path / "case.json").case == case
    assert NARROW_GENERATOR in case_file.encode(Record(case_of("softmax", {"x": recipe})))[0].decode()


def test_a_recipe_of_float32_without_new_kinds_keeps_its_old_name_and_keys() -> None:
    recipe = Recipe(3, 2000, (Band(Base("normal", 0, bits_of(1.0), 5)),))
    text = case_file.encode(Record(case_of("softmax", {"x": recipe})))[0].decode()
    assert GENERATOR in text
    assert "grid" not in text
    assert "element" not in text


def test_two_types_with_the_same_bits_are_two_cases() -> None:
    codes = np.arange(8, dtype=np.uint8).reshape(1, 8)
    cases = {case_of("softmax", {"x": codes.view(ELEMENTS[name].dtype)}) for name in ("e4m3", "e5m2", "i8", "u8")}
    assert len(cases) == 4


def test_a_case_shows_numbers_and_not_codes() -> None:
    array = np.array([[0x38, 0x38, 0x7F]], np.uint8).view(ELEMENTS["e4m3"].dtype)
    assert case_of("softmax", {"x": array}).show("x") == "1 x2, nan(7f)"
    assert describe(recipe_of("e4m3", Band(Base("codes", seed=2)))) == "codes(2); as e4m3"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"38"', '"3g"', "the 2 hex digits of a code of e4m3 are expected"),
        ('"e4m3"', '"e9m9"', "one of i8, u8, bool, i4"),
        ('"e4m3"', '"i4"', 'at most "0f"'),
        ('"38"', '"0038"', "the 2 hex digits"),
    ],
)
def test_a_wrong_code_or_type_in_a_file_is_one_clear_line(old: str, new: str, words: str, tmp_path: Path) -> None:
    array = np.array([[0x38, 0x7F]], np.uint8).view(ELEMENTS["e4m3"].dtype)
    text = case_file.encode(Record(case_of("softmax", {"x": array})))[0].decode()
    with pytest.raises(CaseError, match=words):
        case_file.decode(text.replace(old, new).encode(), tmp_path / "case.json")


def test_ties_are_numbers_of_the_grid_and_their_middles_moved_by_a_few_steps() -> None:
    scale = float(np.float32(0.37))
    row = Recipe(1, 4000, (Band(Base("ties", 0, bits_of(scale), 5, "e4m3")),)).values.ravel()
    exact = (ties_of("e4m3") * scale).astype(np.float32)
    nearest = exact[np.abs(exact[:, None] - row).argmin(axis=0)]
    steps = np.abs(row.view(np.int32).astype(np.int64) - nearest.view(np.int32))
    assert steps.max() == 8
    assert len(np.unique(nearest)) > 400


def test_groups_lie_far_apart() -> None:
    row = np.abs(Recipe(1, 640, (Band(Base("apart", 0, bits_of(1.0), 5, width=32)),)).values.reshape(20, 32))
    powers = np.log2(row.max(axis=1) / 2)
    assert np.abs(np.diff(powers)).min() > 4
    assert powers.max() - powers.min() > 15


FROZEN = {"codes": "429c999b2da2c4cf", "ties": "cd916b01892f0ef9", "apart": "412607cf1a53799c"}


@pytest.mark.parametrize("kind", FROZEN)
def test_the_new_kinds_are_frozen(kind: str) -> None:
    """A change of one bit of kfuzz-recipe/2 breaks case files in the hands of users: it needs a new name."""
    base = Base(kind, bits_of(0.7), bits_of(-3.5), 20261120, "e4m3" if kind == "ties" else "", 128)
    recipe = Recipe(
        3, 4000, (Band(base, (Edit(-1, -1, bits_of(12.0), "add"),)),), element="e5m2" if kind == "codes" else "f32"
    )
    assert hashlib.sha256(np.ascontiguousarray(recipe.values).tobytes()).hexdigest()[:16] == FROZEN[kind]


def test_only_float32_and_narrow_types_are_cases() -> None:
    with pytest.raises(CaseError, match="float32 is expected"):
        case_of("softmax", {"x": np.zeros((1, 2), np.float16)})
    assert element_in(np.zeros(1, np.float32)) is F32
    assert value_of(bits_of(1.5)) == 1.5
    assert Case("softmax", {}, {}).digest
