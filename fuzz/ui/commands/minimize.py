"""`kfuzz minimize`: shrinks a failing case, and writes a script that reproduces the failure.

Knows options, streams and exit codes; kfuzz.campaign.minimizing does the work.
"""

from contextlib import closing
from pathlib import Path

import click
from rich.console import Console

from kfuzz.campaign.device import open_device
from kfuzz.campaign.minimizing.minimize import Failure, Minimized, failure_of, record_of
from kfuzz.campaign.minimizing.minimize import minimize as make_smaller
from kfuzz.campaign.minimizing.subject import Subject
from kfuzz.cases import case_file, corpus
from kfuzz.cases.case import Record
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import Kernel
from kfuzz.common.errors import TargetError
from kfuzz.common.exit_codes import INTERRUPTED, NOTHING_NEW
from kfuzz.common.printable import one_line
from kfuzz.devices.sandbox.box import sandboxed
from kfuzz.measure.roundings.infer import Unclaimed
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.commands import options
from kfuzz.ui.commands.completing import TARGET
from kfuzz.ui.reports.failure import failure_text
from kfuzz.ui.reports.report import write
from kfuzz.ui.reports.repro import script
from kfuzz.ui.targets.project import Kernels, kernels_below, kernels_for


@click.command(short_help="Shrink a failing case as far as possible.")
@click.argument("path", type=click.Path(path_type=Path), metavar="CASE")
@click.option(
    "--kernel",
    "target",
    type=TARGET,
    metavar="TARGET",
    help="The kernel that the case breaks: a name or a .cu file. Default: the kernel that the case names.",
)
@click.option(
    "--max-time",
    type=options.parse_duration,
    metavar="TIME",
    default="60s",
    show_default=True,
    help="Stop after this time, and keep the smallest case so far.",
)
@click.option(
    "--repro",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the script to this file. Default: repro-*.py in the current folder.",
)
@options.unclaimed_options
@options.device_option
@options.time_limit_options
@options.guard_all_option
@options.sandbox_option
@options.through_option
@click.pass_context
def minimize(
    ctx: click.Context,
    path: Path,
    target: str | None,
    max_time: float,
    repro: Path | None,
    device: str,
    guard_all: bool,
    is_sandboxed: bool | None,
    through: str,
    unclaimed: Unclaimed | None,
) -> None:
    """Shrink a failing case as far as possible, while the kernel still fails in the same way in every run.

    CASE is a file that kfuzz fuzz kept. The smaller case replaces it in its folder if it shows the same bug. kfuzz also
    writes repro-*.py, a script with the kernel's text and the input, which reproduces the failure wherever kfuzz is
    installed.

    \b
    kfuzz minimize tests/corpus/softmax/special-1f0c77aa.json

    Ctrl-C keeps the smallest case so far. Exit code: 0 done, 2 the case does not fail or cannot be run,
    130 interrupted.
    """
    targets = [target] if target else []
    ctx.with_resource(sandboxed(options.sandbox_for_named(is_sandboxed, device, targets, unclaimed)))
    known = options.kernels_named([target], unclaimed) if target else kernels_below(Path.cwd())
    record = case_file.read(path)
    kernel = kernel_of(record, path, target, known)
    screen = options.console()
    with closing(open_device(device, guard_all=guard_all, through=through)) as opened:
        failure = failure_of(record, kernel, opened)
        if failure is None:
            raise CaseError(
                f"{path}: {kernel.name} gives a right answer in every run: there is nothing to make smaller"
            )
        with screen.status("minimizing", refresh_per_second=4) as status:
            found = make_smaller(
                failure, opened, max_time=max_time, progress=lambda now, tried: status.update(progress(now, tried))
            )
        smaller = record_of(found, opened.name)
    kept = corpus.save_in(path.parent, smaller)
    name = repro or Path(f"repro-{smaller.case.digest[:8]}.py")
    print_minimized(failure, found, kept, screen)
    write(name, script(kernel, smaller, name.name))
    screen.print(f"  script    {name}", markup=False, highlight=False, soft_wrap=True)
    ctx.exit(INTERRUPTED if found.stop == "interrupted" else NOTHING_NEW)


def kernel_of(record: Record, path: Path, target: str | None, known: Kernels) -> Kernel:
    """The kernel that you name, or else the one that the case once broke."""
    if target:
        if len(known.usable) > 1:
            names = ", ".join(one.name for one in known.usable)
            raise TargetError(f"--kernel {target} stands for {names}: name one of them")
        return known.usable[0]
    if record.origin is None:
        raise TargetError(f"{path} does not say which kernel it breaks: name one with --kernel")
    wanted = record.origin.kernel
    fitting = [one for one in kernels_for(record, known.usable) if one.name == wanted]
    if not fitting:
        options.print_faults(known)  # one of these files may hold it
        raise TargetError(f"{path}: no kernel named {one_line(wanted)} is found here: give its file with --kernel")
    return fitting[0]


def progress(now: Subject, tried: int) -> str:
    return f"minimizing: {size(now)}, {tried} tried"


def size(subject: Subject) -> str:
    """Axes and tune values in one line."""
    return " ".join(f"{name}={value}" for name, value in {**subject.axes, **subject.tune}.items())


def print_minimized(before: Failure, found: Minimized, kept: Path, screen: Console) -> None:
    """Print the finding as it is now, and how its size has changed."""
    subject, is_smallest = found.failure.subject, found.stop == "smallest"
    text = failure_text(found.failure.defect, ("again", again_text(found)), kept, is_smallest)
    how = f"{found.tried} tried in {found.seconds:.1f} s, {found.stop}"
    screen.print(f"{size(before.subject)} -> {size(subject)} ({how})", markup=False, highlight=False, soft_wrap=True)
    screen.print("", text, sep="\n", markup=False, highlight=False, soft_wrap=True)


def again_text(found: Minimized) -> str:
    """How often the smallest case fails."""
    if not found.again:
        return "not tried with other schedules, poisons and alignments: interrupted"
    if found.failing == found.again:
        return f"always: {found.again} of {plural(found.again, 'time')}, with other schedules, poisons and alignments"
    return f"{found.failing} of {plural(found.again, 'time')}, with other schedules, poisons and alignments"
