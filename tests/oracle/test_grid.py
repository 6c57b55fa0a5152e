"""Rounding to a narrow type's grid agrees with exact fractions, with the facts of each type, and with ml_dtypes."""

from bisect import bisect_right
from fractions import Fraction

import numpy as np
import pytest

from kfuzz.oracle.numbers.elements import ELEMENTS, F32, Element
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.grid import NAN, Direction, grid_of

EACH = pytest.mark.parametrize("element", [one for one in ELEMENTS.values() if one.is_narrow], ids=str)
DIRECTIONS: tuple[Direction, ...] = ("even", "away", "zero", "down", "up")


def element(name: str) -> Element:
    return ELEMENTS[name]


def place_by_fractions(x: Fraction, numbers: list[Fraction], even: list[bool], direction: Direction) -> int:
    """The place that a number rounds to, by comparing fractions."""
    if x <= numbers[0] or x >= numbers[-1]:
        return 0 if x <= numbers[0] else len(numbers) - 1
    low = bisect_right(numbers, x) - 1
    if numbers[low] == x:
        return low
    off = (x - numbers[low]) - (numbers[low + 1] - x)
    tie_up = {"even": not even[low], "away": x > 0}.get(direction, False)
    goes_up = {"down": False, "up": True, "zero": x < 0}.get(direction, off > 0 or (off == 0 and tie_up))
    return low + goes_up


@EACH
def test_every_tie_and_both_its_neighbours_round_as_fractions_say(element: Element) -> None:
    grid = grid_of(element)
    ends = np.concatenate([grid.numbers, grid.middles])
    x = np.concatenate([ends, np.nextafter(ends, np.inf), np.nextafter(ends, -np.inf), grid.numbers[[0, -1]] * 1.1])
    numbers, even = [Fraction(one) for one in grid.numbers.tolist()], grid.is_even.tolist()
    for direction in DIRECTIONS:
        wanted = [place_by_fractions(Fraction(one), numbers, even, direction) for one in x.tolist()]
        assert grid.places(x, direction).tolist() == wanted, direction
    assert grid.places(x.astype(np.longdouble), direction).tolist() == wanted


@EACH
def test_a_place_has_all_codes_of_its_number(element: Element) -> None:
    grid = grid_of(element)
    codes = np.arange(len(element.numbers))
    places = grid.places_of(codes)
    np.testing.assert_array_equal(places == NAN, ~np.isfinite(element.numbers))
    np.testing.assert_array_equal(grid.numbers[places[places != NAN]], element.numbers[places != NAN])
    assert sum(len(grid.codes_of(number)) for number in grid.numbers.tolist()) == int((places != NAN).sum())


@pytest.mark.parametrize(
    ("name", "x", "finite", "nan"),
    [
        ("e4m3", 464.0, 448, 448), ("e4m3", 464.00001, 448, np.nan), ("e4m3", -1e30, -448, np.nan),
        ("e4m3", np.inf, 448, np.nan), ("e4m3", 1.0625, 1, 1), ("e4m3", 2**-10 * 1.01, 2**-9, 2**-9),
        ("e5m2", 61440.0, 57344, np.inf), ("e5m2", 61439.9, 57344, 57344), ("e5m2", -np.inf, -57344, -np.inf),
        ("e4m3fnuz", 248.0, 240, np.nan), ("e4m3fnuz", 247.9, 240, 240),
        ("e2m1", 7.5, 6, 6), ("e2m1", -np.inf, -6, -6), ("e2m3", 1e9, 7.5, 7.5), ("e3m2", 5.25, 5, 5),
        ("e8m0", 1.5, 2, 2), ("e8m0", 3.0, 4, 4), ("e8m0", 0.0, 2**-127, 2**-127), ("e8m0", 2.0**128, 2**127, np.nan),
        ("i8", 127.5, 127, np.nan), ("i8", -128.5, -128, -128), ("i8", -128.6, -128, np.nan), ("i8", 2.5, 2, 2),
        ("u4", -0.5, 0, 0), ("u4", -0.6, 0, np.nan), ("u8", 255.4, 255, 255),
    ],
)  # fmt: skip
def test_beyond_the_largest_a_number_saturates_or_is_none(name: str, x: float, finite: float, nan: float) -> None:
    grid = grid_of(element(name))
    np.testing.assert_array_equal(grid.round(np.array([x])), [finite])
    np.testing.assert_array_equal(grid.round(np.array([x]), "even", "nan"), [nan])


def test_an_integer_may_wrap_around_and_a_float_may_not() -> None:
    i8 = grid_of(element("i8"))
    x = np.array([200.0, -129.0, 2.5, -2.5, 300.9, np.inf, np.nan])
    assert i8.round(x, "zero", "wrap").tolist() == [-56, 127, 2, -2, 44, 0, 0]
    assert i8.round(x, "away", "wrap").tolist() == [-56, 127, 3, -3, 45, 0, 0]
    with pytest.raises(OracleError, match="e4m3 does not wrap around"):
        grid_of(element("e4m3")).round(x, "even", "wrap")


def test_a_symmetric_grid_has_no_least_integer() -> None:
    assert grid_of(element("i8"), symmetric=True).numbers[0] == -127
    assert grid_of(element("i8")).numbers[0] == -128


def test_a_wide_type_has_no_grid() -> None:
    with pytest.raises(OracleError, match="no grid"):
        grid_of(F32)


@EACH
def test_ml_dtypes_rounds_a_float32_alike(element: Element) -> None:
    library = pytest.importorskip("ml_dtypes")
    if element.is_native or not element.is_float or element.kind == "power":
        return
    grid, rng = grid_of(element), np.random.default_rng(1)
    middles = grid.middles.astype(np.float32)
    beside = [np.nextafter(middles, np.float32(end)) for end in (-np.inf, np.inf)]
    x = np.concatenate([middles, *beside, rng.uniform(-1.02, 1.02, 20000).astype(np.float32) * np.float32(element.max)])
    with np.errstate(invalid="ignore"):
        theirs = x.astype(getattr(library, element.library)).astype(np.float64)
    np.testing.assert_array_equal(grid.round(x.astype(np.float64), "even", "nan"), theirs)
    np.testing.assert_array_equal(element.round(x.astype(np.float64)), theirs)


def test_a_double_just_above_a_tie_is_not_rounded_by_way_of_float32() -> None:
    """A cast by way of float32 is wrong here, as those of ml_dtypes before 0.7 are, and so is a table made by it."""
    grid = grid_of(element("e4m3"))
    x = np.nextafter(grid.middles, np.inf)
    wrong = grid.round(x.astype(np.float32).astype(np.float64)) != grid.round(x)
    assert wrong.sum() > 60
    assert np.all(grid.round(x) == grid.numbers[1:])
