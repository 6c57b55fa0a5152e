"""`kfuzz list`: the kernels that come with kfuzz. Knows options and streams; kfuzz.views makes the text."""

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
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON. Default: a table.")
@click.option("--into", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="Write the table as Markdown between the markers in this file.")  # fmt: skip
@click.pass_context
def list_kernels(ctx: click.Context, as_json: bool, into: Path | None) -> None:
    """Show the kernels that come with kfuzz: what each computes (its op), its sizes and its launch parameters.

    "Last run" is the last search on this machine, by kfuzz fuzz or pytest --kfuzz. kfuzz show KERNEL shows all of one
    kernel; kfuzz doctor shows which devices work.

    \b
    kfuzz list                           a table
    kfuzz list --json                    the same as JSON
    """
    kernels, errors = listing.read_folder()
    if into:
        text = into.read_text(encoding="utf-8")
        try:
            write(into, listing.put_table(text, listing.as_markdown(kernels)))
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
