"""`kfuzz explain`: what a kind of finding means, with an example and what to do. The text is in fuzz/kinds."""

import re
import textwrap
from collections.abc import Iterator
from difflib import get_close_matches

import click

from kfuzz.common.errors import TargetError
from kfuzz.kinds import KINDS
from kfuzz.ui.commands.completing import KIND
from kfuzz.ui.reports.failure import line_width

LINK = re.compile(r"\[([^\]]*)\]\((?:\.\./)*([^)#]*)(?:#[^)]*)?\)")


@click.command()
@click.argument("kind", type=KIND, required=False)
def explain(kind: str | None) -> None:
    """Explain a KIND of finding: what it means, how kfuzz knows, and what to do.

    \b
    kfuzz explain       every kind, in one line each
    kfuzz explain race  one kind, with an example
    """
    if kind is None:
        width = max(map(len, KINDS))
        for one in KINDS.values():
            click.echo(f"{one.name:<{width}}  {one.sentence}")
        return
    if kind not in KINDS:
        near = get_close_matches(kind, KINDS, 1)
        hint = f"did you mean {near[0]}?" if near else "see kfuzz explain"
        raise TargetError(f"{kind}: not a kind of finding; {hint}")
    click.echo("\n\n".join(plain_parts(KINDS[kind].page, line_width())))


def plain_parts(page: str, width: int) -> Iterator[str]:
    """The paragraphs of a page as plain text: headings without marks, links as the file in kfuzz's repository."""
    for part in page.strip().split("\n\n"):
        if part.startswith("#"):
            title = part.lstrip("# ")
            yield title.upper() if part.startswith("## ") else title
        elif part.startswith("    "):
            yield part
        else:
            yield "\n".join(_fill(item, width) for item in re.split(r"\n(?=- )", part))


def _fill(text: str, width: int) -> str:
    said = LINK.sub(_plain_link, " ".join(text.split()))
    return textwrap.fill(said, width, subsequent_indent="  " if said.startswith("- ") else "", break_on_hyphens=False)


def _plain_link(found: re.Match[str]) -> str:
    words, file = found.groups()
    return words if "/" not in file else file if words == file else f"{words}, {file}"
