"""Pages in Markdown: text, headings and tables. The one place that makes tables; knows no measurement."""

import re
from collections.abc import Iterable, Iterator
from textwrap import wrap

RULES = {"l": "---", "r": "---:"}
Lines = Iterator[str]
WIDTH = 120


def text(*words: str) -> Lines:
    """Paragraphs, which an empty line parts, in lines that fit."""
    for paragraph in " ".join(words).split("\n\n"):
        yield from wrap(" ".join(paragraph.split()), WIDTH, break_long_words=False, break_on_hyphens=False)
        yield ""


def heading(words: str) -> Lines:
    """A heading within a section."""
    yield from (f"### {words}", "")


def anchor_of(words: str) -> str:
    """The name by which a link leads to a heading."""
    return re.sub(r"[^\w\s-]", "", words.lower()).replace(" ", "-")


def table(align: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> Lines:
    """A table whose columns lie left or right, as `align` says with a letter for each: "lrr"."""
    titles = tuple(columns)
    yield from head(align, titles)
    for cells in rows:
        shown = tuple(cells)
        if len(shown) != len(titles):
            raise ValueError(f"{len(shown)} cells for {len(titles)} columns: {shown}")
        yield row(shown)
    yield ""


def head(align: str, columns: Iterable[str]) -> Lines:
    """The first two lines of a table, for a script that prints each row as soon as it knows it."""
    titles = tuple(columns)
    if len(titles) != len(align):
        raise ValueError(f"{len(align)} letters for {len(titles)} columns: {align}, {titles}")
    yield row(titles)
    yield f"|{'|'.join(RULES[letter] for letter in align)}|"


def row(cells: Iterable[object]) -> str:
    """A line of a table."""
    return f"| {' | '.join(map(str, cells))} |"
