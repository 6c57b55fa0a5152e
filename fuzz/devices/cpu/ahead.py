"""Builds the runtime of the cpu device while kfuzz still reads claims, so that a first trial need not wait for both."""

import contextlib
import threading
from collections.abc import Callable, Iterator

from kfuzz.devices.cpu.options import split_flags
from kfuzz.devices.cpu.toolchain import build_objects, build_runtime, precompile_front
from kfuzz.devices.host_compiler import end_compilers, find_compiler

BETWEEN_LOOKS = 0.05
"""Seconds."""


@contextlib.contextmanager
def build_ahead() -> Iterator[None]:
    """Build what the first trials of almost every kernel need, beside what happens in the block.

    At the end of the block it stops, also in the middle of a file. An error is left to the worker that needs the same.
    """
    stop = threading.Event()
    threads = [threading.Thread(target=one, args=(stop.is_set,), daemon=True) for one in (_build_runtime, _build_first)]
    for one in threads:
        one.start()
    try:
        yield
    finally:
        stop.set()
        for one in threads:
            while one.is_alive():  # which may be about to start another compiler
                end_compilers()
                one.join(BETWEEN_LOOKS)


def _build_runtime(is_over: Callable[[], bool]) -> None:
    with contextlib.suppress(Exception):  # the worker builds it again, and says what is wrong
        build_runtime(is_over)


def _build_first(is_over: Callable[[], bool]) -> None:
    """Build what comes before a kernel and beside it in the flavour of the first trials."""
    with contextlib.suppress(Exception):
        compiler = find_compiler()
        precompile_front(compiler, "check", split_flags(()), 0)
        if not is_over():
            build_objects(compiler, "check", 0)
