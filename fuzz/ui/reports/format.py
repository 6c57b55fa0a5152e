"""What a format of the report is, and which formats there are: the files in kfuzz.ui.reports.formats.

Knows report documents; it does not know what any format looks like.
"""

import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Literal

from kfuzz.ui.reports import formats
from kfuzz.ui.reports.document import Document

CommandName = Literal["fuzz", "check", "merge", "report"]
"""The commands that hold report documents."""
Render = Callable[[Sequence[Document]], str]


@dataclass(frozen=True)
class FileFormat:
    """A format that you ask for with `--OPTION FILE`, in the commands that offer it."""

    option: str
    help: str
    commands: tuple[CommandName, ...]
    render: Render


@dataclass(frozen=True)
class OnTerminal:
    """The text goes to the terminal, where the CI service reads it."""


@dataclass(frozen=True)
class AtEndOfFile:
    """The text goes to the end of the file that this environment variable names, if it is set."""

    variable: str


@dataclass(frozen=True)
class InFile:
    """The text goes to this file."""

    path: Path


@dataclass(frozen=True)
class ServiceFormat:
    """A format that a CI service reads, written for `--format SERVICE`.

    `--format auto` writes it as well where the environment variable `sign` is `true`; never if `sign` is empty.
    """

    service: str
    sign: str
    place: OnTerminal | AtEndOfFile | InFile
    render: Render


@cache
def every_format() -> tuple[FileFormat | ServiceFormat, ...]:
    """The formats, in the order of their files' names."""
    names = sorted(module.name for module in pkgutil.iter_modules(formats.__path__))
    return tuple(import_module(f"{formats.__name__}.{name}").FORMAT for name in names)


def file_formats(command: CommandName) -> tuple[FileFormat, ...]:
    """The formats that a command offers as options."""
    return tuple(one for one in every_format() if isinstance(one, FileFormat) and command in one.commands)


def service_formats() -> tuple[ServiceFormat, ...]:
    """The formats that CI services read."""
    return tuple(one for one in every_format() if isinstance(one, ServiceFormat))
