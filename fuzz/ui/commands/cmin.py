"""`kfuzz cmin`: finds redundant cases of a corpus. kfuzz.measure.mutants measures what a case detects."""

from contextlib import closing
from pathlib import Path

import click

from kfuzz.campaign.device import open_device
from kfuzz.cases import corpus
from kfuzz.common.errors import TargetError
from kfuzz.common.printable import shown_path
from kfuzz.measure.mutants.redundant_cases import killers_of_mutants, redundant_cases
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.commands.completing import TARGET
from kfuzz.ui.commands.options import device_option, kernels_named, print_faults, show_progress, time_limit_options
from kfuzz.ui.commands.replay import DEFAULT
from kfuzz.ui.targets.project import kernels_below


@click.command(short_help="Find redundant cases, and delete them.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=DEFAULT)
@click.option("--kernel", "targets", multiple=True, type=TARGET, metavar="TARGET",
              help="Measure on this kernel: a name, a glob, a .cu file or a folder. You can repeat it. "
              "Default: all kernels below this folder.")  # fmt: skip
@click.option("--delete", is_flag=True, help="Delete the redundant cases. Default: only print them.")
@device_option
@time_limit_options
def cmin(folder: Path, targets: tuple[str, ...], delete: bool, device: str) -> None:
    """Find redundant cases: those that detect no bug that the others miss.

    To measure what a case detects, kfuzz plants bugs into the kernels, one of each sort, and replays every case on
    each of them. A case that detects none of these bugs stays, since it was kept for another sort of bug.

    FOLDER is the corpus. Default: tests/corpus.

    \b
    kfuzz cmin                        print the redundant cases of tests/corpus
    kfuzz cmin tests/corpus --delete  delete them
    """
    if not folder.is_dir() or not corpus.paths([folder]):  # to read every kernel first takes seconds
        raise TargetError(f"{folder}: no readable case in it")
    found = kernels_named(targets) if targets else kernels_below(Path.cwd())  # a case may be of a formula of theirs
    entries = [entry for entry in corpus.entries([folder]) if entry.record is not None] if folder.is_dir() else []
    records = [entry.record for entry in entries if entry.record is not None]
    if not records:
        raise TargetError(f"{folder}: no readable case in it")
    print_faults(found)
    kernels = tuple(kernel for kernel in found.usable if kernel.broken is None)
    killers = {}
    with closing(open_device(device)) as opened, show_progress("planting the first bugs") as show:
        for mutant, cases in killers_of_mutants(records, kernels, opened):
            killers[mutant.key] = cases
            show(f"{plural(len(killers), 'planted bug')} tried, at {mutant.kernel}")
    killed = sum(bool(cases) for cases in killers.values())
    needless = redundant_cases(killers, lambda place: records[place].case.elements)
    for place in sorted(needless):
        click.echo(shown_path(entries[place].path))
        if delete:
            corpus.delete(entries[place].path)
    word = "deleted" if delete else "redundant"
    click.echo(f"{killed} of {plural(len(killers), 'planted bug')} are detected; "
               f"{len(needless)} of {plural(len(records), 'case')} {word}")  # fmt: skip
