"""What several commands ask for in the same way: a device, a time, kernels.

Knows click and how a person writes these; never what a command does with them.
"""

import os
import re
import sys
from collections.abc import Sequence
from typing import IO

import click
from kfuzz.campaign.schedule import Shard
from kfuzz.devices import ClaimError
from kfuzz.find.device import NAMES
from kfuzz.find.project import Kernels, read_all
from kfuzz.find.targets import find
from rich.console import Console

WIDE = 1000
UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|)")


def duration(text: str) -> float:
    """Seconds, written 90, 90s, 1.5m or 2h."""
    found = DURATION.fullmatch(text.strip())
    if not found or float(found[1]) <= 0:
        raise click.BadParameter(f"{text!r} is no duration; write 60, 60s, 5m or 1h")
    return float(found[1]) * UNITS[found[2]]


def shard(text: str) -> Shard:
    """One of several parts, written 3/16."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise click.BadParameter(f"{text!r} is no part; write 1/16 to 16/16")
    return Shard(int(found[1]), int(found[2]))


device_option = click.option(
    "--device",
    type=click.Choice(NAMES),
    default="auto",
    help="Where kernels run; auto is the gpu where there is one that works.",
)


class ReaderGone(KeyboardInterrupt):
    """Whoever read what is printed has gone: what runs ends as by Ctrl-C, and keeps what it has."""


class Screen(Console):
    """A console that notices the end of its reader (`| head`): rich's own hook for that is a method."""

    is_abandoned = False

    def on_broken_pipe(self) -> None:
        """Print no more, here or at exit, and end what runs."""
        self.quiet = self.is_abandoned = True
        silence(self.file)
        raise ReaderGone


def silence(stream: IO[str]) -> None:
    """Let what is still to be written, at exit at the latest, go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def console(to_stderr: bool = False) -> Screen:
    """A console as wide as the terminal; lines are never broken where it is none."""
    is_terminal = (sys.stderr if to_stderr else sys.stdout).isatty()
    return Screen(stderr=to_stderr) if is_terminal else Screen(stderr=to_stderr, width=WIDE)


def kernels_named(targets: Sequence[str]) -> Kernels:
    """The kernels that the targets stand for, each once; ClaimError where none of the files can be used."""
    kernels = read_all(path for target in targets for path in find(target))
    if not kernels.usable:
        raise ClaimError("\n".join(map(str, kernels.faults.values())))
    return kernels


def tell_faults(kernels: Kernels) -> None:
    """What is wrong with files that hold no kernel, once."""
    for fault in kernels.faults.values():
        click.echo(str(fault), err=True)
