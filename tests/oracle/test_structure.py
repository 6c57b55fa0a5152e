"""Integers with a structure: any numbers become such integers, and those that are such already stay as they are."""

from types import ModuleType
from typing import Literal

import numpy as np
import pytest

from kfuzz.oracle import judge
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.op import read_op
from kfuzz.oracle.op.structure import Structure, read_structure

SIZES = {"rows": 7, "slots": 9, "total": 12, "page": 4, "n": 5, "batch": 4, "most": 3}
TEXTS = {
    "< rows or -1": ("n", [0, -1, 6, 6, -1]), "0..rows": ("n", [7, 0, 7, 1, 2]), "1..page": ("n", [1, 4, 4, 2, 1]),
    "0..most * page": ("n", [0, 12, 1, 12, 5]), "sorted < rows": ("n", [0, 0, 3, 6, 6]),
    "distinct < slots": ("n", [8, 0, 3, 1, 2]), "distinct < slots or -1": ("n", [8, -1, 3, -1, 2]),
    "permutation": ("n", [4, 0, 3, 1, 2]), "rises 0..total": ("batch + 1", [0, 0, 3, 12, 12]),
    "rises 0..total by 1": ("batch + 1", [0, 1, 3, 11, 12]), "rises to total": ("batch", [0, 5, 5, 12]),
    "adds up to total": ("batch", [0, 12, 0, 0]), "adds up to total by 2": ("batch", [2, 6, 2, 2]),
}  # fmt: skip


def structure_of(text: str) -> Structure:
    found = read_structure(text, TEXTS[text][0])
    assert found is not None
    return found


@pytest.mark.parametrize("text", TEXTS)
def test_any_numbers_become_integers_of_the_structure(text: str) -> None:
    structure, rng = structure_of(text), np.random.default_rng(0)
    count = len(TEXTS[text][1])
    odd = np.array([np.nan, -np.inf, np.inf, -3e38, 0.4][:count], np.float32)
    for numbers in (odd, np.zeros((3, count)), *(rng.normal(0, 9, (2, count)) for _ in range(50))):
        made = structure.arrange(numbers, SIZES)
        assert made.shape == numbers.shape
        assert structure.has(made, SIZES)


@pytest.mark.parametrize("text", TEXTS)
def test_integers_that_have_the_structure_stay(text: str) -> None:
    given = np.array(TEXTS[text][1])
    assert structure_of(text).arrange(given, SIZES).tolist() == given.tolist()


@pytest.mark.parametrize("text", TEXTS)
def test_a_structure_is_written_as_it_is_read(text: str) -> None:
    assert str(structure_of(text)) == text


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("< rows or -1", [0, -2, 6, 6, -1]), ("1..page", [0, 1, 1, 1, 1]), ("sorted < rows", [0, 3, 2, 6, 6]),
        ("distinct < slots", [8, 0, 3, 3, 2]), ("permutation", [5, 0, 3, 1, 2]), ("rises 0..total", [0, 0, 3, 12, 11]),
        ("rises 0..total", [1, 1, 3, 12, 12]), ("rises 0..total by 1", [0, 3, 3, 11, 12]),
        ("adds up to total", [0, 12, 1, 0]), ("rises to total", [0, 5, 5, 11]),
    ],
)  # fmt: skip
def test_others_do_not_have_it(text: str, wrong: list[int]) -> None:
    assert not structure_of(text).has(np.array(wrong), SIZES)


def test_an_op_refuses_what_it_forbids() -> None:
    x, y = np.ones((3, 1), np.float32), np.array([[2], [1]], np.float32)
    assert judge("segment_sum", {"x": x, "offsets": np.array([0, 2, 3])}, {"y": y}).status == "kept"
    with pytest.raises(OracleError, match=r"offsets.*expected rises 0\.\.total"):
        judge("segment_sum", {"x": x, "offsets": np.array([0, 2, 2])}, {"y": y})
    with pytest.raises(OracleError, match="expected 1 <= batch"):
        judge("segment_sum", {"x": x, "offsets": np.array([0])}, {"y": y[:0]})


@pytest.mark.parametrize(
    ("role", "said"),
    [
        ("float[n] < rows", "only integers have a structure"), ("int[n] rising", "only integers have a structure"),
        ("int[n] distinct < many", "'many' of 'distinct < many' is no dimension"),
    ],
)  # fmt: skip
def test_a_role_says_what_is_wrong_with_it(role: str, said: str) -> None:
    module = ModuleType("mine")
    module.INPUTS, module.OUTPUTS = {"x": "float[n]", "i": role}, {"y": "float[n]"}  # type: ignore[attr-defined]
    module.formula = lambda N, x, i: x  # type: ignore[attr-defined]
    with pytest.raises(OracleError, match=said):
        read_op("mine", module)


def test_rows_of_segments_with_nothing_but_minus_infinity_are_as_the_claim_says() -> None:
    x, offsets = np.array([-np.inf, -np.inf, 0, 0], np.float32), np.array([0, 2, 2, 4])
    half = {value: np.array([value, value, 0.5, 0.5], np.float32) for value in (np.nan, 0.0)}
    words: tuple[tuple[Literal["nan", "zero"], float, float], ...] = (("nan", np.nan, 0.0), ("zero", 0.0, np.nan))
    for word, value, other in words:
        special = Special(all_neg_inf=word)
        given = {"x": x, "offsets": offsets}
        assert judge("segment_softmax", given, {"y": half[value]}, special=special).status == "kept"
        assert judge("segment_softmax", given, {"y": half[other]}, special=special).status == "broken"
