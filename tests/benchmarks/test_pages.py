"""Each page of benchmarks is what its command writes from the data."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from paths import ROOT

from benchmarks.measurement import HERE, Block, Measurement, Page, as_json, parse, read, render, render_measurement

FOLDERS = sorted(path.parent.name for path in (ROOT / "benchmarks").glob("*/__main__.py"))
PRINTED = """\
# A title

Some words
in two lines.

| name | n |
|---|---:|
| `a` | 3 |
|  | 4 |

## Survivors, one by one

### Unexplained: 0

### Within the claim: 2

Two bits more are claimed.

- a:1, sum: `x` became `y`
- b:2, sum: `x` became `z`
"""


def page_of(folder: str) -> Page:
    page = import_module(f"benchmarks.{folder}.__main__").PAGE
    assert isinstance(page, Page)
    return page


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_page_is_written_from_its_data(folder: str) -> None:
    page = page_of(folder)
    assert page.path.read_text(encoding="utf-8") == render(page), f"write it again: python -m benchmarks.{folder}"


def test_there_are_five_pages() -> None:
    assert FOLDERS == ["claims", "cost", "detection", "speed", "tightness"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_all_data_is_on_the_page_and_every_row_is_whole(folder: str) -> None:
    page = page_of(folder)
    assert sorted(path.stem for path in (HERE / folder / "data").glob("*.json")) == sorted(
        section.name for section in page.sections
    )
    for section in page.sections:
        blocks = read(page.data(section.name)).blocks
        assert [row for block in blocks for row in block.rows if len(row) != len(block.columns)] == []
        assert (HERE / folder / f"{section.script}.py").is_file()


def test_a_changed_figure_changes_the_page() -> None:
    section, *_ = page_of("claims").sections
    made = read(page_of("claims").data(section.name))
    table = next(block for block in made.blocks if block.columns)
    first, *others = table.rows
    changed = replace(table, rows=((*first[:-1], "151 trials"), *others))
    blocks = tuple(changed if block == table else block for block in made.blocks)
    assert list(render_measurement(section, replace(made, blocks=blocks))) != list(render_measurement(section, made))


def test_what_a_script_prints_becomes_data_and_is_read_back(tmp_path: Path) -> None:
    blocks, survivors = parse(PRINTED)
    assert blocks == (
        Block(text="Some words\nin two lines."),
        Block(columns=("name", "n"), align=("left", "right"), rows=(("`a`", "3"), ("", "4"))),
    )
    assert [(one.standing, one.reason, len(one.mutants)) for one in survivors] == [
        ("within the claim", "Two bits more are claimed.", 2)
    ]
    made = Measurement("python -m benchmarks.claims measure proposals", "2026-11-23", "", "", blocks, survivors)
    path = tmp_path / "made.json"
    path.write_text(as_json(made), encoding="utf-8")
    assert read(path) == made
