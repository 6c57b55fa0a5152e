"""`kfuzz claim`: proposes a claim from measurements, and tests it. kfuzz.measure.roundings does the work."""

from dataclasses import replace
from pathlib import Path

import click

from kfuzz.claims.kernel import Kernel, load
from kfuzz.claims.language.cuda import LANGUAGE as CUDA
from kfuzz.claims.language.cuda import THROUGH
from kfuzz.claims.language.front_matter import text_of
from kfuzz.claims.language.kernel_file import file_has_claim
from kfuzz.claims.language.languages import language_of
from kfuzz.common.exit_codes import FOUND
from kfuzz.common.printable import shown_path
from kfuzz.devices import ClaimError
from kfuzz.measure.roundings.bug import IF_NOT_A_BUG
from kfuzz.measure.roundings.guess import Guess, guess, op_of
from kfuzz.measure.roundings.guess_host import FunctionWords
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with, place_op
from kfuzz.measure.roundings.keep import proposed_for
from kfuzz.measure.roundings.text import claim_of, in_language
from kfuzz.ui.commands.completing import OP, TARGET
from kfuzz.ui.commands.options import console, through_option, time_limit_options
from kfuzz.ui.reports.phases import show_phases
from kfuzz.ui.targets.targets import find_one


@click.command(short_help="Propose what a kernel may claim, measured from its runs.")
@click.argument("target", type=TARGET, metavar="KERNEL")
@click.option("--op", type=OP, help="The op that a file without a claim computes. Default: guessed from its names.")
@click.option("--entry", default="", metavar="NAME", help="The function to call, if the file has several.")
@click.option(
    "--max-cases",
    type=click.IntRange(1),
    default=150,
    show_default=True,
    help="Number of trials that the proposal must pass.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the cases.")
@time_limit_options
@through_option
@click.pass_context
def claim(ctx: click.Context, target: str, op: str | None, entry: str, max_cases: int, seed: int, through: str) -> None:
    """Propose a claim that the kernel keeps, as tight as its structure allows.

    KERNEL is a .cu, .ptx or .py file, or the name of a kernel that comes with kfuzz. kfuzz runs the kernel at many
    sizes and counts its additions and its products with exponentials. It fits a formula in the sizes to these counts
    and tests the proposal before it prints it, together with what the kernel does with -inf, NaN and +inf. Read the
    claim, then put it at the top of the file. With --through nvcc, all of this is of the PTX that nvcc makes of CUDA.

    If the file has no claim, kfuzz guesses the op, the arrays and the launch from the text, and takes the first guess
    that the kernel keeps. If it keeps none, but one fits but for what looks like a bug, kfuzz prints that one and the
    bug. In a PyTorch extension, or a file with several kernels, it uses the function that launches them; without one,
    write down yourself how the kernels work together.

    For a Python callable kfuzz proposes the arrays, the call, and what happens with -inf, NaN and +inf. It counts the
    launches that the cpu device runs, such as Triton's, and nothing that a library does. You have to name the op.

    \b
    kfuzz claim mine.cu
    kfuzz claim mine.cu --op row_sum
    kfuzz claim mine.cu --through nvcc
    kfuzz claim mine.py --op softmax

    Exit code: 0 the kernel keeps the proposal, 1 the kernel is broken whatever it claims, 2 kfuzz cannot run it.
    """
    path = find_one(target)
    screen = console(to_stderr=True)
    with show_phases(screen):
        made = Guess(load(path)) if file_has_claim(path) else guess_for(path, op, entry)
        if through:
            made = replace(made, kernel=compiled(made.kernel, through))
        found = proposed_for(made, seed, max_cases)
    click.echo(claim_of(found.kernel))
    click.echo(f"{found.remark}", err=True)
    if found.bug:
        click.echo(f"{found.verdict}\n{IF_NOT_A_BUG}", err=True)
        ctx.exit(FOUND)
    if found.broken:
        click.echo(f"{found.verdict}\nsee it: kfuzz fuzz {shown_path(path)}", err=True)
        ctx.exit(FOUND)
    for limit in found.limits:
        click.echo(f"warning: {limit}", err=True)
    click.echo(f"{found.verdict} on the cpu device; read it before you use it", err=True)


def compiled(kernel: Kernel, through: str) -> Kernel:
    """The kernel as a compiler writes it; ClaimError if the file is not CUDA."""
    if kernel.front.language != CUDA:
        raise ClaimError(f"{shown_path(kernel.path)}: --through {through} is for CUDA: leave it out")
    return in_language(kernel, THROUGH[through])


def guess_for(path: Path, op: str | None, entry: str) -> Guess:
    """A kernel with a claim made for it."""
    op = place_op(op, Path()) if op else op
    return GUESSES.get(language_of(path).name, guess_from_text)(path, text_of(path), op, FunctionWords(entry))


def guess_from_text(path: Path, source: str, op: str | None, said: FunctionWords) -> Guess:
    """A claim from the op and the text, which no trial has tested."""
    chosen = op or op_of(path.stem, source)
    if chosen is None:
        raise ClaimError(f"{shown_path(path)}: say what it computes: --op softmax")
    return Guess(kernel_with(path, Unclaimed(chosen, said)))


GUESSES = {"cuda": guess, "python": guess_from_text}
"""How a claim is found, by the language of the file: for CUDA guessed and tested."""
