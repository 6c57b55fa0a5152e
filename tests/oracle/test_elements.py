"""Element types: each row agrees with exact fractions and with the libraries, and no other file spells out its name."""

import ast
import pickle
import re
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from paths import ROOT

from kfuzz.oracle.numbers.elements import (
    BF16,
    ELEMENTS,
    F16,
    F32,
    F64,
    FLOATS,
    FORMATS,
    TF32,
    Element,
    carrier_of,
    element_of_dtype,
    narrow,
    store,
    values,
    widen,
)

EACH = pytest.mark.parametrize("element", ELEMENTS.values(), ids=str)
WIDE = [one for one in FLOATS if not one.is_narrow]
EACH_FLOAT = pytest.mark.parametrize("element", WIDE, ids=str)
EACH_FORMAT = pytest.mark.parametrize("element", [*WIDE, TF32], ids=str)
EACH_NARROW = pytest.mark.parametrize("element", [one for one in ELEMENTS.values() if one.is_narrow], ids=str)
NAMES = (ELEMENTS.keys() | FORMATS.keys()) - {"bool"}  # a word of Python, and of C++
TABLE = ROOT / "oracle/numbers/elements.py"
PTX = ROOT / "fuzz/devices/cpu/ptx"
"""Its words are those of the PTX language, where "f16" is the type of a register: it knows no element types."""
SOURCES = [path for room in ("oracle", "fuzz") for path in sorted((ROOT / room).rglob("*.py"))]


def fraction_of(bits: int, element: Element) -> Fraction:
    """The number that the bits of a finite float stand for, as IEEE 754 defines it."""
    size = bits & ~(1 << (element.bits - 1))
    field, rest = divmod(size, 1 << (element.bits - 1 - element.exponent))
    bias = 2 ** (element.exponent - 1) - 1
    place = Fraction(1, 2 ** (element.bits - 1 - element.exponent))
    number = (1 + rest * place) * Fraction(2) ** (field - bias) if field else rest * place * Fraction(2) ** (1 - bias)
    return -number if bits != size else number


def some_bits(element: Element) -> list[int]:
    """Finite numbers of each sign: the ends of both ranges, and any."""
    top, least = element.infinity, 1 << (element.p - 1)
    draw = np.random.default_rng(1)
    sizes = [0, 1, 2, least - 1, least, least + 1, top - 1, element.one, *draw.integers(0, top, 200).tolist()]
    return [sign | size for size in sizes for sign in (0, element.sign_bit)]


