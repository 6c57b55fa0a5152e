"""A case as a line: the same case comes back, and a damaged line is one clear sentence."""

import base64
import zlib

import numpy as np
import pytest

from kfuzz.cases.case import Origin, Record, case_of
from kfuzz.cases.case_line import LONGEST, MOST_BYTES, PREFIX, as_line, record_of
from kfuzz.cases.errors import CaseError
from kfuzz.cases.recipe import Band, Base, Recipe

ORIGIN = Origin("mine", "mine: special, 0/0", "special", "y[0] is nan", "cpu", {"threads": 32})


def small(values: list[float]) -> Record:
    return Record(case_of("softmax", {"x": np.float32([values])}), ORIGIN)


def test_a_line_gives_the_same_case_to_the_bit() -> None:
    record = small([-np.inf, 1.5, -0.0])
    line = as_line(record)
    assert line is not None
    assert record_of(line).case.digest == record.case.digest
    assert record_of(line).origin == ORIGIN


def test_a_recipe_is_a_line_however_large_its_array_is() -> None:
    recipe = Recipe(70, 100, (Band(Base("normal", 0, 0x3F800000, 7)),))
    record = Record(case_of("softmax", {"x": recipe}), ORIGIN)
    line = as_line(record)
    assert line is not None
    assert record_of(line).case.digest == record.case.digest


def test_what_would_be_long_is_no_line() -> None:
    rng = np.random.default_rng(0)
    assert as_line(Record(case_of("softmax", {"x": rng.random((1, 400), np.float32)}), ORIGIN)) is None
    assert len(as_line(small([1.0])) or "") <= LONGEST


@pytest.mark.parametrize("cut", [1, 7, 60])
def test_a_line_that_is_cut_is_an_error(cut: int) -> None:
    with pytest.raises(CaseError, match=r"paste the whole line|JSON"):
        record_of((as_line(small([1.0])) or "")[:-cut])


def test_a_line_that_unpacks_without_end_is_refused() -> None:
    bomb = base64.urlsafe_b64encode(zlib.compress(bytes(MOST_BYTES + 1), 9)).decode()
    with pytest.raises(CaseError, match="more than"):
        record_of(PREFIX + bomb)
