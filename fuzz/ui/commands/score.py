"""`kfuzz score`: options, progress and exit code. kfuzz.measure.mutants computes the score."""

from functools import partial
from pathlib import Path

import click

from kfuzz.campaign.device import open_device
from kfuzz.common.errors import TargetError
from kfuzz.common.exit_codes import COULD_NOT, FOUND, INTERRUPTED
from kfuzz.measure.mutants.figures import accused_controls, as_json, score_lines
from kfuzz.measure.mutants.run import HowFar, run_score
from kfuzz.measure.mutants.survivors import read_reasons
from kfuzz.measure.mutants.trials import ScoreOptions
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.commands.completing import TARGET
from kfuzz.ui.commands.options import kernels_named, print_faults, show_progress, time_limit_options
from kfuzz.ui.reports.report import STDOUT, write


def progress_text(progress: HowFar) -> str:
    """How far the score is, in words."""
    left = f"{progress.left / 60:.0f} min" if progress.left >= 90 else f"{progress.left:.0f} s"
    return f"{progress.done} of {plural(progress.total, 'mutant')}, {left} left; at {progress.score.kernel}"


@click.command(short_help="Count how many planted bugs the search finds.")
@click.argument("targets", type=TARGET, metavar="[KERNEL]...", nargs=-1)
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Number of processes.")
@click.option(
    "--max-cases", type=click.IntRange(1), default=300, show_default=True, help="Number of trials for each planted bug."
)
@click.option("--per-operator", type=click.IntRange(0), default=1, show_default=True,
              help="Number of bugs of each sort to plant into a kernel; 0 plants all.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the bugs and the cases.")
@time_limit_options
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="Keep results in this folder. Give the same folder again to continue. "
              "Default: no results are kept.")  # fmt: skip
@click.option("--json", "json_file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
              help="Write the result for each planted bug to this file. - is standard output.")  # fmt: skip
@click.pass_context
def score(
    ctx: click.Context,
    targets: tuple[str, ...],
    jobs: int,
    max_cases: int,
    per_operator: int,
    seed: int,
    out: Path | None,
    json_file: Path | None,
) -> None:
    """Plant bugs into correct kernels, one at a time, and count how many of them the search finds.

    A planted bug (a mutant) is the kernel with one change, such as a missing barrier or `<` for `<=`. A bug that the
    search misses shows a blind spot of the search or of the claim. It runs on the cpu device.

    KERNEL is a name, a glob, a .cu or .py file, or a folder. Default: every correct kernel that comes with kfuzz.

    \b
    kfuzz score mine.cu --jobs 4                  one bug of each sort
    kfuzz score mine.cu --per-operator 0 --out s  all bugs; the same command continues an interrupted run

    Exit code: 0 done, 1 a correct kernel was called broken, 2 kfuzz could not do it, 130 interrupted.
    """
    named = kernels_named(targets or ("*",))
    print_faults(named)
    kernels = [kernel for kernel in named.usable if kernel.broken is None]
    if not kernels:
        raise TargetError(f"{', '.join(targets)}: wrong on purpose; kfuzz plants bugs only into correct kernels")
    options = ScoreOptions(seed, max_cases, per_operator)
    with show_progress("compiling the first mutants") as show:
        report = run_score(
            kernels, partial(open_device, "cpu"), options, jobs, out, lambda progress: show(progress_text(progress))
        )
    for line in score_lines(report, read_reasons()):
        click.echo(line, err=json_file == STDOUT)
    if json_file:
        write(json_file, as_json(report, read_reasons()))
    if report.interrupted:
        ctx.exit(INTERRUPTED)
    if accused_controls(report):
        ctx.exit(FOUND)
    if named.faults:
        ctx.exit(COULD_NOT)
