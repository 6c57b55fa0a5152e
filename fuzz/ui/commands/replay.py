"""`kfuzz replay`: runs kept cases again.

Knows options, streams and exit codes; kfuzz.campaign.trials runs the cases.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from kfuzz.campaign.device import open_device
from kfuzz.campaign.trials.replay import Replay
from kfuzz.campaign.trials.replay import replay as replay_record
from kfuzz.campaign.trials.unjudged import unjudged_text
from kfuzz.cases import case_line, corpus
from kfuzz.cases.case import Record
from kfuzz.claims.kernel import Kernel
from kfuzz.common.errors import TargetError
from kfuzz.common.exit_codes import COULD_NOT, FOUND, NOTHING_NEW
from kfuzz.common.printable import one_line, printable, shown_path
from kfuzz.devices import Device
from kfuzz.devices.sandbox.box import sandboxed
from kfuzz.kinds import Kind, Severity, fails_run
from kfuzz.measure.roundings.infer import Unclaimed
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.commands import options
from kfuzz.ui.commands.completing import FILE_NAME, TARGET
from kfuzz.ui.reports.accuracy import describe_unjudged
from kfuzz.ui.reports.failure import replay_texts
from kfuzz.ui.reports.inferred import inferred_claim, inferred_texts
from kfuzz.ui.targets.project import kernels_below, kernels_for, kernels_of_op

DEFAULT = Path("tests/corpus")
HUGE = 1 << 22
"""The replay of a case with so many elements takes more than a few seconds."""


@click.command(short_help="Run kept cases again.")
@click.argument("places", nargs=-1, type=FILE_NAME, metavar="[PATH|LINE]...")
@click.option("--kernel", "targets", multiple=True, type=TARGET, metavar="TARGET",
              help="Replay only on this kernel: a name, a glob, a .cu file or a folder. You can repeat it. "
              "Default: all kernels below this folder, and the one that the case once broke.")  # fmt: skip
@options.unclaimed_options
@options.device_option
@options.time_limit_options
@options.guard_all_option
@options.sandbox_option
@options.through_option
@options.fail_on_option
@click.pass_context
def replay(
    ctx: click.Context,
    places: tuple[str, ...],
    targets: tuple[str, ...],
    device: str,
    guard_all: bool,
    is_sandboxed: bool | None,
    through: str,
    fail_on: Severity,
    unclaimed: Unclaimed | None,
) -> None:
    """Run kept cases again, on every kernel that computes the same op and claims these sizes and values.

    PATH is a case file or a folder of them. Default: tests/corpus. LINE is a small case in the form in which a failure
    prints it, in quotes: 'kfuzz-case:...'. kfuzz compiles the kernels and runs them with your rights, unless --sandbox
    is given. A case is only data.

    \b
    kfuzz replay                             all cases of tests/corpus
    kfuzz replay case.json --kernel mine.cu  one case on one kernel

    \b
    kept        right in every run
    fixed       right in every run of the kernel that this case once broke
    warned      shows the warning for which it was kept, and no error
    flaky       wrong in k of N runs that differ only in schedule, poison and alignment
    broken      wrong in every run
    skipped     this device lacks something that the kernel uses
    cannot run  the source does not compile, or the claim allows no launch

    Exit code: 0 all are kept or fixed, 1 something is broken or flaky (or warned, with --fail-on warning), 2 a case
    file is damaged or nothing ran.
    """
    ctx.with_resource(sandboxed(options.sandbox_for_named(is_sandboxed, device, targets, unclaimed)))
    kernels = options.kernels_named(targets, unclaimed) if targets else kernels_below(Path.cwd())
    found = entries(places)
    if not found:
        raise TargetError(f"no case file in {', '.join(places) or DEFAULT}: nothing to replay")
    options.print_faults(kernels)
    statuses: Counter[str] = Counter()
    idle: dict[str, Replay] = {}
    wrong: dict[str, set[Kind]] = {}
    screen = options.console()
    with closing(open_device(device, guard_all=guard_all, through=through)) as opened:
        for entry in found:
            if entry.record is None:
                click.echo(printable(entry.error), err=True)
                statuses["damaged"] += 1
                continue
            for one in replays(entry, kernels.usable, opened, idle, screen, is_chosen=bool(targets)):
                statuses[one.status] += 1
                screen.print(status_line(one, entry.path), markup=False, highlight=False, soft_wrap=True)
                if one.defects:
                    wrong.setdefault(one.kernel, set()).update(defect.kind for defect in one.defects)
                for text in replay_texts(one, entry.record, entry.path):
                    screen.print("", text, "", sep="\n", markup=False, highlight=False, soft_wrap=True)
    for name, kinds in wrong.items():
        kernel = next(one for one in kernels.usable if one.name == name)
        for line in inferred_texts(name, inferred_claim(kernel, kinds)):
            screen.print(line, markup=False, highlight=False, soft_wrap=True)
    ran = sum(statuses[status] for status in ("kept", "fixed", "warned", "flaky", "broken"))
    counts = ", ".join(f"{count} {status}" for status, count in statuses.items())
    screen.print(f"{plural(len(found), 'case')} on the {opened.name}: {counts}", markup=False, highlight=False)
    if statuses["broken"] or statuses["flaky"] or (statuses["warned"] and fails_run("warning", fail_on)):
        ctx.exit(FOUND)
    could_not = statuses["damaged"] or statuses["cannot run"] or kernels.faults or not ran
    ctx.exit(COULD_NOT if could_not else NOTHING_NEW)


def entries(places: Sequence[str]) -> list[corpus.KeptCase]:
    """The cases in files and folders, and those pasted as a line."""
    lines = [place for place in places if place.startswith(case_line.PREFIX)]
    paths = [Path(place) for place in places if place not in lines]
    pasted = [corpus.KeptCase(Path("(pasted)"), case_line.record_of(status_line)) for status_line in lines]
    return [*(corpus.entries(paths or (DEFAULT,)) if paths or not lines else ()), *pasted]


def replays(
    entry: corpus.KeptCase,
    kernels: Sequence[Kernel],
    device: Device,
    idle: dict[str, Replay],
    screen: Console,
    is_chosen: bool,
) -> Iterator[Replay]:
    """Replay a case on each kernel that fits it; without such a kernel, one result says so.

    `idle` collects the kernels that cannot run here, so that the reason is printed once.
    """
    record = entry.record
    assert record is not None, "damaged cases are reported before"
    chosen = kernels_of_op(record, kernels) if is_chosen else kernels_for(record, kernels)
    for kernel in chosen:
        found = idle.get(kernel.name) or replay_with_progress(entry, record, kernel, device, screen)
        if found.status in ("skipped", "cannot run"):
            idle[kernel.name] = replace(found, reason="as above")
        yield found
    if not chosen:
        whose = f", and {one_line(record.origin.kernel)} is not found" if record.origin and not is_chosen else ""
        reason = f"no kernel here computes {record.case.op}{whose}; name one with --kernel"
        yield Replay("-", "not claimed", 0, 0, (), {}, reason)


def replay_with_progress(
    entry: corpus.KeptCase, record: Record, kernel: Kernel, device: Device, screen: Console
) -> Replay:
    """A replay; of a huge case it is said beforehand what is done, and on a terminal how far it is."""
    if record.case.is_vast or record.case.elements < HUGE:
        return replay_record(record, kernel, device)
    what = f"{shown_path(entry.path)}  {kernel.name}"
    how = f"{plural(record.case.elements, 'element')}, in one launch, may take a minute"
    screen.print(f"{'running':<15} {what}  ({how})", markup=False, highlight=False, soft_wrap=True)
    with screen.status(escape(kernel.name)) as status:
        return replay_record(record, kernel, device, tell=lambda doing: status.update(escape(f"{kernel.name} {doing}")))


def status_line(one: Replay, path: Path) -> str:
    """Status, case and kernel, and why rows were not judged."""
    status = f"flaky ({one.broken_runs} of {one.runs})" if one.status == "flaky" else one.status
    why = one.reason or describe_unjudged(one.rows, one.unjudged_rows, list(map(unjudged_text, one.reasons)))
    return f"{status:<15} {shown_path(path)}  {one.kernel}{f'  ({why})' if why else ''}"
