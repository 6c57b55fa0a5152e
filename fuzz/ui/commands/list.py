"""`kfuzz list`: the kernels that come with kfuzz. Knows options and streams; kfuzz.ui.reports makes the text."""

import json
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import click

from kfuzz.claims.kernel import Kernel
from kfuzz.common.errors import TargetError
from kfuzz.common.exit_codes import COULD_NOT
from kfuzz.common.printable import printable
from kfuzz.common.text.exhibits import ENDING
from kfuzz.ui.commands.completing import TARGET
from kfuzz.ui.commands.options import console, print_faults
from kfuzz.ui.reports import listing
from kfuzz.ui.reports.report import write
from kfuzz.ui.targets.project import read_all
from kfuzz.ui.targets.targets import find_files, suggest


@click.command("list", short_help="Show the kernels that come with kfuzz.")
@click.argument("patterns", nargs=-1, type=TARGET, metavar="[PATTERN]...")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON. Default: a table.")
@click.option("--into", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="Write the table as Markdown between the markers in this file.")  # fmt: skip
@click.pass_context
def list_kernels(ctx: click.Context, patterns: tuple[str, ...], as_json: bool, into: Path | None) -> None:
    """Show the kernels that come with kfuzz: what each computes (its op), its sizes and its launch parameters.

    PATTERN is an op, a part of a name or a glob; a file or a folder shows your own kernels. Default: all.

    A narrow terminal shows fewer columns. "Last run" is the last search on this machine, by kfuzz fuzz or
    pytest --kfuzz. kfuzz show KERNEL shows all of one kernel; kfuzz doctor shows which devices work.

    \b
    kfuzz list                             a table
    kfuzz list softmax                     the kernels of one op, or with this word in their name
    kfuzz list 'broken/*barrier*' mine.cu  those that a glob finds, and one of your own
    kfuzz list --json                      the same as JSON
    """
    is_own = bool(patterns) and all(Path(one).exists() for one in patterns)
    kernels, errors = ((), ()) if is_own else listing.read_folder()
    if patterns:
        kernels = tuple({kernel.path: kernel for one in patterns for kernel in matching(one, kernels)}.values())
        errors = ()
    if into:
        text = into.read_text(encoding="utf-8")
        try:
            write(into, listing.put_table(text, listing.as_markdown(kernels)))
        except ValueError as error:
            raise TargetError(f"{into}: {error}") from None
    elif as_json:
        click.echo(json.dumps(listing.as_json(kernels), indent=2))
    else:
        screen = console()
        screen.print(listing.as_table(kernels, screen.width))
    for unreadable in errors:
        click.echo(printable(str(unreadable)), err=True)
    if errors or not kernels:
        ctx.exit(COULD_NOT)


def matching(pattern: str, kernels: Sequence[Kernel]) -> Sequence[Kernel]:
    """The kernels of this op, with this in their name, or in this file or folder."""
    if Path(pattern).exists():
        found = read_all(find_files(pattern))
        print_faults(found)
        return found.usable
    is_glob = any(letter in pattern for letter in "*?[")
    wanted = pattern if is_glob else f"*{pattern.removesuffix(ENDING)}*"
    chosen = [one for one in kernels if one.op == pattern or fnmatchcase(one.name, wanted)]
    if not chosen:
        near = suggest(pattern, [one.name for one in kernels])
        raise TargetError(f"{pattern}: no kernel, op, file or folder of that name{near}")
    return chosen
