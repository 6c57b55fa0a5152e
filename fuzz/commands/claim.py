"""`kfuzz claim`: what a kernel may claim of its rounding, measured and tried. How, stands in claiming."""

import click
from kfuzz.claiming.keep import proposed
from kfuzz.claiming.text import claim_of
from kfuzz.claims.kernel import load
from kfuzz.commands.options import console
from kfuzz.exit_codes import FOUND
from kfuzz.find.targets import find_one


@click.command(short_help="Propose what a kernel may claim, measured from its runs.")
@click.argument("target", metavar="KERNEL")
@click.option("--max-cases", type=click.IntRange(1), default=150, show_default=True, help="Trials of the proposal.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which cases are tried.")
@click.pass_context
def claim(ctx: click.Context, target: str, max_cases: int, seed: int) -> None:
    """Propose a claim that the kernel keeps, as tight as its structure allows.

    KERNEL is a .cu file, or a name of ours. Its claim says what it computes, on which arrays, and how it is launched
    (kfuzz show --template prints one to start from); how it rounds, and what it does with -inf and NaN, is what this
    command is for. Every addition and every product with an exp is counted while the kernel runs, at many sizes; the
    formula through the counts is printed, with the rest of the claim, to be read and put into the file.

    \b
    kfuzz claim mine.cu

    Exit code: 0 the kernel keeps the proposal, 1 it is broken whatever it claims, 2 it cannot be run.
    """
    kernel = load(find_one(target))
    screen = console(to_stderr=True)
    with screen.status("counting, then trying"):
        found = proposed(kernel, seed, max_cases)
    click.echo(claim_of(found.kernel))
    click.echo(f"{found.remark}", err=True)
    if found.broken:
        click.echo(f"not kept in {found.trials} trials: {'; '.join(found.broken)}", err=True)
        ctx.exit(FOUND)
    click.echo(f"kept in {found.trials} trials on the cpu device; read it before you keep it", err=True)
