"""What a kernel may not do to the machine while it runs: start processes, write files.

A kernel is code and runs as its user: this keeps accidents small, it is no wall. The system holds root to no number of
processes; what a kernel has started is ended after each run, whoever started it.
"""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

from kfuzz.devices.processes import children, end_children

LIMITS = (resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE)
"""0 while a kernel runs; a compiler needs both."""


class StartedProcessError(Exception):
    """The kernel has started processes of its own, which were ended."""


@contextmanager
def confine() -> Iterator[None]:
    """Let a kernel run: no files, no processes; StartedProcessError where it has started one all the same."""
    me, known, before = os.getpid(), children(), [(limit, resource.getrlimit(limit)) for limit in LIMITS]
    for limit, (_, hard) in before:
        resource.setrlimit(limit, (0, hard))
    try:
        yield
    finally:
        if (
            os.getpid() != me
        ):  # a copy of this process, made by fork() in the kernel: nobody waits for what it has to say
            os._exit(0)
        for limit, values in before:
            resource.setrlimit(limit, values)
    if end_children(known):
        raise StartedProcessError
