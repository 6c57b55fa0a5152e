"""kfuzz judge: one verdict on one file, as JSON. Knows options and exit codes; `kfuzz.judge_file` judges."""

import json
from pathlib import Path

import click

from kfuzz.claims.references.formats import help_of_references
from kfuzz.ui.commands.completing import OP
from kfuzz.ui.commands.options import device_option, parse_duration, time_limit_options
from kfuzz.ui.reports.judgements import as_dict
from kfuzz.ui.targets.judge_file import judge_file


@click.command()
@click.argument("answer", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--op", type=OP, metavar="OP", default="", help="The op that it computes, such as softmax.")
@click.option("--reference", type=click.Path(path_type=Path), metavar="FILE",
              help=f"The file or folder with the problem that it solves: {help_of_references()}.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0, (1 << 32) - 1), default=0, show_default=True,
              help="Which cases are tried: they depend on it and on the op alone.")  # fmt: skip
@click.option("--budget", type=parse_duration, metavar="TIME", default="10s", show_default=True,
              help="How much is tried: a number of trials, fixed by this time, and no longer than it.")  # fmt: skip
@click.option("--shapes", type=click.Choice(("any", "home")), default="home", show_default=True,
              help="any: an error at another shape than that of the reference breaks it, too.")  # fmt: skip
@click.option("--sandbox/--no-sandbox", "is_sandboxed", default=True, show_default=True,
              help="Run the answer in a sandbox. Without one it has your rights.")  # fmt: skip
@device_option
@time_limit_options
@click.pass_context
def judge(
    ctx: click.Context, answer: Path, op: str | None, reference: Path | None, seed: int, budget: float, shapes: str,
    is_sandboxed: bool, device: str,
) -> None:  # fmt: skip
    """Judge an answer that you do not trust, and print the verdict as JSON.

    FILE is a .cu, .ptx or .py file. Without --op and --reference its own claim says what it computes. It runs in a
    sandbox on the cpu device; what is right never enters its process.

    \b
    kfuzz judge answer.py --reference problem.py          a submission
    kfuzz judge softmax.cu --op softmax --budget 5s       CUDA without a claim

    Exit code: 0 kept, 1 broken or misbehaved, 2 not judged, suspect, or it cannot run.
    """
    judgement = judge_file(
        answer, reference=reference or "", op=op or "", budget=budget, device=device, seed=seed,
        any_shape=shapes == "any", sandbox=is_sandboxed,
    )  # fmt: skip
    click.echo(json.dumps(as_dict(judgement), indent=1))
    ctx.exit(judgement.exit_code)
