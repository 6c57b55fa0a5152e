"""Pages in Markdown: text, headings and tables. The one place that makes tables; knows no measurement."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, TypeVar

Row = TypeVar("Row")
RULES = {"l": "---", "r": "---:"}
WIDTH = 120
LONG = 20
"""A long table that has more rows is on its page only in part."""
FEW = 10
"""The rows that `largest` picks."""


@dataclass(frozen=True)
class LongTable:
    """A table of many rows: its page has those in `shown`, and says which they are; `total` ends it in any case."""

    align: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    shown: tuple[tuple[object, ...], ...]
    which: str
    total: tuple[tuple[object, ...], ...] = ()

    def lines(self, command: str, *, whole: bool) -> Iterator[str]:
        """All rows; or those of the page, and the command that prints all."""
        if whole or len(self.rows) <= LONG:
            yield from table(self.align, self.columns, [*self.rows, *self.total])
            return
        if self.shown or self.total:
            yield from table(self.align, self.columns, [*self.shown, *self.total])
        yield from text(f"Shown: {len(self.shown)} of {len(self.rows)} rows, {self.which}. `{command}` prints all.")


Lines = Iterator[str]
Blocks = Iterator[str | LongTable]
"""Lines and long tables, which become lines when it is known how much of them is to be shown."""


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


def long_table(
    align: str,
    columns: Iterable[str],
    records: Iterable[Row],
    cells: Callable[[Row], Iterable[object]],
    shown: Iterable[Row],
    which: str,
    total: Iterable[Iterable[object]] = (),
) -> Blocks:
    """A table of many rows, of which a page has those of `shown`; `which` says in words what is shown."""
    rows, chosen = (tuple(tuple(cells(one)) for one in some) for some in (records, shown))
    yield LongTable(align, tuple(columns), rows, chosen, which, tuple(tuple(one) for one in total))


def largest(records: Iterable[Row], key: Callable[[Row], Any]) -> Sequence[Row]:
    """The few that come first by this key, the largest first."""
    return sorted(records, key=key, reverse=True)[:FEW]


def lines_of(blocks: Blocks, command: str, *, whole: bool) -> Lines:
    """The lines of a section; its long tables whole, or in part and with the command that prints them."""
    for one in blocks:
        if isinstance(one, str):
            yield one
        else:
            yield from one.lines(command, whole=whole)


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
