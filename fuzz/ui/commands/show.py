"""`kfuzz show`: a kernel's claim, a case, or a kernel file to start from. kfuzz.ui.reports makes the text."""

from pathlib import Path

import click

from kfuzz.cases import case_file
from kfuzz.claims.kernel import load
from kfuzz.claims.language.kernel_file import file_has_claim
from kfuzz.claims.references.steps import reference_in_file, steps_of
from kfuzz.common.printable import shown_path
from kfuzz.common.text.exhibits import description_of
from kfuzz.common.text.exhibits import read as read_exhibit
from kfuzz.ui.commands.completing import OP, TARGET
from kfuzz.ui.commands.options import console
from kfuzz.ui.reports.show import as_text, edits_text
from kfuzz.ui.reports.show_case import case_text
from kfuzz.ui.reports.show_steps import steps_text
from kfuzz.ui.targets.targets import find_one
from kfuzz.ui.targets.template import template as template_for


@click.command(short_help="Show a kernel's claim, a case, or a template.")
@click.argument("target", type=TARGET, metavar="KERNEL|CASE", required=False)
@click.option("--template", is_flag=False, flag_value="softmax", type=OP, metavar="[OP]",
              help="Print a working kernel file that computes OP, to start from. Default OP: softmax.")  # fmt: skip
def show(target: str | None, template: str | None) -> None:
    """Show what a kernel claims, or what is in a case.

    KERNEL is a name, a glob that matches one name, or a .cu file. CASE is a file that kfuzz fuzz kept. For a kernel in
    kernels/broken/ that is stored as edits of a right one, kfuzz also prints the whole source. For a .py file without a
    claim that has a torch reference, it prints the steps of one run: lines, values, and how far each may be off.

    \b
    kfuzz show softmax/online_block          a kernel that comes with kfuzz
    kfuzz show problem.py                    the steps of a torch reference
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
    path = find_one(target)
    if not file_has_claim(path) and (reference := reference_in_file(path)) is not None:
        click.echo(steps_text(f"{reference.name} in {shown_path(path)}", steps_of(reference)))
        return
    kernel = load(path)
    console().print(as_text(kernel, shown_path(kernel.path)))
    if description := description_of(kernel.path):
        click.echo(f"\n{edits_text(read_exhibit(description))}\n{kernel.source}", nl=False)
