"""Measurements as data, and the page of a folder that is written from them.

    python -m benchmarks.FOLDER                          write the page of the folder, README.md, from data/*.json
    python -m benchmarks.FOLDER measure NAME [OPTIONS]   run the script of a section and write data/NAME.json first

A script prints Markdown: text, tables and headings. The data file keeps these as blocks, with the command, the day, the
commit and the machine. Knows Markdown and JSON, not the meaning of a figure.
"""

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
ALIGN = {"left": "---", "right": "---:"}
ROW = re.compile(r'(?<!"mutants": )\[\s+((?:"(?:[^"\\]|\\.)*"(?:,\s+)?)+)\s+\]')
ROW_BREAK = re.compile(r"\n +")
SURVIVORS = "Survivors, one by one"


@dataclass(frozen=True)
class Block:
    """A heading, a text, or a table of texts, whose columns are aligned left or right."""

    heading: str = ""
    text: str = ""
    columns: tuple[str, ...] = ()
    align: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Survivors:
    """Mutants that survive for one reason; `standing` says how they count."""

    standing: str
    reason: str
    mutants: tuple[str, ...]


@dataclass(frozen=True)
class Measurement:
    """The figures of one command, with the day and the machine; `commit` is empty if it is not known."""

    command: str
    date: str
    commit: str
    machine: str
    blocks: tuple[Block, ...]
    survivors: tuple[Survivors, ...] = ()


@dataclass(frozen=True)
class Section:
    """A part of a page: its data file, its heading, the script that measures it, and the usual options."""

    name: str
    title: str
    script: str
    options: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        return " ".join(("measure", self.name, *self.options))


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


def main(page: Page) -> None:
    """Write the page, after a measurement if the command line asks for one."""
    words = sys.argv[1:]
    if words[:1] == ["measure"] and words[1:2] and words[1] in (section.name for section in page.sections):
        section = next(one for one in page.sections if one.name == words[1])
        measure(page, section, tuple(words[2:]))
    elif words:
        names = "|".join(section.name for section in page.sections)
        raise SystemExit(f"usage: python -m benchmarks.{page.folder} [measure {names} [OPTIONS]]")
    page.path.write_text(render(page), encoding="utf-8")


def measure(page: Page, section: Section, options: tuple[str, ...]) -> None:
    """Run the script of a section and keep what it prints."""
    asked = options or section.options
    command = [sys.executable, "-m", f"benchmarks.{page.folder}.{section.script}", *asked]
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    words = " ".join(("python -m", f"benchmarks.{page.folder}", "measure", section.name, *asked))
    blocks, survivors = parse(printed)
    made = Measurement(words, f"{datetime.now(UTC):%Y-%m-%d}", commit(), machine(), blocks, survivors)
    page.data(section.name).write_text(as_json(made), encoding="utf-8")


def commit() -> str:
    """The commit that is checked out."""
    asked = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, cwd=HERE, capture_output=True, text=True, check=False).stdout.strip()


def machine() -> str:
    """The processor, its cores, and the GPU if there is one."""
    words = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    try:
        asked = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        return f"{words}, {subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()[0]}"
    except (OSError, subprocess.CalledProcessError, IndexError):
        return words


def parse(markdown: str) -> tuple[tuple[Block, ...], tuple[Survivors, ...]]:
    """The blocks of a script's output, without its title, and apart from them its list of survivors."""
    text, _, tail = markdown.partition(f"## {SURVIVORS}\n")
    blocks: list[Block] = []
    for part in re.split(r"\n{2,}", text.strip("\n")):
        lines = part.split("\n")
        if lines[0].startswith("# "):
            continue
        if lines[0].startswith("#"):
            blocks.append(Block(heading=lines.pop(0).lstrip("# ")))
        table = [line for line in lines if line.startswith("|")]
        prose = [line for line in lines if not line.startswith("|")]
        blocks += [Block(text="\n".join(prose))] if prose else []
        blocks += [parse_table(table)] if table else []
    return tuple(blocks), tuple(parse_survivors(tail))


def parse_table(lines: list[str]) -> Block:
    """A table, whose second line says how its columns are aligned."""
    head, rule = (line.strip().strip("|").split("|") for line in lines[:2])
    rows = [[cell.strip() for cell in line.strip()[1:-1].split("|", len(head) - 1)] for line in lines[2:]]
    align = tuple("right" if cell.endswith(":") else "left" for cell in rule)
    return Block(columns=tuple(cell.strip() for cell in head), align=align, rows=tuple(map(tuple, rows)))


def parse_survivors(text: str) -> Iterator[Survivors]:
    """Survivors below a heading for each standing, each reason followed by its mutants."""
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        heading, _, rest = part.partition("\n")
        groups = re.findall(r"^(?!- )(\S.*)\n\n((?:- .*\n?)+)", rest, re.MULTILINE)
        for reason, mutants in groups:
            listed = tuple(line.removeprefix("- ") for line in mutants.strip("\n").split("\n"))
            yield Survivors(heading.partition(":")[0].lower(), reason, listed)


def as_json(measurement: Measurement) -> str:
    """The text of the data file, without empty fields."""
    fields = asdict(measurement)
    fields["blocks"] = [{key: value for key, value in block.items() if value} for block in fields["blocks"]]
    text = json.dumps({key: value for key, value in fields.items() if value}, ensure_ascii=False, indent=1)
    return ROW.sub(lambda row: f"[{re.sub(ROW_BREAK, ' ', row[1])}]", text) + "\n"


def read(path: Path) -> Measurement:
    """Read a data file."""
    fields = json.loads(path.read_text(encoding="utf-8"))
    blocks = tuple(
        Block(
            block.get("heading", ""),
            block.get("text", ""),
            tuple(block.get("columns", ())),
            tuple(block.get("align", ())),
            tuple(map(tuple, block.get("rows", ()))),
        )
        for block in fields["blocks"]
    )
    survivors = tuple(
        Survivors(one["standing"], one["reason"], tuple(one["mutants"])) for one in fields.get("survivors", ())
    )
    return Measurement(
        fields["command"], fields["date"], fields.get("commit", ""), fields.get("machine", ""), blocks, survivors
    )


def render(page: Page) -> str:
    """The page, from the data files of its sections."""
    lines = [f"# {page.title}", "", f"{page.intro}", ""]
    lines += [f"Written by `python -m benchmarks.{page.folder}` from the files in `data/`.", ""]
    for section in page.sections:
        lines += [f"## {section.title}", "", *render_measurement(section, read(page.data(section.name)))]
    return "\n".join(lines).rstrip("\n") + "\n"


def render_measurement(section: Section, made: Measurement) -> Iterator[str]:
    """One section, line by line: the command, day, commit and machine, then the blocks."""
    facts = [made.date, f"commit {made.commit}" if made.commit else "", made.machine]
    yield f"`{made.command}` ({'; '.join(fact for fact in facts if fact)}):"
    yield ""
    for block in made.blocks:
        if block.heading:
            yield f"### {block.heading}"
        if block.text:
            yield block.text
        if block.columns:
            yield f"| {' | '.join(block.columns)} |"
            yield f"|{'|'.join(ALIGN[one] for one in block.align)}|"
            yield from (f"| {' | '.join(row)} |" for row in block.rows)
        yield ""
    if made.survivors:
        count = sum(len(one.mutants) for one in made.survivors)
        yield f"[data/{section.name}.json](data/{section.name}.json) lists these {count} mutants, each with its reason."
        yield ""
