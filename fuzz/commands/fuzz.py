"""`kfuzz fuzz`: a campaign from the shell.

Knows options, streams and exit codes; the search itself is in campaign, what is shown in live, summary and report.
"""

import os
import secrets
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click
from click.core import ParameterSource
from rich.console import Console

from kfuzz.campaign import last_run
from kfuzz.campaign.explain import search
from kfuzz.campaign.options import Options
from kfuzz.campaign.schedule import WHOLE, Shard, due, quotas
from kfuzz.campaign.state import seed_of_state
from kfuzz.cases import corpus
from kfuzz.cases.case import CaseError
from kfuzz.claiming.infer import Unclaimed
from kfuzz.claims.kernel import kernel_files
from kfuzz.commands.closing_words import advise, show
from kfuzz.commands.documents import FILE, ReportFiles, format_options, service_option, write_for_service
from kfuzz.commands.options import (
    Screen,
    console,
    device_option,
    duration,
    guard_all_option,
    kernels_named,
    shard,
    tell_faults,
    unclaimed_options,
)
from kfuzz.commands.workplace import Workplace, cluster_option, workplace_for
from kfuzz.devices import DeviceError, PythonCall
from kfuzz.exit_codes import COULD_NOT, INTERRUPTED, NOTHING_NEW, READER_GONE
from kfuzz.find.changed import changed_since
from kfuzz.find.errors import TargetError
from kfuzz.find.project import Kernels, read_all
from kfuzz.find.targets import find
from kfuzz.find.watch import changes
from kfuzz.views import report
from kfuzz.views.failure import discovery_text
from kfuzz.views.formats.json_text import as_json
from kfuzz.views.live import Board, KernelLine, view_of

DEFAULT_SECONDS = 60.0
WATCHED_CASES = 40
"""Of each kernel that has changed: what is wrong is mostly seen in the first few."""
DEFAULT_CORPUS = Path("tests/corpus")
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command(short_help="Search for inputs that break kernels.")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@device_option
@click.option(
    "--max-time", type=duration, metavar="TIME", help="Stop after this long: 60s, 5m. Default 60s without --max-cases."
)
@click.option(
    "--max-cases",
    type=click.IntRange(1),
    help="Stop after so many cases, tried on each device; a seed then has one result.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Which cases are tried; any, and shown, if left out.")
@click.option("--shard", "part", type=shard, metavar="I/N", default="1/1",
              help="Try only part I of N of the cases; all parts need one --seed. See kfuzz merge.")  # fmt: skip
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    help="Processes at work; if left out, one a processor, half of them for the gpu where it is beside the cpu.",
)
@cluster_option
@click.option("--corpus", "folder", type=FOLDER, default=DEFAULT_CORPUS, show_default=True,
              help="Where failing cases are kept, one file for each way to fail.")  # fmt: skip
@click.option("--out", type=FOLDER, help="Keep the state of the search here; given again, it goes on.")
@click.option("--baseline", type=FILE, help="A former --json report: what stands in it is not new, and no failure.")
@format_options("fuzz")
@service_option
@click.option("--since", metavar="COMMIT", help="Only kernels that differ from this commit, or what they include.")
@click.option("--watch", is_flag=True, help="Run again what changes, a few cases of each kernel, until Ctrl-C.")
@unclaimed_options
@click.option("--sanitize", is_flag=True, help="On the gpu, put compute-sanitizer under some of the trials.")
@guard_all_option
@click.option("--torch", "with_torch", is_flag=True,
              help="Also build extensions by the torch that is installed, and judge its answers.")  # fmt: skip
