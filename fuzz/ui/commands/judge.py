"""kfuzz judge: one verdict on each file, as JSON. Knows options and exit codes; `ui/serving` judges."""

import os
from pathlib import Path

import click

from kfuzz.campaign.answers import Judgement, JudgingTerms
from kfuzz.claims.references.formats import help_of_references
from kfuzz.common.exit_codes import COULD_NOT, FOUND, NOTHING_NEW
from kfuzz.common.printable import printable
from kfuzz.ui.commands.completing import OP
from kfuzz.ui.commands.options import device_option, parse_duration, time_limit_options
from kfuzz.ui.reports.judgements import line_of_judgement
from kfuzz.ui.serving.batch import answers_in, judge_all
from kfuzz.ui.serving.pool import JudgingPool
from kfuzz.ui.serving.requests import JudgingRequest
from kfuzz.ui.targets.judge_file import judge_file

jobs_option = click.option(
    "--jobs", type=click.IntRange(1, 1024), help="How many answers are judged at a time. Default: one per processor."
)
WORST_FIRST = (FOUND, COULD_NOT, NOTHING_NEW)


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


@click.command()
@click.argument("answers", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--op", type=OP, metavar="OP", default="", help="The op that it computes, such as softmax.")
@click.option("--reference", type=click.Path(path_type=Path), metavar="FILE",
              help=f"The file or folder with the problem that it solves: {help_of_references()}.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0, (1 << 32) - 1), default=0, show_default=True,
              help="Which cases are tried: they depend on it and on the op alone.")  # fmt: skip
@click.option("--budget", type=parse_duration, metavar="TIME", default="10s", show_default=True,
              help="How much is tried: a number of trials, fixed by this time, and no longer than it.")  # fmt: skip
@click.option("--shapes", type=click.Choice(("any", "home")), default="home", show_default=True,
              help="any: an error at another shape than that of the reference breaks it, too.")  # fmt: skip
@click.option("--require", metavar="PROPERTY", multiple=True,
              help="A property without which a right answer is broken, such as deterministic.")  # fmt: skip
@click.option("--sandbox/--no-sandbox", "is_sandboxed", default=True, show_default=True,
              help="Run the answer in a sandbox. Without one it has your rights.")  # fmt: skip
@jobs_option
@device_option
@time_limit_options
@click.pass_context
def judge(
    ctx: click.Context, answers: tuple[Path, ...], op: str | None, reference: Path | None, seed: int, budget: float,
    shapes: str, require: tuple[str, ...], is_sandboxed: bool, jobs: int | None, device: str,
) -> None:  # fmt: skip
    """Judge answers that you do not trust, and print a line of JSON for each verdict.

    FILE is a .cu, .ptx or .py file, or a folder with such files. Without --op and --reference its own claim says what
    it computes. It runs in a sandbox on the cpu device; what is right never enters its process. Verdicts on several
    files come as soon as they are there, in any order; "answer" names the file.

    \b
    kfuzz judge answer.py --reference problem.py          a submission
    kfuzz judge softmax.cu --op softmax --budget 5s       CUDA without a claim
    kfuzz judge answers/ --op softmax > verdicts.jsonl    all files below a folder

    Exit code: 0 all are kept; 1 one is broken or misbehaved; 2 one is not judged, suspect, or cannot run; 130 you
    interrupted it, and the verdicts that are there are printed.
    """
    files, terms = answers_in(answers, reference), JudgingTerms(seed, budget, shapes == "any", require)
    words = (op or "", str(reference or ""))
    if len(files) == 1:
        found = judge_file(
            files[0], reference=words[1], op=words[0], budget=budget, device=device, seed=seed,
            any_shape=terms.any_shape, sandbox=is_sandboxed, require=require,
        )  # fmt: skip
        click.echo(line_of_judgement(files[0], found))
        ctx.exit(found.exit_code)
    codes, errors = set(), set()
    with JudgingPool(min(jobs or processors(), len(files)), is_only=True) as pool:
        requests = [JudgingRequest(one, None, *words, terms, device, is_sandboxed) for one in files]
        for request, one in judge_all(pool, requests):
            if isinstance(one, Judgement):
                click.echo(line_of_judgement(request.answer, one))
                codes.add(one.exit_code)
            else:
                if str(one) not in errors:  # one reference may be missing for all
                    click.echo(printable(str(one)), err=True)
                errors.add(str(one))
                codes.add(COULD_NOT)
    ctx.exit(next(one for one in WORST_FIRST if one in codes))
