"""`kfuzz fuzz`: a campaign from the shell.

Knows options, streams and exit codes. The search itself is in kfuzz.campaign, and its texts are in kfuzz.ui.reports.
Long, since it has each option of the command with its help.
"""

import os
import secrets
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click
from click.core import ParameterSource
from rich.console import Console

from kfuzz.campaign import last_run
from kfuzz.campaign.device import jobs_worthwhile
from kfuzz.campaign.explain import search
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import Result
from kfuzz.campaign.schedule import WHOLE, Shard, quotas, trial_count
from kfuzz.campaign.sole_use import sole_use
from kfuzz.campaign.state import seed_of_state
from kfuzz.cases import corpus
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import Kernel, correct_kernel_files
from kfuzz.claims.language.front_matter import text_of
from kfuzz.claims.language.languages import languages
from kfuzz.claims.language.reference import OP
from kfuzz.claims.references.formats import solved_by
from kfuzz.common.errors import TargetError
from kfuzz.common.exit_codes import COULD_NOT, INTERRUPTED, NOTHING_NEW, READER_GONE
from kfuzz.common.phases import Stage, listening
from kfuzz.common.time_limits import LAST_TRIAL, TimeLimits, limited, time_limits
from kfuzz.devices import DeviceError
from kfuzz.devices.cpu.ahead import build_ahead
from kfuzz.devices.sandbox.box import sandboxed
from kfuzz.devices.vendors import vendor
from kfuzz.kinds import Severity
from kfuzz.measure.roundings.in_hand import add_findings
from kfuzz.measure.roundings.infer import Unclaimed
from kfuzz.ui.commands import own_files
from kfuzz.ui.commands.closing_words import advise, print_report
from kfuzz.ui.commands.completing import TARGET
from kfuzz.ui.commands.documents import FILE, ReportFiles, format_options, service_option, write_for_service
from kfuzz.ui.commands.options import (
    Screen,
    console,
    device_option,
    fail_on_option,
    guard_all_option,
    kernels_named,
    parse_duration,
    parse_shard,
    print_faults,
    sandbox_for,
    sandbox_option,
    through_option,
    time_limit_options,
    unclaimed_options,
)
from kfuzz.ui.commands.workplace import Workplace, cluster_option, workplace_for
from kfuzz.ui.reports import report
from kfuzz.ui.reports.failure import discovery_text
from kfuzz.ui.reports.formats.json_text import as_json
from kfuzz.ui.reports.live import Board, KernelLine, view_of
from kfuzz.ui.reports.phases import show_phases
from kfuzz.ui.targets.changed import kernels_changed_since
from kfuzz.ui.targets.project import Kernels, find_sources, read_all
from kfuzz.ui.targets.targets import find_files
from kfuzz.ui.targets.watch import changes

DEFAULT_SECONDS = 60.0
WATCHED_CASES = 40
"""Cases for each kernel that has changed: the first few show most bugs."""
DEFAULT_CORPUS = Path("tests/corpus")
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command(short_help="Search for inputs that break kernels.")
@click.argument("targets", nargs=-1, type=TARGET, metavar="[TARGET]...")
@device_option
@click.option(
    "--max-time",
    type=parse_duration,
    metavar="TIME",
    help="Stop after this time: 90s, 5m, 1h. Default: 60s, or no limit with --max-cases.",
)
@click.option(
    "--max-cases",
    type=click.IntRange(1),
    help="Stop after this many cases on each device. The same seed then always gives the same result. "
    "Default: no limit.",
)
@click.option("--stop-at-first", is_flag=True, help="Stop at the first finding that fails the run.")
@fail_on_option
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Seed of the cases. Default: random, and printed.")
@click.option("--shard", "part", type=parse_shard, metavar="I/N", default="1/1",
              show_default=True,
              help="Try only part I of N of the cases, to divide a campaign among machines. All parts need the same "
              "--seed; kfuzz merge joins their reports.")  # fmt: skip
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    help="Number of processes. Default: one for each processor, fewer for a few cases; half of them for the GPU if the "
    "campaign uses both devices.",
)
@time_limit_options
@cluster_option
@click.option("--corpus", "folder", type=FOLDER, default=DEFAULT_CORPUS, show_default=True,
              help="Keep failing cases in this folder, one file for each way to fail.")  # fmt: skip
