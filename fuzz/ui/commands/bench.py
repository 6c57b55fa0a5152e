"""`kfuzz bench`: options, streams and exit codes. kfuzz.measure.speed takes the times."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from importlib import metadata
from pathlib import Path

import click

from kfuzz.campaign.device import open_device
from kfuzz.campaign.trials.trial import ignore_progress
from kfuzz.claims.kernel import Kernel
from kfuzz.common.errors import TargetError
from kfuzz.common.exit_codes import COULD_NOT, FOUND
from kfuzz.devices import ClaimError, DeviceError
from kfuzz.devices.vendors import vendor
from kfuzz.measure.speed.bench import KernelTimes, time_kernel
from kfuzz.measure.speed.own_process import run_apart
from kfuzz.measure.speed.rivals import ALSO, RIVALS, check_installed
from kfuzz.measure.speed.sizes import sizes_of
from kfuzz.ui.commands.completing import TARGET
from kfuzz.ui.commands.options import console, kernels_named, parse_shape, print_faults, time_limit_options
from kfuzz.ui.reports import timing
from kfuzz.ui.reports.report import STDOUT, write

LIBRARIES = tuple(dict.fromkeys(one.distribution for one in RIVALS.values()))


def parse_rivals(_: click.Context, __: click.Parameter, written: str) -> tuple[str, ...]:
    """Parse rivals, separated by commas."""
    names = tuple(ALSO.get(name, name) for name in written.split(",") if name)
    if odd := [name for name in names if name not in RIVALS]:
        raise click.BadParameter(f"{odd[0]!r} is not a rival; choose from {', '.join(RIVALS)}")
    return names


def parse_sizes(
    ctx: click.Context, parameter: click.Parameter, written: tuple[str, ...]
) -> tuple[tuple[int, ...], ...]:
    """Parse sizes, each written 1024x4096."""
    return tuple(parse_shape(ctx, parameter, one) for one in written)


@click.command(short_help="Measure how fast a kernel is, if it is right.")
@click.argument("targets", type=TARGET, metavar="KERNEL...", nargs=-1, required=True)
@click.option("--size", "named", multiple=True, callback=parse_sizes, metavar="1024x4096",
              help="Sizes of the axes, in their order. You can repeat it. Default: five usual sizes.")  # fmt: skip
@click.option("--against", callback=parse_rivals, default="", metavar="RIVALS",
              help=f"Time these in the same run, separated by commas: {', '.join(RIVALS)}. "
              "Default: none.")  # fmt: skip
@time_limit_options
@click.option("--json", "json_file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
              help="Write all recorded times to this file. - is standard output.")  # fmt: skip
@click.option("--compare", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Compare with this --json file; show each change with its p-value.")  # fmt: skip
@click.option("--svg", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="Draw speed against size, one file for each kernel, in this folder.")  # fmt: skip
@click.pass_context
def bench(
    ctx: click.Context,
    targets: tuple[str, ...],
    named: tuple[tuple[int, ...], ...],
    against: tuple[str, ...],
    json_file: Path | None,
    compare: Path | None,
    svg: Path | None,
) -> None:
    """Measure how fast a kernel is on this GPU, as a fraction of the speed of a copy of the same number of bytes.

    Only a correct kernel gets a figure. kfuzz first runs a few trials of the search. Then it times the launches in
    turns with copies and rivals, in graphs of at least 1.5 ms, over buffers of eight times the second-level cache. At
    the end it puts new numbers into the buffers and judges what the timed functions make of them. A kernel that is
    faster than the memory can be is a finding. Of several launches (`tune`) the fastest counts.

    KERNEL is a name, a glob, a .cu file or a folder. docs/bench.md explains each column and its uncertainty.

    \b
    kfuzz bench softmax/fastest --against torch,torch.compile,quack,liger
    kfuzz bench mine.cu --size 1024x4096 --size 65536x1023 --json before.json
    kfuzz bench mine.cu --size 1024x4096 --size 65536x1023 --compare before.json

    Exit code: 0 each kernel has its figures, 1 a kernel has none since it is wrong, 2 kfuzz could not do it,
    130 interrupted.
    """
    earlier = {} if compare is None else read_earlier(compare)
    if reason := vendor().why_not():
        raise DeviceError(f"kfuzz bench measures on a GPU, and there is none: {reason}")
    device = open_device("gpu")
    try:
        check_installed(against)
        kernels = kernels_named(targets)
        print_faults(kernels)
        screen = console(to_stderr=True)
        every: list[KernelTimes] = []
        troubles = 0
        for kernel in kernels.usable:
            is_apart = kernel.front.language.runner.is_timed_in_process and len(kernels.usable) > 1
            sizes = sizes_of(kernel, named)
            try:
                with screen.status(f"{kernel.name}: getting ready") as status:
                    latest = (
                        run_apart(time_alone, kernel, sizes, against)
                        if is_apart
                        else time_kernel(kernel, sizes, against, device, status.update)
                    )
            except (ClaimError, DeviceError) as error:
                if len(kernels.usable) == 1:
                    raise
                troubles += 1
                click.echo(f"{kernel.name}: {error}", err=True)
                continue
            every.append(latest)
            click.echo(f"\n{latest.kernel} on the {vendor().gpu().name}", err=json_file == STDOUT)
            refusal = [f"no figure: {latest.refused}"] if latest.refused else []
            for line in refusal or [*timing.table(latest), "", *timing.bars(latest)]:
                click.echo(line, err=json_file == STDOUT)
            if svg and not latest.refused:
                write(svg / f"{latest.kernel.replace('/', '-')}.svg", timing.as_svg(latest))
    finally:
        device.close()
    for line in timing.compare_figures(every, earlier) if compare else []:
        click.echo(line, err=json_file == STDOUT)
    if json_file:
        write(json_file, timing.as_document(every, vendor().gpu().name, versions()))
    if any(one.refused or not all(race.kernels for race in one.races) for one in every):
        ctx.exit(FOUND)
    if kernels.faults or troubles:
        ctx.exit(COULD_NOT)


def time_alone(kernel: Kernel, sizes: Sequence[Mapping[str, int]], against: Sequence[str]) -> KernelTimes:
    """Time one kernel with a device of its own."""
    with closing(open_device("gpu")) as device:
        return time_kernel(kernel, sizes, against, device, ignore_progress)


def read_earlier(path: Path) -> timing.Earlier:
    """The figures of an earlier run. Raises TargetError if the file has none."""
    try:
        return timing.read_earlier(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TargetError(f"{path}: {error.strerror}; --compare needs a file that kfuzz bench --json wrote") from error
    except (ValueError, KeyError, TypeError) as error:
        raise TargetError(
            f"{path}: not a file that kfuzz bench --json wrote ({type(error).__name__}: {error})"
        ) from error


def versions() -> dict[str, str]:
    """The versions of the software that made the figures."""
    found = vendor().versions()
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
