"""`kfuzz op`: tests whether an op that you wrote as a formula may judge kernels, or prints one to start from."""

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
@click.option("--template", is_flag=True, help="Print an op to start from, instead of testing one.")
@click.pass_context
def op(ctx: click.Context, file: Path | None, template: bool) -> None:
    """Test whether an op that you wrote may judge kernels.

    FILE holds a formula (docs/formulas.md); a kernel uses it with op = "FILE" in its claim. kfuzz computes the exact
    answer in two ways, simulates kernels of all forms in three formats, and checks that wrong answers are rejected.

    \b
    kfuzz op --template > my_op.py     an op to start from
    kfuzz op my_op.py                  test it

    Exit code: 0 it may judge kernels, 1 a check fails, 2 kfuzz could not test it.
    """
    if template:
        click.echo(TEMPLATE, nl=False)
        return
    if file is None:
        raise click.UsageError("name the FILE of an op, or give --template")
    try:
        checks = list(_print_checks(file))
    except OracleError as error:
        raise ClaimError(str(error)) from None
    if not all(checks):
        click.echo(f"{file} may not judge kernels: {checks.count(False)} of {len(checks)} checks fail")
        ctx.exit(FOUND)
    click.echo(f"{file} may judge kernels")


def _print_checks(file: Path) -> list[bool]:
    """Run the checks and print each result."""
    results = []
    for check in admit(load(file)):
        click.echo(f"{'ok    ' if check.holds else 'FAILED'} {check.name:44} {check.figures}")
        results.append(check.holds)
    return results
