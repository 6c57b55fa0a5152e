"""The options by which commands write reports: one for each file format, and --format for CI services.

Knows click, and places to write to; kfuzz.ui.reports has the formats.
"""

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from kfuzz.ui.reports.document import Document
from kfuzz.ui.reports.format import (
    AtEndOfFile,
    CommandName,
    FileFormat,
    InFile,
    OnTerminal,
    file_formats,
    service_formats,
)
from kfuzz.ui.reports.report import STDOUT, append, write

FILE = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
AUTO, NONE = "auto", "none"


@dataclass(frozen=True)
class ReportFiles:
    """The files that you ask for, each with its format."""

    files: tuple[tuple[Path, FileFormat], ...]

    @property
    def uses_stdout(self) -> bool:
        """Whether a report goes to standard output, so that all other text must go to standard error."""
        return any(path == STDOUT for path, _ in self.files)

    def write(self, documents: Sequence[Document]) -> None:
        """Write each file."""
        for path, one in self.files:
            write(path, one.render(documents))

    def write_files(self, documents: Sequence[Document]) -> None:
        """Write each file but the standard output, which cannot be written again."""
        for path, one in self.files:
            if path != STDOUT:
                write(path, one.render(documents))


def format_options(command: CommandName) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Options for the formats that this command offers; the command gets them as `outputs`."""
    formats = file_formats(command)

    def decorate(run: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(run)
        def with_outputs(*args: object, **options: object) -> None:
            paths = [(options.pop(_parameter(one)), one) for one in formats]
            outputs = ReportFiles(tuple((path, one) for path, one in paths if isinstance(path, Path)))
            if sum(path == STDOUT for path, _ in outputs.files) > 1:
                raise click.UsageError("only one report can go to standard output (-)")
            run(*args, outputs=outputs, **options)

        decorated: Callable[..., None] = with_outputs
        for one in reversed(formats):
            add = click.option(f"--{one.option}", _parameter(one), type=FILE, help=f"{one.help} - is standard output.")
            decorated = add(decorated)
        return decorated

    return decorate


def _parameter(one: FileFormat) -> str:
    return f"{one.option}_file"


service_option = click.option(
    "--format", "service", type=click.Choice((AUTO, NONE, *dict.fromkeys(one.service for one in service_formats()))),
    default=AUTO, show_default=True,
    help="Also report to a CI service in its own format. auto: to GitHub if GITHUB_ACTIONS is true.",
)  # fmt: skip


def write_for_service(service: str, documents: Sequence[Document], to_stderr: bool) -> None:
    """Write the formats of a CI service to the places where it reads them."""
    for one in service_formats():
        is_detected = service == AUTO and bool(one.sign) and os.environ.get(one.sign) == "true"
        if not is_detected and one.service != service:
            continue
        match one.place:
            case OnTerminal():
                click.echo(one.render(documents), nl=False, err=to_stderr)
            case AtEndOfFile(variable):
                if path := os.environ.get(variable):
                    append(Path(path), one.render(documents))
            case InFile(path):
                write(path, one.render(documents))