@click.pass_context
def fuzz(
    ctx: click.Context,
    targets: tuple[str, ...],
    device: str,
    max_time: float | None,
    max_cases: int | None,
    seed: int | None,
    part: Shard,
    jobs: int | None,
    cluster: str | None,
    folder: Path,
    out: Path | None,
    baseline: Path | None,
    outputs: ReportFiles,
    service: str,
    since: str | None,
    watch: bool,
    sanitize: bool,
    with_torch: bool,
    guard_all: bool,
    unclaimed: Unclaimed | None,
) -> None:
    """Search for inputs that break kernels, and keep one case for each way in which they break.

    TARGET is a kernel's name, a glob, a .cu or .py file, a callable in a module or a folder; left out, every kernel
    that comes with kfuzz and is not broken on purpose. A kernel is code: it is compiled and run as you. A kept case is
    data and can do nothing.

    \b
    kfuzz fuzz mine.cu                        a minute on your own kernel
    kfuzz fuzz 'softmax/*' --max-time 10m     ten minutes on all softmax kernels
    kfuzz fuzz mine.cu --max-cases 500 --seed 7     the same 500 cases, every time
    kfuzz fuzz . --json now.json --baseline last.json     fail on what is new
    kfuzz fuzz mine.cu --watch                run again whenever you save it
    kfuzz fuzz theirs.cu --op softmax --home 16x1024     a file without a claim, as it is
    kfuzz fuzz answers --claim softmax.toml --out done     a folder of them
    kfuzz fuzz mypkg.softmax:forward --op softmax     a Python function of arrays

    Exit code: 0 nothing new is broken, 1 something is, 2 it could not be done, 130 interrupted; what was found is
    kept in every case.
    """
    if part.count > 1 and seed is None:
        raise click.UsageError(f"--shard {part} is a part of the cases of one seed: give all parts the same --seed")
    if watch and (out or cluster or since or part != WHOLE):
        raise click.UsageError("--watch begins anew with every change: leave out --out, --since, --cluster and --shard")
    if unclaimed and (watch or not targets):
        raise click.UsageError("--op and --claim are for files that are named; with --watch, put the claim into them")
    kernels = Kernels((), {}) if watch else meant(targets, since, unclaimed)
    tell_faults(kernels)
    if unclaimed and len(kernels.usable) == 1 and kernels.usable[0].front.said:
        click.echo(f"the claim, by the text of {targets[0]}:\n{kernels.usable[0].front.toml}\n", err=True)
    if not kernels.usable and not watch:
        click.echo(f"no kernel differs from {since}: nothing to do")
        ctx.exit(COULD_NOT if kernels.faults else NOTHING_NEW)
    place = ctx.with_resource(workplace_for(device, jobs, cluster, sanitize, with_torch, guard_all))
    if sanitize and place.devices == "cpu":
        click.echo("--sanitize does nothing on the cpu, which looks at each access of some trials without it", err=True)
    options = Options(
        seed=chosen_seed(seed, out),
        max_cases=max_cases,
        max_time=DEFAULT_SECONDS if max_time is None and max_cases is None and not watch else max_time,
        jobs=place.jobs,
        corpus=folder,
        out=out,
        known=corpus.read_baseline(baseline) if baseline else frozenset(),
        other_shapes=unclaimed is None or unclaimed.shapes == "any",
        shard=part,
    )
    corpus.check_writable(folder)
    screen = console(to_stderr=outputs.uses_stdout)
    is_part = ctx.get_parameter_source("part") is not ParameterSource.DEFAULT
    is_collection = unclaimed is not None and any(map(os.path.isdir, targets))

    def searched(kernels: Kernels, options: Options) -> report.Report:
        found = replace(campaign(kernels, place, options, screen, is_part), is_collection=is_collection)
        try:
            show(found, screen, is_first_look=not targets and not watch)
            if targets and cluster is None and not (watch or is_collection) and found.exit_code == NOTHING_NEW:
                advise(kernels.usable, place.lanes[-1], screen)
        finally:  # even if the reader of the terminal's text has gone
            documents = [report.document(found)]
            outputs.write(documents)
            if out:
                report.write(out / "report.json", as_json(documents))
            write_for_service(service, documents, to_stderr=outputs.uses_stdout)
        return found

    code = watched(targets, options, searched, screen) if watch else searched(kernels, options).exit_code
    ctx.exit(READER_GONE if screen.is_abandoned else code)


def meant(targets: tuple[str, ...], since: str | None, unclaimed: Unclaimed | None = None) -> Kernels:
    """The kernels that are to be fuzzed: of ours those that are not broken on purpose, where none is named."""
    kernels = kernels_named(targets, unclaimed) if targets else read_all(kernel_files())
    if not targets:
        kernels = replace(kernels, usable=tuple(each for each in kernels.usable if each.broken is None))
    return kernels if since is None else replace(kernels, usable=changed_since(kernels.usable, since))


def watched(
    targets: tuple[str, ...], options: Options, searched: Callable[[Kernels, Options], report.Report], screen: Screen
) -> int:
    """Search what has changed, again and again, until somebody ends it: with the same cases, so that answers agree."""
    for target in targets:
        find(target)  # at first they have to be there
    for paths in changes(lambda: files_meant(targets)):
        kernels = read_all(paths)
        tell_faults(kernels)
        if kernels.usable:
            most = options.max_cases or (None if options.max_time else WATCHED_CASES * len(kernels.usable))
            found = searched(kernels, replace(options, max_cases=most))
            if found.exit_code == INTERRUPTED or screen.is_abandoned:
                return found.exit_code
        screen.print("watching; save a file to run it again, Ctrl-C ends", "", sep="\n", highlight=False)
    raise AssertionError("changes go on for ever")


def files_meant(targets: tuple[str, ...]) -> list[Path]:
    """The files of the targets, as far as they are there now."""
    if not targets:
        return [kernel.path for kernel in meant((), None).usable]
    found: list[Path] = []
    for target in targets:
        with suppress(TargetError):
            found += find(target)
    return found


def chosen_seed(seed: int | None, out: Path | None) -> int:
    """The seed that was asked for, that of the campaign which is resumed, or a new one."""
    if seed is None and out is not None:
        seed = seed_of_state(out)
    return secrets.randbelow(1 << 32) if seed is None else seed


def campaign(kernels: Kernels, place: Workplace, options: Options, screen: Console, is_part: bool) -> report.Report:
    """Run it while it is shown; where it cannot go on, show what it has found before saying why."""
    chosen = kernels.usable
    count = f"{len(chosen)} kernels" if len(chosen) != 1 else chosen[0].name
    jobs = f"{options.jobs} jobs, " if options.jobs > 1 else ""
    part = f", part {options.shard}" if options.shard != WHOLE else ""
    screen.print(f"fuzzing {count} on the {place} ({jobs}seed {options.seed}{part})", markup=False, highlight=False)
    if slow := sorted({one.library for kernel in chosen for one in kernel.entries if isinstance(one, PythonCall)}):
        screen.print(f"each process imports {', '.join(slow)} first, which may take seconds", highlight=False)
    each = due(chosen, quotas(len(chosen), options.max_cases), options.shard)
    most = None if each is None else each * len(place.lanes)
    board = Board({kernel.name: KernelLine() for kernel in chosen}, options.max_time, most)
    started = datetime.now(UTC)
    try:
        with view_of(board, screen) as view:
            result = search(chosen, place.lanes, options, view, place.spread, is_part)
    except (CaseError, DeviceError):
        for one in board.found:
            screen.print(discovery_text(one), "", sep="\n", markup=False, highlight=False)
        raise
    last_run.note(result, place.devices)
    return report.Report(result, ("kfuzz", *sys.argv[1:]), place.devices, started, kernels.faults)
