"""`kfuzz explain`: what a kind of finding means, with an example and what to do. The text is in views/kinds."""

from difflib import get_close_matches

import click

from kfuzz import kinds
from kfuzz.devices.kinds import KINDS
from kfuzz.find.errors import TargetError


@click.command()
@click.argument("kind", required=False)
def explain(kind: str | None) -> None:
    """Say what a KIND of finding means, how kfuzz knows, and what to do about it.

    \b
    kfuzz explain           every kind, in a line each
    kfuzz explain race      one kind, with an example
    """
    if kind is None:
        width = max(map(len, KINDS))
        for name, meaning in KINDS.items():
            click.echo(f"{name:<{width}}  {meaning.words}")
        return
    if kind not in kinds.names():
        near = get_close_matches(kind, kinds.names(), 1)
        hint = f", did you mean {near[0]}?" if near else "; see kfuzz explain"
        raise TargetError(f"{kind}: no kind of finding{hint}")
    click.echo(kinds.page(kind), nl=False)
