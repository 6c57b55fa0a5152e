"""Each page of benchmarks is what its command writes from the data."""

import json
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from paths import ROOT

from benchmarks.measurement import (
    HERE,
    Figures,
    Measurement,
    Page,
    as_json,
    commit,
    read,
    records,
    render,
    render_section,
    write_json,
)
from benchmarks.page import FEW, LONG, largest, lines_of, long_table, table

FOLDERS = sorted(path.parent.name for path in (ROOT / "benchmarks").glob("*/__main__.py"))


def page_of(folder: str) -> Page:
    page = import_module(f"benchmarks.{folder}.__main__").PAGE
    assert isinstance(page, Page)
    return page


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_page_is_written_from_its_data(folder: str) -> None:
    page = page_of(folder)
    assert page.path.read_text(encoding="utf-8") == render(page), f"write it again: python -m benchmarks.{folder}"


def test_there_are_six_pages() -> None:
    assert FOLDERS == ["claims", "cost", "detection", "libraries", "speed", "tightness"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_all_data_is_on_the_page_and_each_section_has_its_script(folder: str) -> None:
    page = page_of(folder)
    data = {path.stem for path in (HERE / folder / "data").glob("*.json")}
    assert data <= {section.name for section in page.sections}
    notes = {path.stem for path in (HERE / folder / "data").glob("*.md")}
    assert notes <= {section.name for section in page.sections}
    for name in notes:
        assert page.data(name).with_suffix(".md").read_text(encoding="utf-8").strip() in render(page)
    for section in page.sections:
        assert "\ndef measure(" in (HERE / folder / f"{section.script}.py").read_text(encoding="utf-8")


def test_a_changed_figure_changes_the_page() -> None:
    page = page_of("cost")
    section = next(one for one in page.sections if one.name == "large_launches")
    made = read(page.data(section.name))
    first, *others = made.table("programs")
    changed = replace(made, figures=Figures({}, {"programs": [{**first, "whole": first["whole"] + 0.1}, *others]}))
    assert list(render_section("cost", section, changed)) != list(render_section("cost", section, made))


def test_a_page_has_the_rows_that_stand_out_and_the_command_all() -> None:
    every = range(LONG + 1)
    made = [*long_table("r", ("n",), every, lambda one: [one], [3, 5], "those that are odd", [("all",)])]
    table_of_all = [*table("r", ("n",), [*([one] for one in every), ("all",)])]
    assert [*lines_of(iter(made), "command", whole=True)] == table_of_all
    *table_of_few, words, empty = lines_of(iter(made), "command", whole=False)
    assert table_of_few == [*table("r", ("n",), [(3,), (5,), ("all",)])]
    assert (words, empty) == (f"Shown: 2 of {LONG + 1} rows, those that are odd. `command` prints all.", "")
    short = long_table("r", ("n",), every[:LONG], lambda one: [one], [3, 5], "those that are odd")
    assert [*lines_of(short, "command", whole=False)] == [*table("r", ("n",), ([one] for one in every[:LONG]))]
    assert list(largest(every, lambda one: -one)) == [*range(FEW)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_row_of_a_page_is_a_row_of_the_whole_section(folder: str) -> None:
    page = page_of(folder)
    for section in (one for one in page.sections if page.data(one.name).exists()):
        made = read(page.data(section.name))
        few, every = ([*render_section(folder, section, made, whole=whole)] for whole in (False, True))
        assert {line for line in few if line.startswith("|")} <= {*every}
        command = f"`python -m benchmarks.{folder} rows {section.name}`"
        assert (len(few) < len(every)) == (command in " ".join(few))
        assert command not in " ".join(every)


def test_a_command_prints_all_rows() -> None:
    command = [sys.executable, "-m", "benchmarks.cost", "rows", "check_speed"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    made = read(page_of("cost").data("check_speed"))
    assert [one["name"] for one in made.table("kernels") if f"| {one['name']} |" not in printed] == []
    assert any(f"| {one['name']} |" not in page_of("cost").path.read_text() for one in made.table("kernels"))


def test_a_measurement_is_written_and_read_back(tmp_path: Path) -> None:
    every = records([Figures({"a": 1}), Figures({"a": 2})])
    figures = Figures({"turns": 9, "names": ["x" * 50, "y" * 50]}, {"some": every, "none": []})
    made = Measurement("python -m benchmarks.cost measure x", "2026-11-23", "", "", figures, "A note.\n")
    path = tmp_path / "made.json"
    path.write_text(as_json(made), encoding="utf-8")
    path.with_suffix(".md").write_text("A note.\n", encoding="utf-8")
    assert read(path) == made


def test_changed_code_has_no_commit(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    (tmp_path / "fuzz").mkdir()
    code = tmp_path / "fuzz" / "code.py"
    code.write_text("1\n", encoding="utf-8")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    assert len(commit(tmp_path)) >= 7
    code.write_text("2\n", encoding="utf-8")
    commit.cache_clear()
    assert commit(tmp_path) == ""


def test_each_row_of_a_table_is_one_line_however_wide() -> None:
    wide = [{"name": "x" * 90, "counts": {"y" * 40: number}, "more": [*range(60)]} for number in range(3)]
    made = Measurement("", "", "", "", Figures({"a": "x" * 90, "b": {"y" * 80: 1}}, {"some": wide}))
    lines = [line.strip() for line in as_json(made).splitlines()]
    for row in wide:
        assert sum(line.rstrip(",") == json.dumps([*row.values()]) for line in lines) == 1
    assert f'"b": {json.dumps(made["b"])}' in lines
    assert len(lines) == 16


def test_what_lies_as_deep_as_asked_is_one_line_and_short_items_share_lines() -> None:
    value = {"a": {"b": ["x" * 60, {"c": "y" * 60}]}, "d": [*range(90)], "e": {}, "f": 1, "g": [1, [2, 3]]}
    for depth, number in enumerate((5, 11, 14, 14), 1):
        text = write_json(value, depth)
        assert json.loads(text) == value
        assert text.count("\n") == number


def test_a_row_of_too_few_cells_is_an_error() -> None:
    assert list(table("lr", ("a", "b"), [("x", 1)])) == ["| a | b |", "|---|---:|", "| x | 1 |", ""]
    with pytest.raises(ValueError, match="1 cells for 2 columns"):
        list(table("lr", ("a", "b"), [("x",)]))
    with pytest.raises(ValueError, match="3 letters for 2 columns"):
        list(table("lrr", ("a", "b"), []))


@pytest.mark.parametrize("path", sorted(HERE.glob("*/data/*.json")), ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_no_command_of_a_page_names_a_folder_of_a_machine(path: Path) -> None:
    command = json.loads(path.read_text(encoding="utf-8")).get("command", "")
    assert not [word for word in command.split() if word.startswith("/")]
