"""`kfuzz op`: the admission test of an op that is a formula, or such an op to start from."""

from pathlib import Path

import click

from kfuzz.devices import ClaimError
from kfuzz.exit_codes import FOUND
from kfuzz.oracle.admission import admit
from kfuzz.oracle.errors import OracleError
from kfuzz.oracle.find import load

TEMPLATE = '''"""scaled_sigmoid: y = scale x / (1 + exp(-x)), element by element: replace this by your own op."""

INPUTS = {"x": "float[rows, cols]"}  # roles and their dimensions; integers are "int[rows] < cols"
SCALARS = {"scale": 1.5}  # numbers, with their defaults; "1 / sqrt(cols)" is worked out from the sizes
OUTPUTS = {"y": "float[rows, cols]"}
FORMS = ("divided", "multiplied")  # ways to compute it that round differently; N.form says which; none: leave it out


def formula(N, x, scale):
    if N.form == "multiplied":
        return scale * x * N.sigmoid(x)
    return scale * x / (1.0 + N.exp(-x))
'''


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="FILE")
@click.option("--template", is_flag=True, help="Print an op to start from.")
@click.pass_context
def op(ctx: click.Context, file: Path | None, template: bool) -> None:
    """Test whether an op of your own may judge kernels.

    FILE holds a formula; a kernel that claims it says op = "FILE". Its exact answer is worked out twice, kernels of all
    its forms are simulated in three formats, and wrong answers must be found.

    \b
    kfuzz op --template > my_op.py
    kfuzz op my_op.py
    """
    if template:
        click.echo(TEMPLATE, nl=False)
        return
    if file is None:
        raise click.UsageError("name the FILE of an op, or ask for a --template")
    try:
        checks = list(_told(file))
    except OracleError as error:
        raise ClaimError(str(error)) from None
    if not all(checks):
        click.echo(f"{file} may not judge: {checks.count(False)} of {len(checks)} checks do not hold")
        ctx.exit(FOUND)
    click.echo(f"{file} may judge kernels")


def _told(file: Path) -> list[bool]:
    """Print each check as it is made."""
    held = []
    for check in admit(load(file)):
        click.echo(f"{'ok    ' if check.holds else 'FAILED'} {check.name:44} {check.found}")
        held.append(check.holds)
    return held
