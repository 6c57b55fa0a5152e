"""`kfuzz explain`: what a kind of finding means, with an example and what to do. The text is in fuzz/kinds."""

from difflib import get_close_matches

import click

from kfuzz.common.errors import TargetError
from kfuzz.kinds import KINDS
from kfuzz.ui.commands.completing import KIND


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
    click.echo(KINDS[kind].page, nl=False)