@EACH
def test_a_row_agrees_with_numpy(element: Element) -> None:
    assert element.bytes == -(-element.bits // 8)
    assert element.is_float == (element.kind in ("float", "power"))
    if not element.is_native:
        assert element.dtype.kind == ("V" if element.is_narrow else "u")
        return
    assert element_of_dtype(np.dtype(element.library)) is element
    kinds = {"float": "f", "signed": "i", "unsigned": "u" if element.bits > 1 else "b"}
    assert element.dtype.kind == kinds[element.kind]
    if element.is_float:
        facts = np.finfo(element.dtype)
        assert (element.p, element.least) == (facts.nmant + 1, facts.minexp)
        assert (element.max, element.min_normal) == (float(facts.max), float(facts.smallest_normal))
        assert element.tiny == max(float(facts.smallest_subnormal) / 2, 5e-324)
        unsigned = np.dtype(f"<u{element.bytes}")
        special = np.array([1, np.inf, -0.0], element.dtype).view(unsigned).tolist()
        assert special == [element.one, element.infinity, element.sign_bit]
        assert np.isnan(np.array(element.nan, unsigned).view(element.dtype))
    elif element.bits > 1:
        limits = np.iinfo(element.dtype)
        assert (element.least_integer, element.largest_integer) == (limits.min, limits.max)


@EACH_FORMAT
def test_the_derived_facts_are_those_of_exact_fractions(element: Element) -> None:
    assert fraction_of(element.one, element) == 1
    assert fraction_of(element.infinity - 1, element) == Fraction(element.max)
    assert fraction_of(1 << (element.p - 1), element) == Fraction(element.min_normal)
    if element is not F64:  # half of its smallest denormal is no double
        assert fraction_of(1, element) == 2 * Fraction(element.tiny)
    assert fraction_of(element.one + 1, element) == 1 + 2 * Fraction(element.u)


@EACH_FLOAT
def test_an_array_holds_the_numbers_that_its_bits_stand_for(element: Element) -> None:
    bits = some_bits(element)
    array = np.array(bits, np.uint64).astype(f"<u{element.bytes}").view(element.dtype)
    assert [Fraction(one) for one in values(array).tolist()] == [fraction_of(one, element) for one in bits]
    assert store(values(array), element).tobytes() == array.tobytes()
    assert narrow(widen(array, element), element).tobytes() == array.tobytes()


@EACH_FLOAT
def test_a_signalling_nan_becomes_a_quiet_one_without_a_warning(element: Element) -> None:
    array = np.array([element.infinity | 1, element.infinity | 2], f"<u{element.bytes}").view(element.dtype)
    assert np.isnan(values(array)).all()


@EACH_FLOAT
def test_infinities_and_nans_are_stored_as_such(element: Element) -> None:
    special = store(np.array([np.inf, -np.inf, np.nan]), element)
    bits = special.view(f"<u{element.bytes}").tolist()
    assert bits[:2] == [element.infinity, element.sign_bit | element.infinity]
    assert bits[2] & (element.sign_bit - 1) == element.nan
    assert np.isnan(values(special)[2])


@pytest.mark.parametrize("element", [F32, F16, BF16, TF32], ids=str)
def test_rounding_gives_the_nearest_number_and_of_two_the_even_one(element: Element) -> None:
    for size in [*(bits for bits in some_bits(element) if bits < element.infinity - 1), 0, 1]:
        low, high = (fraction_of(bits, element) for bits in (size, size + 1))
        middle = (low + high) / 2
        beside = [float(middle), np.nextafter(float(middle), 0), np.nextafter(float(middle), np.inf)]
        rounded = [Fraction(one) for one in element.round(np.array(beside)).tolist()]
        assert Fraction(beside[0]) == middle
        assert rounded == [high if size % 2 else low, low, high]
        assert [Fraction(one) for one in element.truncate(np.array(beside)).tolist()] == [low, low, low]


@EACH
def test_a_library_that_has_the_type_agrees(element: Element) -> None:
    if element.is_native:
        return
    library = pytest.importorskip("ml_dtypes")
    kind = np.dtype(getattr(library, element.library))
    assert element_of_dtype(kind) is element
    assert kind.itemsize == element.bytes
    bits = np.arange(1 << element.bits, dtype=f"<u{element.bytes}").view(element.dtype)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        np.testing.assert_array_equal(values(bits), bits.view(kind).astype(np.float64))
    assert float((library.finfo if element.is_float else library.iinfo)(kind).max) == element.max


@EACH
def test_torch_has_the_type_under_the_name_of_the_row(element: Element) -> None:
    torch = pytest.importorskip("torch")
    if element.torch:
        assert getattr(torch, element.library).itemsize == element.bytes


def test_torch_numbers_are_those_of_the_header() -> None:
    text = (ROOT / "fuzz/cuda_on_cpu/host/torch/include/kfuzz_torch/elements.h").read_text(encoding="utf-8")
    listed = {cpp: int(number) for cpp, number in re.findall(r"X\(\w+, ([\w:]+), (\d+), \w+\)", text)}
    rows = {one.torch.cpp: one.torch.number for one in ELEMENTS.values() if one.torch}
    assert {cpp: number for cpp, number in rows.items() if cpp in listed}.items() <= listed.items()
    assert {cpp for cpp in rows if cpp not in listed} <= {one for one in rows if one.startswith("c10::Float8")}


def test_no_fact_tells_two_types_apart_that_must_differ() -> None:
    every = list(ELEMENTS.values())
    assert len({one.library for one in every}) == len(every)
    assert len({one.dtype for one in FLOATS}) == len(FLOATS), "an array of floats is known by its dtype"
    spelled = [name for one in every for name in one.c_types]
    assert len(set(spelled)) == len(spelled)
    assert len({one.dtype for one in every}) == len(every)
    assert all(carrier_of(one).is_native for one in FLOATS if not one.is_narrow)


# The narrow types: each code, and the facts that a table of all codes shows

FACTS = {  # s e m and bias, largest, least above 0, codes that are NaN, codes that are infinite
    "e4m3": (4, 3, 7, 448, Fraction(1, 2**9), {0x7F, 0xFF}, set()),
    "e5m2": (5, 2, 15, 57344, Fraction(1, 2**16), {0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF}, {0x7C, 0xFC}),
    "e4m3fnuz": (4, 3, 8, 240, Fraction(1, 2**10), {0x80}, set()),
    "e5m2fnuz": (5, 2, 16, 57344, Fraction(1, 2**17), {0x80}, set()),
    "e8m0": (8, 0, 127, 2**127, Fraction(1, 2**127), {0xFF}, set()),
    "e2m3": (2, 3, 1, Fraction(15, 2), Fraction(1, 8), set(), set()),
    "e3m2": (3, 2, 3, 28, Fraction(1, 16), set(), set()),
    "e2m1": (2, 1, 1, 6, Fraction(1, 2), set(), set()),
}


def number_of(code: int, name: str) -> Fraction:
    """The number of a finite code, by its fields."""
    exponent, fraction, bias, *_ = FACTS[name]
    sign, field, rest = code >> (exponent + fraction), code >> fraction & (1 << exponent) - 1, code % (1 << fraction)
    whole = field > 0 or name == "e8m0"
    size = (whole + Fraction(rest, 1 << fraction)) * Fraction(2) ** (max(field, not whole) - bias)
    return -size if sign else size


@EACH_NARROW
def test_each_code_has_its_number(element: Element) -> None:
    if not element.is_float:
        least = -(1 << element.bits - 1) if element.kind == "signed" else 0
        wanted = [(code - least) % (1 << element.bits) + least for code in range(1 << element.bits)]
        assert element.numbers.tolist() == wanted
        return
    *_, nans, infinite = FACTS[element.name]
    for code, number in enumerate(element.numbers.tolist()):
        if code in nans or code in infinite:
            assert np.isnan(number) if code in nans else abs(number) == np.inf
        else:
            assert Fraction(number) == number_of(code, element.name)


@EACH_NARROW
def test_the_largest_the_least_and_the_bits_of_one_are_those_of_the_codes(element: Element) -> None:
    finite = element.numbers[np.isfinite(element.numbers)]
    assert element.max == finite.max()
    assert element.numbers[element.one] == 1
    if element.is_float:
        *_, largest, least, nans, infinite = FACTS[element.name]
        assert (Fraction(element.max), Fraction(float(finite[finite > 0].min()))) == (largest, least)
        assert 2 * Fraction(element.tiny) == least
        assert (element.nan in nans) if nans else element.nan is None
        assert element.has_infinity == bool(infinite)
        assert element.numbers[element.infinity - 1] == element.max


@EACH_NARROW
def test_an_array_of_codes_knows_its_type(element: Element) -> None:
    codes = np.arange(1 << element.bits, dtype=np.uint8)
    array = codes.astype(element.dtype) if element.bits == 1 else codes.view(element.dtype)
    np.testing.assert_array_equal(values(array), element.numbers)
    np.testing.assert_array_equal(values(array.reshape(2, -1)[:, ::-1].T), element.numbers.reshape(2, -1)[:, ::-1].T)
    again = values(store(values(array), element))
    np.testing.assert_array_equal(again, element.numbers)
    np.testing.assert_array_equal(np.signbit(again), np.signbit(element.numbers) & ~np.isnan(again))


@pytest.mark.parametrize("element", [*ELEMENTS.values(), TF32], ids=str)
def test_a_row_is_the_same_object_in_every_process(element: Element) -> None:
    assert pickle.loads(pickle.dumps(element)) is element  # noqa: S301  written one line above
    assert str(element) == element.name


QUOTED = re.compile(f"""(["'])(?:{"|".join(map(re.escape, sorted(NAMES)))})\\1""")


def names_in(text: str) -> Iterator[str]:
    """The names of element types that a Python file spells out, each with its line."""
    if not QUOTED.search(text):
        return  # most files: to parse them all takes seconds
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and node.value in NAMES:
            yield f"{node.lineno}: {node.value}"


def test_no_other_file_spells_out_the_name_of_an_element_type() -> None:
    found = {
        path: list(names_in(path.read_text(encoding="utf-8")))
        for path in SOURCES
        if path != TABLE and PTX not in path.parents
    }
    assert {str(path.relative_to(ROOT)): names for path, names in found.items() if names} == {}
    assert list(names_in(TABLE.read_text(encoding="utf-8")))


def test_the_names_in_ptx_are_words_of_ptx() -> None:
    texts = [path.read_text(encoding="utf-8") for path in PTX.rglob("*.py")]
    assert any(list(names_in(text)) for text in texts)
    assert not any("oracle.numbers.elements" in text for text in texts)


def test_a_literal_name_of_an_element_type_fails_the_check() -> None:
    planted = 'def is_half(array: Array) -> bool:\n    """Of f16."""\n    return array.element.name == "f16"\n'
    assert list(names_in(planted)) == ["3: f16"]
    assert list(names_in(planted.replace('name == "f16"', "bits == 16"))) == []
