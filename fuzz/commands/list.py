"""`kfuzz list`: the kernels that come with kfuzz. Knows options and streams; what is shown is in views."""

import json
from pathlib import Path

import click

from kfuzz.commands.options import console
from kfuzz.exit_codes import COULD_NOT
from kfuzz.find.errors import TargetError
from kfuzz.printable import printable
from kfuzz.views import listing
from kfuzz.views.report import write


@click.command("list", short_help="Show the kernels that come with kfuzz.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--into", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="Write the table, in Markdown, between the markers of this file.")  # fmt: skip
@click.pass_context
def list_kernels(ctx: click.Context, as_json: bool, into: Path | None) -> None:
    """Show the kernels that come with kfuzz: what each computes (its op), for which sizes, launched with what.

    "Last run" is the last search on this machine, by kfuzz fuzz or pytest --kfuzz. kfuzz show KERNEL shows one kernel
    in full, kfuzz doctor which devices there are.
    """
    kernels, errors = listing.read_folder()
    if into:
        text = into.read_text(encoding="utf-8")
        try:
            write(into, listing.with_table(text, listing.as_markdown(kernels)))
        except ValueError as error:
            raise TargetError(f"{into}: {error}") from None
    elif as_json:
        click.echo(json.dumps(listing.as_json(kernels), indent=2))
    else:
        console().print(listing.as_table(kernels))
    for unreadable in errors:
        click.echo(printable(str(unreadable)), err=True)
    if errors or not kernels:
        ctx.exit(COULD_NOT)