@click.option(
    "--out",
    type=FOLDER,
    help="Keep the state of the search in this folder. Give the same folder again to continue. "
    "Default: no state is kept.",
)
@click.option(
    "--baseline", type=FILE, help="An earlier --json report. Findings that are already in it do not fail the run."
)
@format_options("fuzz")
@service_option
@click.option(
    "--since",
    metavar="COMMIT",
    help="Fuzz only kernels that changed after this commit, themselves or in a file that they include.",
)
@click.option("--watch", is_flag=True, help="Fuzz a kernel again whenever its file changes, until you press Ctrl-C.")
@click.option("--strict", "is_strict", is_flag=True,
              help="Exit code 2 if a kernel below a TARGET has no claim. Default: only name its file.")  # fmt: skip
@unclaimed_options
@click.option("--sanitize", is_flag=True, help="Run some trials on the GPU under compute-sanitizer.")
@guard_all_option
@sandbox_option
@through_option
@click.option(
    "--verbose",
    is_flag=True,
    help="Say more at the end: what was inferred, which sizes and properties were tried, long cases as text.",
)
@click.option("--torch", "with_torch", is_flag=True,
              help="Also build PyTorch extensions with the installed torch, and judge their answers.")  # fmt: skip
@click.pass_context
def fuzz(
    ctx: click.Context,
    targets: tuple[str, ...],
    device: str,
    max_time: float | None,
    max_cases: int | None,
    stop_at_first: bool,
    fail_on: Severity,
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
    is_strict: bool,
    sanitize: bool,
    with_torch: bool,
    guard_all: bool,
    is_sandboxed: bool | None,
    through: str,
    verbose: bool,
    unclaimed: Unclaimed | None,
) -> None:
    """Search for inputs that break kernels, and keep one small case for each way in which they break.

    TARGET is the name of a kernel, a glob, a .cu, .ptx or .py file, a callable in a module (mypkg.softmax:forward), or
    a folder. Default: the kernels of the settings (kfuzz.toml), else those below this folder, else every correct kernel
    that comes with kfuzz. A program with a main and no claim runs as in kfuzz check. kfuzz compiles kernels and runs
    them with your rights. A kept case is only data.

    \b
    kfuzz fuzz mine.cu                                  one minute on your own kernel
    kfuzz fuzz 'softmax/*' --max-time 10m               ten minutes on all softmax kernels
    kfuzz fuzz mine.cu --max-cases 500 --seed 7         the same 500 cases, every time
    kfuzz fuzz . --json now.json --baseline last.json   fail only on new findings
    kfuzz fuzz mine.cu --watch                          fuzz again whenever you save the file
    kfuzz fuzz theirs.cu --op softmax --home 16x1024    a file without a claim
    kfuzz fuzz answers --claim softmax.toml --out done  a folder of such files
    kfuzz fuzz mypkg.softmax:forward --op softmax       a Python function of arrays
    kfuzz fuzz generated_kernels                        a folder of BackendBench

    Exit code: 0 nothing is broken that --baseline does not know, 1 a kernel is broken (or there is a warning, with
    --fail-on warning), 2 a kernel could not be judged, 130 interrupted. In every case kfuzz keeps the findings so far.
    """
    check_shard(part, seed)
    check_watch(watch and bool(out or cluster or since or part != WHOLE), bool(unclaimed) and (watch or not targets))
    max_time = DEFAULT_SECONDS if max_time is None and max_cases is None and not watch else max_time
    began: float = ctx.find_root().obj or time.monotonic()  # kfuzz loads for a second or two
    if not watch:
        ctx.with_resource(limited(until_end(began, max_time)))
    given, targets = targets, targets or own_files.own_targets(Path())
    ctx.with_resource(
        build_ahead() if device != "gpu" and cluster is None and may_be_compiled(targets) else nullcontext()
    )
    if unclaimed is None and not watch and (reference := solved_by(targets)):
        unclaimed = Unclaimed(OP, reference=Path(reference))
    if unclaimed is None and not watch and (paths := own_files.files_without_claim(targets)):
        if len(targets) == 1 and not is_sandboxed and own_files.has_main(text_of(paths[0])):
            ctx.exit(own_files.check_instead(ctx, paths[0]))
        unclaimed = own_files.claim_instead(paths[0]) if len(targets) == 1 else own_files.claim_each(paths)
    ctx.with_resource(
        sandboxed(sandbox_for(is_sandboxed, device, targets, unclaimed, not (with_torch or cluster or watch)))
    )
    screen = console(to_stderr=outputs.uses_stdout)
    with show_phases(screen):  # a claim that is guessed, or a reference that is described, takes some time
        kernels = Kernels((), {}) if watch else select_kernels(targets, since, unclaimed)
    if not watch and (unclaimed is None or unclaimed.by_names):
        kernels = own_files.leave_out(own_files.passed_over(given or ("." if targets else "",)), kernels, is_strict)
    print_faults(kernels)
    if unclaimed and len(kernels.usable) == 1 and kernels.usable[0].front.said:
        click.echo(
            f"claim that kfuzz derived from the text of {targets[0]}:\n{kernels.usable[0].front.toml}\n", err=True
        )
    if not kernels.usable and not watch:
        click.echo(f"no kernel differs from {since}: nothing to do")
        ctx.exit(COULD_NOT if kernels.faults else NOTHING_NEW)
    worthwhile = jobs_worthwhile(len(kernels.usable), None if watch else max_cases)
    place = ctx.with_resource(
        workplace_for(device, jobs, cluster, sanitize, with_torch, guard_all, worthwhile, through)
    )
    if sanitize and place.devices == "cpu":
        click.echo(
            "--sanitize has no effect on the cpu device, which always checks every access in some of the trials",
            err=True,
        )
    ctx.with_resource(sole_use(out))
    options = Options(
        seed=choose_seed(seed, out),
        max_cases=max_cases,
        max_time=max_time if watch or max_time is None else time_to_search(began, max_time),
        timeout=time_limits().call or Options.timeout,
        jobs=place.jobs,
        corpus=folder,
        out=out,
        known=corpus.read_baseline(baseline) if baseline else frozenset(),
        other_shapes=unclaimed is None or unclaimed.shapes == "any",
        shard=part,
        stop_at_first=stop_at_first,
        fail_on=fail_on,
    )
    corpus.check_writable(folder)
    is_part = ctx.get_parameter_source("part") is not ParameterSource.DEFAULT
    is_collection = unclaimed is not None and any(map(os.path.isdir, targets))

    def run_campaign(kernels: Kernels, options: Options) -> report.Report:
        found = replace(
            campaign(kernels, place, options, screen, is_part, partial(keep_report, outputs, is_collection)),
            is_collection=is_collection,
        )
        try:
            print_report(found, screen, is_first_look=not targets and not watch, verbose=verbose)
            if targets and cluster is None and not (watch or is_collection) and found.exit_code == NOTHING_NEW:
                advise(kernels.usable, place.lanes[-1], screen)
        finally:  # even if the reader of the terminal's text has gone
            outputs.write(documents := [report.document(found)])
            if out:
                report.write(out / "report.json", as_json(documents))
            write_for_service(service, documents, to_stderr=outputs.uses_stdout)
        return found

    code = watch_files(targets, options, run_campaign, screen) if watch else run_campaign(kernels, options).exit_code
    ctx.exit(READER_GONE if screen.is_abandoned else code)


