"""Options that several commands share: a device, a time, kernels.

Knows click and how you write these; it does not know what a command does with them.
"""

import functools
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from kfuzz.campaign.device import NAMES, resolve_device
from kfuzz.campaign.schedule import Shard
from kfuzz.claims.kernel import Kernel, load
from kfuzz.claims.language.kernel_file import file_has_claim
from kfuzz.claims.language.reference import OP as OP_BY_REFERENCE
from kfuzz.claims.references.formats import help_of_references
from kfuzz.claims.references.reference_files import file_of_reference
from kfuzz.common.modules import is_callable
from kfuzz.common.time_limits import COMPILE_SECONDS, limited, time_limits
from kfuzz.devices import ClaimError, DeviceError
from kfuzz.devices.sandbox.box import Sandboxed, check_offered, why_not
from kfuzz.measure.roundings.guess import Guess
from kfuzz.measure.roundings.guess_host import FunctionWords
from kfuzz.measure.roundings.infer import Unclaimed, guess_with, kernel_named
from kfuzz.ui.commands.completing import OP
from kfuzz.ui.commands.streams import ReaderGone, silence
from kfuzz.ui.targets.project import Kernels, others_below, read_all, sources_below
from kfuzz.ui.targets.targets import find_files

WIDE = 1000
MOST_NAMES = 3
"""Of files that are left out."""
UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|)")


def parse_duration(text: object) -> float:
    """Seconds, written 90, 90s, 1.5m or 2h; settings may have numbers."""
    found = DURATION.fullmatch(str(text).strip())
    if not found or float(found[1]) <= 0:
        raise click.BadParameter(f"{text!r} is not a time; write 60, 60s, 5m or 1h")
    return float(found[1]) * UNITS[found[2]]


def parse_shard(text: str) -> Shard:
    """One of several parts, written 3/16."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise click.BadParameter(f"{text!r} is not a part; write 1/16 to 16/16")
    return Shard(int(found[1]), int(found[2]))


device_option = click.option(
    "--device",
    type=click.Choice(NAMES),
    default="auto",
    show_default=True,
    help="Where kernels run. auto: campaigns use the GPU and the CPU; single runs use the GPU if there is one.",
)


fail_on_option = click.option(
    "--fail-on",
    type=click.Choice(("error", "warning")),
    default="error",
    show_default=True,
    help="The least severity that fails the run, with exit code 1. warning: also a race that changed no answer here.",
)


def time_limit_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options that limit what other people's files may take: they hold for all that the command does."""
    for option in reversed(TIME_LIMITS):
        command = option(command)
    return command


def _limit_compiling(ctx: click.Context, option: click.Parameter, seconds: float) -> None:
    ctx.with_resource(limited(replace(time_limits(), compile=seconds)))


def _limit_calls(ctx: click.Context, option: click.Parameter, seconds: float | None) -> None:
    if seconds is not None:
        ctx.with_resource(limited(replace(time_limits(), call=seconds)))


compile_time_option = click.option(
    "--compile-time",
    type=parse_duration,
    metavar="TIME",
    default=f"{COMPILE_SECONDS:.0f}s",
    show_default=True,
    expose_value=False,
    callback=_limit_compiling,
    help="Longest time for compiling or importing one file, or for asking a reference what it takes and returns.",
)
TIME_LIMITS = (
    compile_time_option,
    click.option("--call-time", type=parse_duration, metavar="TIME", expose_value=False, callback=_limit_calls,
                 help="Longest time for one call; a longer one hangs. Default: 3s of processor time for CUDA, 40s for "
                 "Python, 60s for Python that compiles."),
)  # fmt: skip


through_option = click.option(
    "--through",
    type=click.Choice(["nvcc"]),
    callback=lambda _, __, value: value or "",
    help="On the cpu device, run the PTX that this compiler makes of CUDA, not the text itself.",
)
guard_all_option = click.option(
    "--guard-all",
    is_flag=True,
    help="On the GPU, put guards around everything that torch allocates, also inside its own operations.",
)


