"""Keeps a kernel from starting processes and writing files while it runs.

A kernel runs with its user's rights: this limits accidents and is not a sandbox. Linux does not limit the processes of
root, so every process that a kernel has started is ended after the run.
"""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

from kfuzz.devices.processes import children, end_children

LIMITS = (resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE)
"""These limits are 0 while a kernel runs; a compiler needs both."""


class StartedProcessError(Exception):
    """The kernel started processes of its own, and kfuzz ended them."""


@contextmanager
def confine() -> Iterator[None]:
    """Let a kernel run without files and processes. StartedProcessError if it starts a process all the same."""
    me, known, before = os.getpid(), children(), [(limit, resource.getrlimit(limit)) for limit in LIMITS]
    for limit, (_, hard) in before:
        resource.setrlimit(limit, (0, hard))
    try:
        yield
    finally:
        if os.getpid() != me:  # fork() in the kernel copied this process, and nothing waits for the copy
            os._exit(0)
        for limit, values in before:
            resource.setrlimit(limit, values)
    if end_children(known):
        raise StartedProcessError