def keep_report(outputs: ReportFiles, is_collection: bool, found: report.Report) -> None:
    """Write the report so far to its files."""
    with suppress(Exception):  # the whole report is written at the end, and says what is wrong
        outputs.write_files([report.document(replace(found, is_collection=is_collection))])


def may_be_compiled(targets: tuple[str, ...]) -> bool:
    """Whether a file to compile is most likely among the targets, as far as their names say: none of them is read."""
    compiled = tuple(ending for ending, language in languages().items() if language.runner.compiles)
    return not targets or any(
        target.endswith(compiled) or (os.path.isdir(target) and any(find_sources(Path(target), compiled)))
        for target in targets
    )


def select_kernels(targets: tuple[str, ...], since: str | None, unclaimed: Unclaimed | None = None) -> Kernels:
    """The kernels to fuzz; by default all that come with kfuzz and are not broken on purpose."""
    kernels = kernels_named(targets, unclaimed) if targets else read_all(correct_kernel_files())
    return kernels if since is None else replace(kernels, usable=kernels_changed_since(kernels.usable, since))


def watch_files(
    targets: tuple[str, ...],
    options: Options,
    run_campaign: Callable[[Kernels, Options], report.Report],
    screen: Screen,
) -> int:
    """Fuzz what has changed, until interrupted; always with the same cases, so that results can be compared."""
    for target in targets:
        find_files(target)  # all of them must exist at the start
    for paths in changes(lambda: files_of_targets(targets)):
        kernels = read_all(paths)
        print_faults(kernels)
        if kernels.usable:
            most = options.max_cases or (None if options.max_time else WATCHED_CASES * len(kernels.usable))
            found = run_campaign(kernels, replace(options, max_cases=most))
            if found.exit_code == INTERRUPTED or screen.is_abandoned:
                return found.exit_code
        screen.print("watching: save a file to fuzz it again; Ctrl-C ends", "", sep="\n", highlight=False)
    raise AssertionError("changes() never ends")