class Screen(Console):
    """A console that notices the end of its reader (`| head`): rich's own hook for that is a method."""

    is_abandoned = False

    def on_broken_pipe(self) -> None:
        """Print no more, here or at exit, and end what runs."""
        self.quiet = self.is_abandoned = True
        silence(self.file)
        raise ReaderGone


def console(to_stderr: bool = False) -> Screen:
    """A console as wide as the terminal; without a terminal it never breaks lines."""
    is_terminal = (sys.stderr if to_stderr else sys.stdout).isatty()
    return Screen(stderr=to_stderr) if is_terminal else Screen(stderr=to_stderr, width=WIDE)


@contextmanager
def show_progress(first: str) -> Iterator[Callable[[str], None]]:
    """A function that shows how far a command is: on one line of a terminal, and nowhere else."""
    screen = console(to_stderr=True)
    if not screen.is_terminal:
        yield lambda _: None
        return
    with screen.status(first) as status:
        yield lambda text: status.update(escape(text))


def parse_arguments(_: click.Context, __: click.Parameter, written: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Arguments by name: `threads=128,256` has two values, each of which is tried."""
    found = {}
    for one in written:
        name, equals, values = one.partition("=")
        if not equals or not name.isidentifier() or not all(values.split(",")):
            raise click.BadParameter(f"{one!r}: write NAME=VALUE, or NAME=VALUE,VALUE to try several")
        found[name] = tuple(values.split(","))
    return found


def parse_shape(_: click.Context, __: click.Parameter, text: str | None) -> tuple[int, ...]:
    """Sizes, written 16x1024."""
    if text is None:
        return ()
    if not re.fullmatch(r"[1-9]\d*(x[1-9]\d*)*", text):
        raise click.BadParameter(f"{text!r} is not a shape; write 16x1024")
    return tuple(map(int, text.split("x")))


sandbox_option = click.option(
    "--sandbox/--no-sandbox",
    "is_sandboxed",
    default=None,
    help="Run the kernels on the cpu device in a sandbox: they read no file of yours, write none, and have no network. "
    "Default: with --reference, if this machine gives one and no GPU is used.",
)


def sandbox_for(
    is_wanted: bool | None, device: str, targets: Sequence[str], unclaimed: Unclaimed | None, is_alone: bool
) -> Sandboxed | None:  # fmt: skip
    """The sandbox of a command; None if it has none. DeviceError if one is wanted that cannot be had. Where it is only
    the default, the reference is lent to an answer whose inputs need it.

    `is_alone`: all runs in workers of this machine that the command itself starts.
    """
    if is_wanted and not is_alone:
        raise click.UsageError("--sandbox works with none of --torch, --cluster and --watch")
    has_reference = unclaimed is not None and unclaimed.reference is not None
    is_on_gpu = resolve_device(device) == "gpu"
    is_usual = has_reference and is_alone and not is_on_gpu
    if is_wanted is False or (is_wanted is None and (not is_usual or why_not())):
        return None
    if is_on_gpu:
        raise DeviceError("the gpu device has no sandbox: --device cpu, or --no-sandbox for kernels that you trust")
    check_offered()
    answers = tuple(path for target in targets for path in find_files(target))
    hidden = (file_of_reference(unclaimed.reference),) if unclaimed and unclaimed.reference else ()
    return Sandboxed(answers, hidden, lends_reference=is_wanted is None)


def sandbox_for_named(
    is_wanted: bool | None, device: str, targets: Sequence[str], unclaimed: Unclaimed | None
) -> Sandboxed | None:  # fmt: skip
    """The sandbox of a command that runs kept cases. It keeps out all files but those of the kernels that you name."""
    if is_wanted and not targets:
        raise click.UsageError("--sandbox needs --kernel: it lets in the files that you name, and no others")
    return sandbox_for(is_wanted, device, targets, unclaimed, bool(targets))


def unclaimed_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options that describe files without a claim; the command gets them as `unclaimed`, or None if there are none."""

    @functools.wraps(command)
    def with_unclaimed(
        *args: object, op: str | None, entry: str, home: tuple[int, ...], arg: dict[str, tuple[str, ...]],
        shapes: str | None, claim: Path | None, reference: Path | None, **rest: object
    ) -> None:  # fmt: skip
        if op and reference:
            raise click.UsageError("--op and --reference both say what is right: give one of them")
        op = OP_BY_REFERENCE if reference else op
        if not (op or claim) and (entry or home or arg or shapes):
            raise click.UsageError(
                "--entry, --home, --arg and --shapes describe a file without a claim: give --op or --reference as well"
            )
        unclaimed = Unclaimed(
            op or "", FunctionWords(entry, home, arg, shapes == "home"), shapes or "", claim, reference
        )
        command(*args, unclaimed=unclaimed if op or claim else None, **rest)

    decorated: Callable[..., None] = with_unclaimed
    for option in reversed(UNCLAIMED):
        decorated = option(decorated)
    return decorated


UNCLAIMED = (
    click.option("--op", type=OP, metavar="OP",
                 help="The op that a file without a claim computes, such as softmax, bmm or 'sgemm(a, b.T)'."),
    click.option("--reference", type=click.Path(path_type=Path), metavar="FILE",
                 help=f"The file or folder with the problem that it solves: {help_of_references()}."),
    click.option("--entry", default="", metavar="NAME", help="The function to call, if the file has several."),
    click.option("--home", callback=parse_shape, metavar="SIZES",
                 help="The shape that it was written for, such as 16x1024."),
    click.option("--arg", multiple=True, callback=parse_arguments, metavar="NAME=VALUE",
                 help="The value of another argument; NAME=VALUE,VALUE tries several."),
    click.option("--shapes", type=click.Choice(("any", "home")),
                 help="any: failures at other shapes are errors. home: test this shape only. "
                 "Default: failures at other shapes are warnings."),
    click.option("--claim", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
                 help="A file with a claim in TOML, or a part of one, for all files that have none."),
)  # fmt: skip


def kernels_named(targets: Sequence[str], unclaimed: Unclaimed | None = None) -> Kernels:
    """The kernels that the targets name, each once; ClaimError if none of the files can be used.

    With `unclaimed`, a folder stands for all its .cu files and submissions in Python.
    """
    is_for_all = unclaimed is not None and not unclaimed.by_names
    folders = {target: sources_below(Path(target)) for target in targets if is_for_all and Path(target).is_dir()}
    for target in folders:
        if others := others_below(Path(target)):
            names = ", ".join(path.name for path in others[:MOST_NAMES])
            more = f" and {len(others) - MOST_NAMES} more" if len(others) > MOST_NAMES else ""
            click.echo(f"{target}: left out, since they have no claim and are no submissions: {names}{more}", err=True)
    modules = [target for target in targets if is_callable(target) and not Path(target).exists()]
    paths = (path for target in targets if target not in modules for path in folders.get(target) or find_files(target))
    guesses: dict[Path, Guess] = {}

    def read_file(path: Path) -> Kernel:
        if unclaimed is None:
            return load(path)
        guesses[path] = guess_with(path, unclaimed)
        return guesses[path].kernel

    kernels = read_all(paths, read_file)
    called = tuple(kernel_named(target, unclaimed) for target in dict.fromkeys(modules))
    kernels = replace(kernels, usable=(*kernels.usable, *called), guesses=guesses)
    if not kernels.usable:
        raise ClaimError("\n".join(map(str, kernels.faults.values())))
    if unclaimed and (words := unclaimed.words) and all(file_has_claim(one.path) for one in kernels.usable):
        names = "it has a claim" if len(kernels.usable) == 1 else "they have claims"
        click.echo(f"{', '.join(targets)}: {names}, which kfuzz uses; {words} is for files without one", err=True)
    return kernels


def print_faults(kernels: Kernels) -> None:
    """Print what is wrong with each file that holds no kernel."""
    for fault in kernels.faults.values():
        click.echo(str(fault), err=True)
