"""Makes untrusted text safe to print: file names, source lines and cases may hold characters that move a cursor.

Unprintable characters are spelled out, as `\\x1b`. So are marks that change the direction of writing, and lone
surrogates, which no stream can encode. Knows characters and paths alone.
"""

import os
from pathlib import Path
from typing import Protocol


def printable(text: str) -> str:
    """The text with its line ends and tabs, and all other unprintable characters spelled out."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else repr(letter)[1:-1] for letter in text)


def one_line(text: str) -> str:
    """The text on one line: its line ends and tabs are spelled out as well."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def shown_path(path: Path) -> str:
    """The path relative to the working directory if it lies below it, else as given."""
    relative = os.path.relpath(path) if path.is_absolute() else str(path)
    return one_line(str(path) if relative.startswith("..") else relative)


class Printer(Protocol):
    """What prints for Hypothesis and IPython, as far as we use it."""

    def text(self, obj: str) -> None:
        """Print a text without a break."""


def print_repr(one: object, printer: Printer, cycle: bool) -> None:
    """Print an object by its repr, as its `_repr_pretty_`: Hypothesis else prints every field of a dataclass."""
    printer.text(repr(one))
