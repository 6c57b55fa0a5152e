"""The group of all commands: an error that you can fix is one line and exit code 2.

Knows exit codes and streams; each command is a module of its own.
"""

import errno
import gc
import sys
import traceback
from collections import UserDict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from kfuzz.cases.errors import CaseError
from kfuzz.common.errors import TargetError
from kfuzz.common.exit_codes import COULD_NOT, INTERRUPTED, READER_GONE
from kfuzz.common.printable import printable
from kfuzz.devices import ClaimError, DeviceError, wrap_unexpected
from kfuzz.ui.commands.streams import ReaderGone, silence, spell_out
from kfuzz.ui.targets.settings import KERNELS, Value, read_settings, settings_for

NAMES = (
    *("bench", "cache", "check", "claim", "cmin", "completion", "doctor", "explain", "fuzz", "init", "judge", "list"),
    *("merge", "minimize", "nvcc", "op", "replay", "report", "score", "serve", "show", "upstream"),
)
REFUSED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM)
"""The disk is full, or the file is not yours to read or write."""
UNREAD = (errno.EPIPE, errno.EIO)
"""The reader of the output has gone, or the terminal has."""


class Loading(UserDict[str, click.Command]):
    """Every command by name. Each is loaded at its first use, since most need only a few of kfuzz's rooms."""

    def __missing__(self, name: str) -> click.Command:
        """Load a command from the module of its name; KeyError if there is none."""
        if name not in NAMES:
            raise KeyError(name)
        gc.disable()  # nothing that modules create is garbage, and to look for it takes a tenth of the time
        every = vars(import_module(f"kfuzz.ui.commands.{name}")).values()
        gc.enable()
        self[name] = next(one for one in every if isinstance(one, click.Command) and one.name == name)
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name in NAMES

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


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
            has_name = error.errno in REFUSED and error.filename
            found = TargetError(f"{error.filename}: {error.strerror}") if has_name else error
            _print_error(found if error.errno in REFUSED else wrap_unexpected(error), ctx.params["debug"])
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


@click.group(cls=Commands, commands=Loading(), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kfuzz", prog_name="kfuzz")
@click.option("--debug", is_flag=True, help="If something goes wrong, also show the traceback.")
@click.pass_context
def main(ctx: click.Context, debug: bool) -> None:
    """Find inputs that break a CUDA kernel, prove that they break it, shrink them, and keep them.

    \b
    kfuzz fuzz broken/leading_neg_inf       a kernel with a bug: see what a finding looks like
    kfuzz minimize tests/corpus/.../X.json  shrink the case that it kept
    kfuzz replay                            run all kept cases again
    kfuzz show --template > mine.cu         a kernel file to start from
    kfuzz init                              set up the project in this folder: claims, settings, CI
    kfuzz check program.cu -- 1024          a whole program, with every memory access checked
    kfuzz bench softmax/fastest             how fast a kernel is, if it is right
    """
    for stream in (sys.stdout, sys.stderr):
        spell_out(stream)
    try:
        folder = Path.cwd()
    except FileNotFoundError:
        raise TargetError("the current folder was removed; change to one that exists") from None
    ctx.default_map = defaults(folder)


def defaults(folder: Path) -> dict[str, dict[str, Value]]:
    """The defaults of each command's options from the project's settings; the command line overrides them."""
    if settings_for(folder) is None:  # then no command needs to be loaded
        return {}
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
