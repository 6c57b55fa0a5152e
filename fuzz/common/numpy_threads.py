"""How many threads numpy's libraries use for a product of matrices; they read it once, when they are loaded.

Each process of kfuzz uses one. Threads that wait for their turn keep a processor busy: with one process per processor,
and as many threads in each, a third of the time went into waiting. What you set in the environment takes precedence.
"""

import contextlib
import os
from collections.abc import Iterator

NAMES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


@contextlib.contextmanager
def use_one_thread() -> Iterator[list[str]]:
    """Limit libraries and processes that start in the block to one thread; yields the variables that it sets."""
    unset = [name for name in NAMES if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield unset
    finally:
        lift_limit(unset)


def lift_limit(names: list[str]) -> None:
    """Remove these variables: a process that starts later uses as many threads as it likes."""
    for name in names:
        os.environ.pop(name, None)
