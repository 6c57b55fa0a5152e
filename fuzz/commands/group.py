"""The group of all commands: an error that you can fix is one line and exit code 2.

Knows exit codes and streams; each command is a module of its own.
"""

import errno
import sys
import traceback
from pathlib import Path
from typing import Any

import click

from kfuzz.cases.case import CaseError
from kfuzz.commands.bench import bench
from kfuzz.commands.check import check
from kfuzz.commands.claim import claim
from kfuzz.commands.cmin import cmin
from kfuzz.commands.completion import completion
from kfuzz.commands.doctor import doctor
from kfuzz.commands.explain import explain
from kfuzz.commands.fuzz import fuzz
from kfuzz.commands.init import init
from kfuzz.commands.list import list_kernels
from kfuzz.commands.merge import merge
from kfuzz.commands.minimize import minimize
from kfuzz.commands.nvcc import nvcc
from kfuzz.commands.op import op
from kfuzz.commands.options import ReaderGone, silence
from kfuzz.commands.replay import replay
from kfuzz.commands.report import report
from kfuzz.commands.score import score
from kfuzz.commands.show import show
from kfuzz.devices import ClaimError, DeviceError, wrap_unexpected
from kfuzz.exit_codes import COULD_NOT, INTERRUPTED, READER_GONE
from kfuzz.find.errors import TargetError
from kfuzz.find.settings import KERNELS, Value, read_settings
from kfuzz.printable import printable

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
UNREAD = (errno.EPIPE, errno.EIO)
"""The reader of the output has gone, or the terminal has."""


class Commands(click.Group):
    """A group whose commands end with our exit codes: click's own hook for that is a subclass."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401  click's signature
        """Run the command; an error that you can fix is one line and exit code 2."""
        try:
            return super().invoke(ctx)
        except (CaseError, ClaimError, DeviceError, TargetError) as error:
            _print_error(error, ctx.params["debug"])
        except (click.ClickException, click.exceptions.Exit, click.Abort):  # click handles these
            raise
        except OSError as error:
            if error.errno in UNREAD:
                silence(sys.stdout)
                ctx.exit(READER_GONE if error.errno == errno.EPIPE else INTERRUPTED)
            _print_error(error if error.errno in FULL else wrap_unexpected(error), ctx.params["debug"])
        except KeyboardInterrupt as error:
            ctx.exit(READER_GONE if isinstance(error, ReaderGone) else INTERRUPTED)
        except Exception as error:  # a bug in kfuzz must not exit with the code of a broken kernel
            _print_error(wrap_unexpected(error), ctx.params["debug"])
        return ctx.exit(COULD_NOT)


def _print_error(error: Exception, debug: bool) -> None:
    """Print an error in one line; with `debug`, also its traceback."""
    if debug:
        traceback.print_exception(error)
    else:
        click.echo(printable(str(error)), err=True)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kfuzz", prog_name="kfuzz")
@click.option("--debug", is_flag=True, help="If something goes wrong, also show the traceback.")
@click.pass_context
def main(ctx: click.Context, debug: bool) -> None:
    """Find inputs that break a CUDA kernel, prove that they break it, shrink them, and keep them.

    \b
    kfuzz fuzz broken/leading_neg_inf        a kernel with a bug: see what a finding looks like
    kfuzz minimize tests/corpus/.../X.json   shrink the case that it kept
    kfuzz replay                             run all kept cases again
    kfuzz show --template > mine.cu          a kernel file to start from
    kfuzz init                               set up the project in this folder: claims, settings, CI
    kfuzz check program.cu -- 1024           a whole program, with every memory access checked
    kfuzz bench softmax/fastest              how fast a kernel is, if it is right
    """
    try:
        folder = Path.cwd()
    except FileNotFoundError:
        raise TargetError("the current folder was removed; change to one that exists") from None
    ctx.default_map = defaults(folder)


def defaults(folder: Path) -> dict[str, dict[str, Value]]:
    """The defaults of each command's options from [tool.kfuzz]; the command line overrides them."""
    parameters = {name: {_word(one): one.name for one in command.params} for name, command in main.commands.items()}
    settings = read_settings(folder, {word for words in parameters.values() for word in words})
    return {
        name: {str(words[key]): value for key, value in settings.items() if key in words}
        for name, words in parameters.items()
    }


def _word(parameter: click.Parameter) -> str:
    """The name of a parameter in settings: the long option without its dashes, or `kernels` for the targets."""
    if isinstance(parameter, click.Argument):
        return KERNELS if parameter.name == "targets" else ""
    return max(parameter.opts, key=len).lstrip("-")


for command in (
    init,
    list_kernels,
    show,
    claim,
    doctor,
    fuzz,
    minimize,
    replay,
    report,
    merge,
    explain,
    score,
    cmin,
    op,
    check,
    bench,
    nvcc,
    completion,
):
    main.add_command(command)
