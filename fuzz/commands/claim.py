"""`kfuzz claim`: what a kernel may claim of its rounding, measured and tried. How, stands in claiming."""

from pathlib import Path

import click

from kfuzz.claiming.guess import guessed, op_of
from kfuzz.claiming.infer import Unclaimed, kernel_with
from kfuzz.claiming.keep import proposed
from kfuzz.claiming.text import claim_of
from kfuzz.claims.front_matter import is_python_file, shown_path, text_of
from kfuzz.claims.kernel import Kernel, load
from kfuzz.commands.options import console
from kfuzz.devices import ClaimError
from kfuzz.exit_codes import FOUND
from kfuzz.find.project import has_claim
from kfuzz.find.targets import find_one


@click.command(short_help="Propose what a kernel may claim, measured from its runs.")
@click.argument("target", metavar="KERNEL")
@click.option("--op", help="What a file without a claim computes; told by its names if left out.")
@click.option("--max-cases", type=click.IntRange(1), default=150, show_default=True, help="Trials of the proposal.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which cases are tried.")
@click.pass_context
def claim(ctx: click.Context, target: str, op: str | None, max_cases: int, seed: int) -> None:
    """Propose a claim that the kernel keeps, as tight as its structure allows.

    KERNEL is a .cu or .py file, or a name of ours. Every addition and every product with an exp is counted while the
    kernel runs, at many sizes; the formula through the counts is printed, with what the kernel was seen to do with
    -inf, NaN and +inf, and with the rest of its claim, to be read and put into the file.

    Where the file has no claim, what it computes, its arrays and its launch are guessed from its text, and the first
    guess that is kept is taken. Of a PyTorch extension, and of several kernels, that is the function which launches
    them; where there is none, how several work together has to be written.

    Of a Python callable nothing is counted: what is proposed is its arrays, what it is called with, and what it does
    with -inf, NaN and +inf. What it computes has to be said.

    \b
    kfuzz claim mine.cu
    kfuzz claim mine.cu --op row_sum
    kfuzz claim mine.py --op softmax

    Exit code: 0 the kernel keeps the proposal, 1 it is broken whatever it claims, 2 it cannot be run.
    """
    path = find_one(target)
    screen = console(to_stderr=True)
    with screen.status("counting, then trying"):
        kernel = load(path) if has_claim(path) else unclaimed(path, op)
        found = proposed(kernel, seed, max_cases)
    click.echo(claim_of(found.kernel))
    click.echo(f"{found.remark}", err=True)
    if found.broken:
        click.echo(f"not kept in {found.trials} trials: {'; '.join(found.broken)}", err=True)
        ctx.exit(FOUND)
    click.echo(f"kept in {found.trials} trials on the cpu device; read it before you keep it", err=True)


def unclaimed(path: Path, op: str | None) -> Kernel:
    """A file without a claim: of Python it is made of its op and its text, a kernel's is guessed and tried."""
    source = text_of(path)
    if not is_python_file(path):
        return guessed(path, source, op)
    chosen = op or op_of(path.stem, source)
    if chosen is None:
        raise ClaimError(f"{shown_path(path)}: say what it computes: --op softmax")
    return kernel_with(path, Unclaimed(chosen))
