"""Measurements as data, and the page of a folder that is written from them.

    python -m benchmarks.FOLDER                          write the page of the folder, README.md, from data/*.json
    python -m benchmarks.FOLDER measure NAME [OPTIONS]   run the script of a section and write data/NAME.json first
    python -m benchmarks.FOLDER try NAME [OPTIONS]       run it, and print the section alone; nothing is written
    python -m benchmarks.FOLDER rows NAME                print the section, from the data, with all rows of its tables

A script has `measure(options) -> Figures`: numbers and tables of records, without words. `sections/SCRIPT.py` has
`show(measurement) -> Blocks`: what the page says about them. `data/NAME.md` are a person's notes about a measurement.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.page import Lines, anchor_of, lines_of
from kfuzz.common.text.json_lines import write_document

HERE = Path(__file__).parent
Record = dict[str, Any]
"""A row of a table, by the names of its columns."""


@dataclass(frozen=True)
class Figures:
    """What a script measures: numbers by name, and tables of records; and the machine, if it was not this one."""

    numbers: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, Sequence[Record]] = field(default_factory=dict)
    machine: str = ""


@dataclass(frozen=True)
class Measurement:
    """The figures of one command, with the day and the machine; `commit` is empty if it is not known."""

    command: str
    date: str
    commit: str
    machine: str
    figures: Figures
    notes: str = ""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  a number, a text or a list of them
        return self.figures.numbers[name]

    def table(self, name: str) -> Sequence[Record]:
        return self.figures.tables[name]

    def note(self) -> Lines:
        """The notes, line by line."""
        if self.notes:
            yield from (*self.notes.rstrip("\n").split("\n"), "")


@dataclass(frozen=True)
class Section:
    """A part of a page: its data file, its heading, the script that measures it, and the usual options."""

    name: str
    title: str
    script: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    """The page of a folder."""

    folder: str
    title: str
    intro: str
    sections: tuple[Section, ...]

    def data(self, name: str) -> Path:
        return HERE / self.folder / "data" / f"{name}.json"

    @property
    def path(self) -> Path:
        return HERE / self.folder / "README.md"


def records(made: Iterable[object]) -> list[Record]:
    """The fields of dataclasses."""
    return [{one.name: getattr(each, one.name) for one in fields(each)} for each in made]  # type: ignore[arg-type]


def main(page: Page) -> None:
    """Write the page, after a measurement if the command line asks for one."""
    words = sys.argv[1:]
    by_name = {section.name: section for section in page.sections}
    if words[:1] in (["measure"], ["try"], ["rows"]) and words[1:2] and words[1] in by_name:
        section = by_name[words[1]]
        if words[0] == "rows":
            print("\n".join(render_section(page.folder, section, read(page.data(section.name)), whole=True)))
            return
        made = measure(page.folder, section, tuple(words[2:]))
        if words[0] == "try":
            print("\n".join(render_section(page.folder, section, made, whole=True)))
            return
        page.data(section.name).write_text(as_json(made), encoding="utf-8")
        if (notes := page.data(section.name).with_suffix(".md")).exists():
            print(f"{notes} is about the measurement before: read it again", file=sys.stderr)
    elif words:
        names = "|".join(by_name)
        raise SystemExit(f"usage: python -m benchmarks.{page.folder} [rows|measure|try {names} [OPTIONS]]")
    page.path.write_text(render(page), encoding="utf-8")


def measure(folder: str, section: Section, options: tuple[str, ...]) -> Measurement:
    """Run the script of a section."""
    asked = options or section.options
    return describe(folder, section.name, asked, import_module(f"benchmarks.{folder}.{section.script}").measure(asked))


def describe(folder: str, name: str, options: Sequence[str], figures: Figures) -> Measurement:
    """The figures of a section with the command that measured them here and today."""
    shown = (Path(one).name if one.startswith("/") else one for one in options)  # a page names no folder of a machine
    words = " ".join((f"python -m benchmarks.{folder} measure {name}", *shown))
    return Measurement(words, f"{datetime.now(UTC):%Y-%m-%d}", commit(), figures.machine or machine(), figures)


@cache
def commit(folder: Path = HERE) -> str:
    """The commit that is checked out; empty if the code that is measured differs from it, as a copied tree may."""
    compared = ["git", "diff", "--quiet", "HEAD", "--", ":/fuzz", ":/oracle", ":/kernels"]
    if subprocess.run(compared, cwd=folder, capture_output=True, check=False).returncode:
        return ""
    asked = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=False).stdout.strip()


@cache
def machine() -> str:
    """The processor, its cores, and the GPU if there is one."""
    words = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    try:
        asked = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        return f"{words}, {subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()[0]}"
    except (OSError, subprocess.CalledProcessError, IndexError):
        return words


RECORDS_OF_TABLES = 4
"""How deep the records lie in a data file: in its tables, in one of them, in its rows."""


def as_json(made: Measurement) -> str:
    """The text of the data file, without empty fields; a record of a table is one line, its columns are named once."""
    tables = {
        name: {"columns": list(rows[0]) if rows else [], "rows": [list(row.values()) for row in rows]}
        for name, rows in made.figures.tables.items()
    }
    kept = asdict(made)
    del kept["figures"], kept["notes"]
    kept |= {"numbers": dict(made.figures.numbers), "tables": tables}
    return write_json({name: value for name, value in kept.items() if value}, RECORDS_OF_TABLES)


def write_json(document: Mapping[str, Any], depth: int = 1) -> str:
    """The text of a data file; what lies `depth` deep is one line."""
    return write_document(document, partial(json.dumps, ensure_ascii=False), depth)


def read(path: Path) -> Measurement:
    """Read a data file, and the notes beside it."""
    notes = path.with_suffix(".md")
    kept = json.loads(path.read_text(encoding="utf-8"))
    tables = {
        name: [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        for name, table in kept.get("tables", {}).items()
    }
    return Measurement(
        kept["command"], kept["date"], kept.get("commit", ""), kept.get("machine", ""),
        Figures(kept.get("numbers", {}), tables), notes.read_text(encoding="utf-8") if notes.exists() else "",
    )  # fmt: skip


def results_so_far(part: Path, of_page: Mapping[str, Any], *, missing: bool) -> Mapping[str, Any]:
    """The results that a measurement need not repeat: those of an interrupted run, or else those of the page."""
    if not missing:
        return {}
    kept: Mapping[str, Any] = json.loads(part.read_text(encoding="utf-8")) if part.exists() else of_page
    return kept


def measure_parts(
    arguments: Sequence[str], doc: str | None, parts: Sequence[str], data: Path, results: dict[str, Any],
    measure: Callable[[str, Path, Mapping[str, Any]], Any], figures: Callable[[dict[str, Any]], Figures],
) -> Figures:  # fmt: skip
    """Measure the parts that the command line names; `results` has those of the page, which the others keep.

    `measure` writes its results to a file as it goes; --missing goes on from there.
    """

    def known_part(word: str) -> str:
        if word not in parts:
            raise argparse.ArgumentTypeError(f"{word!r}: expected one of {', '.join(parts)}")
        return word

    words = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("parts", nargs="*", type=known_part, metavar="PART", help=f"one of {', '.join(parts)}")
    words.add_argument("--missing", action="store_true", help="measure only what has no result yet")
    asked = words.parse_args(arguments)
    files = {part: data.with_suffix("") / f"{part}.json" for part in asked.parts}
    for part, file in files.items():
        file.parent.mkdir(exist_ok=True)
        known = results_so_far(file, results.get(part, {}), missing=asked.missing)
        try:
            results[part] = measure(part, file, known)
        except KeyboardInterrupt:
            print(f"interrupted; the same command with --missing goes on from {file}", file=sys.stderr)
            sys.exit(130)
    made = figures(results)
    for file in files.values():
        file.unlink(missing_ok=True)
    return made


def render(page: Page) -> str:
    """The page, from the data files of its sections."""
    lines = [f"# {page.title}", "", f"{page.intro}", ""]
    lines += [f"Written by `python -m benchmarks.{page.folder}` from the files in `data/`.", ""]
    there = [section for section in page.sections if page.data(section.name).exists()]  # some are not measured here
    if len(there) > 1:
        lines += [*(f"- [{section.title}](#{anchor_of(section.title)})" for section in there), ""]
    for section in there:
        lines += [f"## {section.title}", "", *render_section(page.folder, section, read(page.data(section.name)))]
    return "\n".join(lines).rstrip("\n") + "\n"


def render_section(folder: str, section: Section, made: Measurement, *, whole: bool = False) -> Lines:
    """One section: the command, day, commit and machine, then what its words make of the figures."""
    facts = [made.date, f"commit {made.commit}" if made.commit else "", made.machine]
    yield from (f"`{made.command}` ({'; '.join(fact for fact in facts if fact)}):", "")
    blocks = import_module(f"benchmarks.{folder}.sections.{section.script}").show(made)
    yield from lines_of(blocks, f"python -m benchmarks.{folder} rows {section.name}", whole=whole)
