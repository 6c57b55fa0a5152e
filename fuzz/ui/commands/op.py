"""`kfuzz op`: lists and describes ops, and tests whether one that you wrote as a formula may judge kernels."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any

import click

from kfuzz.common.errors import TargetError
from kfuzz.common.exit_codes import FOUND
from kfuzz.common.time_limits import time_limits
from kfuzz.devices import ClaimError
from kfuzz.devices.python.device import CALL
from kfuzz.oracle.judging.find_op import find, hint, is_op, load, op_names
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.spelling import is_expression, name_in
from kfuzz.oracle.proof.admission import admit
from kfuzz.ui.commands.completing import OP
from kfuzz.ui.commands.options import time_limit_options
from kfuzz.ui.reports.ops_page import section

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
@click.argument("name", required=False, type=OP, metavar="[OP|FILE.py]")
@click.option("--template", is_flag=True, help="Print an op to start from, instead of testing one.")
@time_limit_options
@click.pass_context
def op(ctx: click.Context, name: str | None, template: bool) -> None:
    """Show what an op computes, or test whether one that you wrote may judge kernels.

    OP is what a kernel computes, such as softmax. FILE.py holds a formula (docs/formulas.md); a kernel uses it with
    op = "FILE.py" in its claim. To test it, kfuzz computes the exact answer in two ways, simulates kernels of all
    forms in three formats, and checks that wrong answers are rejected.

    \b
    kfuzz op                        every op, in one line each
    kfuzz op softmax                its arrays, its forms, its special values and its formula
    kfuzz op 'gelu_tanh(x + bias)'  an expression of ops: how kfuzz reads it, and test it
    kfuzz op --template > my_op.py  an op to start from
    kfuzz op my_op.py               test it

    Exit code: 0 done, or it may judge kernels; 1 a check fails; 2 kfuzz could not do it.
    """
    if template:
        click.echo(TEMPLATE, nl=False)
        return
    if name is None:
        for one in op_names():
            click.echo(find(one).about.partition("\n")[0])
        return
    if not name.endswith(".py"):
        if is_expression(name):
            with as_claim_error():
                find(name)
        if not is_op(name):
            raise TargetError(f"{name}: unknown op{hint(name)}")
        _print_op(find(name))
        return
    file = Path(name)
    with as_claim_error():
        checks = list(_print_checks(file))
    if not all(checks):
        click.echo(f"{file} may not judge kernels: {checks.count(False)} of {len(checks)} checks fail")
        ctx.exit(FOUND)
    click.echo(f"{file} may judge kernels")


@contextmanager
def as_claim_error() -> Iterator[None]:
    """Report what is wrong with a formula in one line."""
    try:
        yield
    except OracleError as error:
        raise ClaimError(str(error)) from None


def _print_op(shown: Op) -> None:
    """Print all there is to say of an op; of one over other arrays, its spelling and the op that it is.

    An expression is tested, like a formula in a file.
    """
    if is_expression(shown.name):
        click.echo(section(shown, shown.name))
        for check in admit(shown):
            click.echo(str(check))
        return
    base = find(name_in(shown.name))
    if base.name != shown.name:
        click.echo(f"{shown.name}\n")
    click.echo(section(base))


def _print_checks(file: Path) -> list[bool]:
    """Run the checks and print each result."""
    results = []
    most = time_limits().compile
    with _ended_after(most, f"{file}: not imported within {most:g} s (limit of one import: --compile-time)"):
        loaded = load(file)
    for check in admit(replace(loaded, formula=_limited(loaded.formula, file))):
        click.echo(str(check))
        results.append(check.holds)
    return results


class _Overdue(BaseException):
    """A file takes too long; it is no Exception, which the file may catch."""


@contextmanager
def _ended_after(seconds: float, why: str) -> Iterator[None]:
    """Raise a ClaimError with this reason once the block has taken so many seconds."""

    def interrupt(_: int, __: FrameType | None) -> None:
        raise _Overdue

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _Overdue:
        raise ClaimError(why) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _limited(formula: Callable[..., Any], file: Path) -> Callable[..., Any]:
    """The formula, each call of which has a limit."""
    most = time_limits().call or CALL
    why = f"{file}: the formula did not return within {most:g} s (limit of one call: --call-time)"

    @wraps(formula)
    def call(*given: object, **named: object) -> object:
        with _ended_after(most, why):
            return formula(*given, **named)

    return call
