"""A record of the report is made from objects by its annotations."""

from dataclasses import dataclass
from math import inf, nan
from pathlib import Path
from typing import Annotated, TypedDict

import pytest

from kfuzz.ui.reports.document import From, JsonNumber
from kfuzz.ui.reports.records import make_record


@dataclass(frozen=True)
class Point:
    place: tuple[int, ...]
    value: float


@dataclass(frozen=True)
class Outer:
    point: Point | None
    path: Path | None
    ratio: float | None = nan
    value: float = 7.0


class PointEntry(TypedDict):
    place: list[int]
    value: JsonNumber
    ratio: JsonNumber | None


class OuterEntry(TypedDict):
    file: Annotated[str | None, From("path")]
    point: PointEntry | None
    value: JsonNumber


class WithAnother(OuterEntry):
    colour: str


def test_a_field_is_the_attribute_of_its_name_or_of_its_from_as_json_has_it() -> None:
    made = make_record(OuterEntry, Outer(Point((1, 2), inf), Path("a/b.cu")))
    assert made == {"file": "a/b.cu", "point": {"place": [1, 2], "value": "inf", "ratio": "nan"}, "value": 7.0}
    assert list(made) == ["file", "point", "value"]
    assert make_record(OuterEntry, Outer(None, None)) == {"file": None, "point": None, "value": 7.0}


def test_the_first_object_that_has_a_field_gives_it() -> None:
    @dataclass(frozen=True)
    class First:
        value: float

    assert make_record(OuterEntry, First(1.0), Outer(None, None))["value"] == 1.0


def test_a_field_that_nothing_has_is_named() -> None:
    with pytest.raises(AttributeError, match="WithAnother: nothing that it is made from has colour"):
        make_record(WithAnother, Outer(None, None))