def files_of_targets(targets: tuple[str, ...]) -> list[Path]:
    """The files of the targets that exist now."""
    if not targets:
        return [kernel.path for kernel in select_kernels((), None).usable]
    found: list[Path] = []
    for target in targets:
        with suppress(TargetError):
            found += find_files(target)
    return found


def choose_seed(seed: int | None, out: Path | None) -> int:
    """The given seed, that of the campaign to continue, or a random one."""
    if seed is None and out is not None:
        seed = seed_of_state(out)
    return secrets.randbelow(1 << 32) if seed is None else seed


def check_gpu(kernels: Kernels, place: Workplace) -> None:
    """Raise a DeviceError that names the other device if kernels are compiled for a GPU that this machine lacks."""
    needs_gpu = compiles_any(kernels.usable) and place.spread is None and place.lanes[0].name == "gpu"
    if needs_gpu and (reason := vendor().why_not()):
        raise DeviceError(f"{reason}. To fuzz without a GPU, use --device cpu")


def compiles_any(kernels: Iterable[Kernel]) -> bool:
    """Whether kfuzz itself compiles one of the kernels."""
    return any(kernel.front.language.runner.compiles for kernel in kernels)


def check_shard(part: Shard, seed: int | None) -> None:
    """Raise a UsageError for a part of a campaign whose other parts would have other seeds."""
    if part.count > 1 and seed is None:
        raise click.UsageError(f"--shard {part} needs --seed: all parts of a campaign must have the same seed")


def check_watch(is_kept: bool, is_unclaimed: bool) -> None:
    """Raise a UsageError for options that do not work with --watch, or without a TARGET."""
    if is_kept:
        raise click.UsageError(
            "--watch does not work with --out, --since, --cluster or --shard: it starts a new search for each change"
        )
    if is_unclaimed:
        raise click.UsageError(
            "--op and --claim need a TARGET, and do not work with --watch: put the claim into the file instead"
        )


def until_end(began: float, max_time: float | None) -> TimeLimits:
    """The limits of a command that began then and ends after this time, or after a last trial from now on."""
    limits = time_limits()
    return limits if max_time is None else replace(limits, until=max(began + max_time, time.monotonic()) + LAST_TRIAL)


def time_to_search(began: float, max_time: float) -> float:
    """What is left of a command's time: reading and guessing claims is part of it, but never all."""
    return max(max_time + began - time.monotonic(), max_time / 4)


def campaign(
    kernels: Kernels, place: Workplace, options: Options, screen: Console, is_part: bool,
    keep: Callable[[report.Report], None] = lambda found: None,
) -> report.Report:  # fmt: skip
    """Run and show a campaign; if it cannot continue, show its findings before the error. `keep` gets the report so
    far, before findings are explained and before an error.
    """
    chosen = kernels.usable
    check_gpu(kernels, place)
    count = f"{len(chosen)} kernels" if len(chosen) != 1 else chosen[0].name
    jobs = f"{options.jobs} jobs, " if options.jobs > 1 else ""
    part = f", part {options.shard}" if options.shard != WHOLE else ""
    loads = Stage.COMPILING if compiles_any(chosen) else Stage.LOADING
    began = f"fuzzing {count} on the {place} ({jobs}seed {options.seed}{part}); {loads.value}"
    screen.print(began, markup=False, highlight=False)
    if slow := sorted({one.called.library for kernel in chosen for one in kernel.launches if one.called}):
        screen.print(f"it first imports {', '.join(slow)}, which may take some seconds", highlight=False)
    each = trial_count(chosen, quotas(len(chosen), options.max_cases), options.shard)
    most = None if each is None else each * len(place.lanes)
    board = Board({kernel.name: KernelLine() for kernel in chosen}, options.max_time, most, loads=loads)
    started = datetime.now(UTC)

    def report_of(result: Result) -> report.Report:
        command = ("kfuzz", *sys.argv[1:])
        return report.Report(result, command, place.devices, started, kernels.faults, fail_on=options.fail_on)

    try:
        with view_of(board, screen) as view, listening(view.show_phase):
            result = search(
                chosen, place.lanes, options, view, place.spread, is_part, lambda found: keep(report_of(found))
            )
            result = add_findings(result, kernels.guesses, options)
    except (CaseError, DeviceError):
        for one in board.found:
            screen.print(discovery_text(one), "", sep="\n", markup=False, highlight=False)
        raise
    last_run.note_runs(result, place.devices)
    return report_of(result)
