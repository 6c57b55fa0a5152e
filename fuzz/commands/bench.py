"""`kfuzz bench`: options, streams and exit codes. How times are taken, and what figures mean, stands in timing."""

from importlib import metadata
from pathlib import Path

import click

from kfuzz.commands.options import console, kernels_named, shape, tell_faults
from kfuzz.devices import DeviceError
from kfuzz.exit_codes import COULD_NOT, FOUND
from kfuzz.find.device import open_device
from kfuzz.find.errors import TargetError
from kfuzz.gpu import driver, nvcc
from kfuzz.gpu.device import why_not
from kfuzz.timing.bench import Timed, timed
from kfuzz.timing.rivals import NAMES, check_there
from kfuzz.timing.sizes import sizes_of
from kfuzz.views import timing
from kfuzz.views.report import STDOUT, write

LIBRARIES = ("torch", "triton")


def several(_: click.Context, __: click.Parameter, written: str) -> tuple[str, ...]:
    """Rivals, with commas between them."""
    names = tuple(name for name in written.split(",") if name)
    if odd := [name for name in names if name not in NAMES]:
        raise click.BadParameter(f"{odd[0]!r} is no rival; there are {', '.join(NAMES)}")
    return names


def shapes(ctx: click.Context, parameter: click.Parameter, written: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """Sizes, each written 1024x4096."""
    return tuple(shape(ctx, parameter, one) for one in written)


@click.command(short_help="Say how fast a kernel is, if it is right.")
@click.argument("targets", metavar="KERNEL...", nargs=-1, required=True)
@click.option("--size", "named", multiple=True, callback=shapes, metavar="1024x4096",
              help="The sizes of its axes, in their order; again for more. Left out, five of them.")  # fmt: skip
@click.option("--against", callback=several, default="", metavar="RIVALS",
              help="Time these beside it, in the same run: torch,compile,triton.")  # fmt: skip
@click.option("--json", "json_file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
              help="Write all that was recorded here; - is standard output.")  # fmt: skip
@click.option("--compare", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Say what has become of the figures since this --json file, and by what chance.")  # fmt: skip
@click.option("--svg", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="Draw fraction against size, one file a kernel, in this folder.")  # fmt: skip
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
    """Say how fast a kernel is on this GPU, as a part of what a copy of as many bytes takes in the same run.

    Only what is right has a figure. First a few trials of the search; then its launches are timed, in graphs of 1.5 ms
    and more, over buffers of eight times the second-level cache, in turns with copies and rivals; then numbers that it
    has not seen are put where others lay, and what the timed functions make of them is judged. Faster than the card's
    memory can be is a finding. Of several launches (`tune`) the fastest is taken.

    KERNEL is a name, a glob, a .cu file or a folder. docs/bench.md says what each column means, and how sure it is.

    \b
    kfuzz bench softmax/fastest --against torch,compile,triton
    kfuzz bench mine.cu --size 1024x4096 --size 65536x1023 --json before.json
    kfuzz bench mine.cu --size 1024x4096 --size 65536x1023 --compare before.json

    Exit code: 0 each has its figures, 1 one has none since it is wrong, 2 it could not be done, 130 interrupted.
    """
    earlier = {} if compare is None else read_earlier(compare)
    if reason := why_not():
        raise DeviceError(f"kfuzz bench takes times on a GPU, and here is none: {reason.partition(', or use')[0]}")
    device = open_device("gpu")
    try:
        check_there(against)
        kernels = kernels_named(targets)
        tell_faults(kernels)
        screen = console(to_stderr=True)
        every: list[Timed] = []
        for kernel in kernels.usable:
            with screen.status(f"{kernel.name}: getting ready") as status:
                every.append(timed(kernel, sizes_of(kernel, named), against, device, status.update))
            told = every[-1]
            click.echo(f"\n{told.kernel} on the {driver.card().name}", err=json_file == STDOUT)
            refusal = [f"no figure: {told.refused}"] if told.refused else []
            for line in refusal or [*timing.table(told), "", *timing.bars(told)]:
                click.echo(line, err=json_file == STDOUT)
            if svg and not told.refused:
                write(svg / f"{told.kernel.replace('/', '-')}.svg", timing.as_svg(told))
    finally:
        device.close()
    for line in timing.compared(every, earlier) if compare else []:
        click.echo(line, err=json_file == STDOUT)
    if json_file:
        write(json_file, timing.as_document(every, driver.card().name, versions()))
    if any(one.refused or not all(race.kernels for race in one.races) for one in every):
        ctx.exit(FOUND)
    if kernels.faults:
        ctx.exit(COULD_NOT)


def read_earlier(path: Path) -> timing.Earlier:
    """The figures of an earlier run; a TargetError where the file holds none."""
    try:
        return timing.read_earlier(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TargetError(f"{path}: {error.strerror}; --compare takes what --json wrote") from error
    except (ValueError, KeyError, TypeError) as error:
        raise TargetError(f"{path}: no figures of kfuzz bench --json ({type(error).__name__}: {error})") from error


def versions() -> dict[str, str]:
    """What the figures were made with."""
    found = {
        "cuda": ".".join(map(str, driver.card().driver_cuda)),
        "nvcc": ".".join(map(str, nvcc.release(nvcc.find()))),
    }
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
