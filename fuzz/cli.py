"""The command line: its group and `kfuzz list`, `show` and `doctor`; commands that run kernels are in commands.

Knows options, exit codes and streams; what a command does stands in a module of its own.
"""

import errno
import json
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import click

from fuzz import doctor as machine
from fuzz import exp_model
from fuzz.case import CaseError
from fuzz.cases import case_file
from fuzz.claims.front_matter import shown_path
from fuzz.claims.template import template as template_for
from fuzz.commands.fuzz import fuzz
from fuzz.commands.minimize import minimize
from fuzz.commands.options import console, silence
from fuzz.commands.replay import replay
from fuzz.commands.score import score
from fuzz.devices import ClaimError, DeviceError
from fuzz.devices.choose import NAMES, open_device
from fuzz.kernel import load
from fuzz.report import write
from fuzz.targets import TargetError, find_one
from fuzz.views import listing
from fuzz.views.show import as_text
from fuzz.views.show_case import case_text

COULD_NOT = 2
INTERRUPTED = 130
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
UNREAD = (errno.EPIPE, errno.EIO)
"""Who read what is printed has gone, and so has the terminal."""


class Commands(click.Group):
    """A group whose commands end with our exit codes: click's own hook for that is a subclass."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401  click's signature
        """Run the command; what the person or the machine has to put right is one line and exit code 2."""
        try:
            return super().invoke(ctx)
        except (CaseError, ClaimError, DeviceError, TargetError) as error:
            click.echo(str(error), err=True)
            ctx.exit(COULD_NOT)
        except OSError as error:
            if error.errno in UNREAD:
                silence(sys.stdout)
                ctx.exit(INTERRUPTED)
            if error.errno not in FULL:
                raise
            click.echo(str(error), err=True)
            ctx.exit(COULD_NOT)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kfuzz", prog_name="kfuzz")
def main() -> None:
    """Find the inputs that break a CUDA kernel, prove that they do, shrink them, and keep them.

    \b
    kfuzz fuzz broken/leading_neg_inf      a kernel with a bug: what a finding looks like
    kfuzz minimize tests/corpus/.../X.json make the case that it left as small as it gets
    kfuzz replay                           run all kept cases again
    kfuzz show --template > mine.cu        a kernel file of your own to start from
    """
    try:
        Path.cwd()
    except FileNotFoundError:
        raise TargetError("the folder that this shell is in was removed; go to one that is there") from None


for command in (fuzz, minimize, replay, score):
    main.add_command(command)


@main.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--into", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="Write the table, in Markdown, between the markers of this file.")  # fmt: skip
@click.pass_context
def list_kernels(ctx: click.Context, as_json: bool, into: Path | None) -> None:
    """Show every kernel: its op, the sizes it claims, its launch parameters, how often it was run last time.

    "Last time" is the last campaign on this machine, by kfuzz fuzz or pytest --kfuzz. kfuzz doctor says which devices
    there are.
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
        click.echo(str(unreadable), err=True)
    if errors or not kernels:
        ctx.exit(COULD_NOT)


@main.command()
@click.argument("target", metavar="KERNEL|CASE", required=False)
@click.option("--template", is_flag=False, flag_value="softmax", metavar="[OP]",
              help="Print a working kernel file of this op to start from; softmax if none is named.")  # fmt: skip
def show(target: str | None, template: str | None) -> None:
    """Show what a kernel claims, or what is in a case.

    KERNEL is a name, a glob that fits one name, or a .cu file; CASE is a case file.
    """
    if template:
        click.echo(template_for(template), nl=False)
        return
    if not target:
        raise click.UsageError("name a KERNEL or a CASE, or ask for a --template")
    if target.endswith(".json"):
        click.echo(case_text(case_file.read(Path(target)), target))
        return
    kernel = load(find_one(target))
    console().print(as_text(kernel, shown_path(kernel.path)))


@main.command()
@click.option("--measure-exp", is_flag=True,
              help="Measure expf and __expf instead: JSON on standard output, words on standard error.")  # fmt: skip
@click.option("--device", "name", type=click.Choice(NAMES), default="auto", help="What --measure-exp measures.")
@click.pass_context
def doctor(ctx: click.Context, measure_exp: bool, name: str) -> None:
    """Show what this machine can run, and what is missing, with the command that installs it."""
    if measure_exp:
        with closing(open_device(name)) as device:
            sweeps = []
            for function, flags in exp_model.SWEEPS:
                sweeps.append(exp_model.measure(device, function, flags, exp_model.STRIDES[device.name]))
                click.echo(exp_model.described(sweeps[-1]), err=True)
            click.echo(json.dumps(exp_model.document(sweeps, machine.provenance(device.name)), indent=2))
        return
    asked = [machine.python(), *machine.packages(), *machine.tools()]
    devices = [machine.trial(name, partial(open_device, name)) for name in ("cpu", "gpu")]
    for check in (*asked, *devices):
        mark = "ok" if check.found else "--"
        click.echo(f"{mark}  {check.name:<18} {check.found or check.missing}")
    if not any(device.found for device in devices):
        click.echo("no device works here: no kernel can be run", err=True)
        ctx.exit(COULD_NOT)
