"""Standard output and its reader: the end of that (`| head`), and what it cannot encode."""

import io
import os
from typing import IO


class ReaderGone(KeyboardInterrupt):
    """The reader of standard output has gone: the run ends as if by Ctrl-C, and keeps its findings."""


def silence(stream: IO[str]) -> None:
    """Discard everything that is still written to this stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def spell_out(stream: IO[str]) -> None:
    """Spell out what the encoding of this stream lacks, as `\\xf6`: the name of a file may hold any bytes."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
