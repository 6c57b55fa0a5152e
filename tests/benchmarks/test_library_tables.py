"""The page of the library functions counts each result once, and shows what was wrong with its program."""

from dataclasses import replace

import pytest

from benchmarks.libraries import functions
from benchmarks.libraries.__main__ import PAGE
from benchmarks.libraries.judge import claims_of
from benchmarks.libraries.judging import Result
from benchmarks.libraries.programs import SECTIONS, outputs, programs_of
from benchmarks.libraries.sections.judge import not_reached
from benchmarks.libraries.tables import SHOWN, Results, page, program_entries
from benchmarks.measurement import read
from benchmarks.page import lines_of

NUMPY = [one for one in functions.library("numpy").functions() if one.element == "f16"]
LOST = Result(
    "broken", "special", 3, 9, 1.0, 0.0, "lost", float("inf"), "1000.0", float("inf"), "x = [1000.0]",
    ("import numpy as np", "x = np.array([[1000.0]], np.float16)", "print(float((np.linalg.norm(x, axis=-1))[0]))"),
)  # fmt: skip
KEPT = Result("kept", "", 5, 5, 1.0, 0.25)


def of(name: str) -> functions.Function:
    return next(one for one in NUMPY if one.name == name)


def text_of(results: Results, device: str = "cpu", *, whole: bool = True) -> str:
    return "\n".join(lines_of(page(results, device, lambda _: "2.0"), "print all", whole=whole))


def test_a_lost_answer_is_a_defect_with_its_exact_value_and_its_program() -> None:
    results = {of("l2_norm"): LOST, of("mean"): KEPT, of("tanh"): Result("not judged", "why not")}
    text = text_of(results)
    assert "1 defects of 1 functions in 1 libraries" in text
    assert "| numpy 2.0 | `np.linalg.norm(x, axis=-1)` | f16 | x = [1000.0] | inf | 1000.0 | lost | - |" in text
    assert "\n".join(LOST.program) in text
    assert "| numpy | `np.mean(x, axis=-1)` | 0.25 |" in text
    assert "| 1 | why not |" in text
    assert "1 were tried and not judged" in text
    assert f"{len(list(NUMPY[0].of.left_out()))} were not tried" in text
    assert [one["prints"] for one in program_entries(results, lambda _: "2.0")] == ["inf"]


def test_the_page_shows_the_first_programs_and_names_the_command_for_all() -> None:
    every = dict.fromkeys(NUMPY[: SHOWN + 2], LOST)
    assert text_of(every, "gpu").count("print(float(") == SHOWN
    assert "`python -m benchmarks.libraries.programs --device gpu`" in text_of(every, "gpu")
    assert len(program_entries(every, lambda _: "2.0")) == SHOWN + 2


def test_the_page_has_the_gravest_defect_of_each_library_and_the_command_has_all() -> None:
    every = {one: replace(LOST, grade="off", units=2.0 + place) for place, one in enumerate(NUMPY)}
    *others, gravest = (f"`{one.call}` | f16 | x = [1000.0] |" for one in every)
    short, whole = text_of(every, whole=False), text_of(every)
    assert gravest in short
    assert f"Shown: 1 of {len(every)} rows, the gravest of each library. `print all` prints all." in short
    assert [one for one in others if one in short or one not in whole] == []
    assert "`print all`" not in whole


@pytest.mark.parametrize("device", [*SECTIONS])
def test_each_defect_with_a_program_is_run(device: str) -> None:
    made = read(PAGE.data(SECTIONS[device]))
    shown = [row for row in made.table("results") if row["status"] == "broken" and row["program"]]
    entries = programs_of(made)
    assert entries
    assert {(one["library"], one["key"]) for one in entries} <= {(one["library"], one["key"]) for one in shown}
    assert all(one["version"] == made["versions"][one["package"]] for one in entries)


def test_a_program_that_prints_something_else_is_reported() -> None:
    entry = {"program": ["x = 1.5", "print(x)"]}
    assert outputs([entry, {"program": ["print(1 / 0)"]}]) == ["1.5", "ZeroDivisionError('division by zero')"]


def test_an_error_that_the_documentation_allows_is_listed_and_one_unit_is_no_defect() -> None:
    documented = text_of({of("std"): LOST})
    assert "the documentation allows 1 of them" in documented
    assert "allowed: numpy.std, Notes" in documented
    assert "| numpy 2.0 | 1 | numpy.std, Notes | For floating-point input, the standard deviation" in documented
    near = text_of({of("l2_norm"): replace(LOST, grade="nearest", units=0.7)})
    assert "0 defects" in near
    assert "1 one unit off" in near
    assert "1 unit |" in near


def test_a_second_computation_that_is_missing_makes_no_defect() -> None:
    assert "0 defects" in text_of({of("l2_norm"): replace(LOST, exact="")})


def test_a_sentence_about_a_type_allows_no_answer_in_another() -> None:
    sentence = functions.Documented("types float32 and float64", "norm, Args", ("l2_norm",), types=("f16",))
    assert sentence.allows("l2_norm", "f16", is_infinite=False)
    assert not sentence.allows("l2_norm", "f32", is_infinite=False)
    assert not sentence.allows("mean", "f16", is_infinite=False)


def test_pairs_of_the_list_without_a_result_are_counted_by_library() -> None:
    every = {one: KEPT for name in functions.libraries() for one in claims_of(name, "cpu") if one.library != "numpy"}
    (line, blank) = not_reached({**every, NUMPY[0]: KEPT}, "cpu")
    count = len(list(claims_of("numpy", "cpu"))) - 1
    assert line == f"{count} more pairs of the list have no result: {count} of numpy."
    assert blank == ""
    assert not list(not_reached(dict.fromkeys([*every, *claims_of("numpy", "cpu")], KEPT), "cpu"))
