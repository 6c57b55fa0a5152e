"""The end of the reader of standard output (`| head`)."""

import os
from typing import IO


class ReaderGone(KeyboardInterrupt):
    """The reader of standard output has gone: the run ends as if by Ctrl-C, and keeps its findings."""


def silence(stream: IO[str]) -> None:
    """Discard everything that is still written to this stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
