"""`kfuzz show`: a kernel's claim, a case, or a kernel file to start from. kfuzz.ui.reports makes the text."""

from pathlib import Path

import click

from kfuzz.cases import case_file
from kfuzz.claims.kernel import load
from kfuzz.common.printable import shown_path
from kfuzz.common.text.exhibits import description_of
from kfuzz.common.text.exhibits import read as read_exhibit
from kfuzz.ui.commands.completing import OP, TARGET
from kfuzz.ui.commands.options import console
from kfuzz.ui.reports.show import as_text, edits_text
from kfuzz.ui.reports.show_case import case_text
from kfuzz.ui.targets.targets import find_one
from kfuzz.ui.targets.template import template as template_for


@click.command(short_help="Show a kernel's claim, a case, or a template.")
@click.argument("target", type=TARGET, metavar="KERNEL|CASE", required=False)
@click.option("--template", is_flag=False, flag_value="softmax", type=OP, metavar="[OP]",
              help="Print a working kernel file that computes OP, to start from. Default OP: softmax.")  # fmt: skip
def show(target: str | None, template: str | None) -> None:
    """Show what a kernel claims, or what is in a case.

    KERNEL is a name, a glob that matches one name, or a .cu file. CASE is a file that kfuzz fuzz kept. For a kernel in
    kernels/broken/ that is stored as edits of a right one, kfuzz also prints the whole source.

    \b
    kfuzz show softmax/online_block          a kernel that comes with kfuzz
    kfuzz show --template row_sum > mine.cu  a kernel file to start from
    """
    if template:
        click.echo(template_for(template), nl=False)
        return
    if not target:
        raise click.UsageError("name a KERNEL or a CASE, or give --template")
    if target.endswith(".json"):
        click.echo(case_text(case_file.read(Path(target)), target))
        return
    kernel = load(find_one(target))
    console().print(as_text(kernel, shown_path(kernel.path)))
    if description := description_of(kernel.path):
        click.echo(f"\n{edits_text(read_exhibit(description))}\n{kernel.source}", nl=False)
