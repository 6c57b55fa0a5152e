"""How many threads a product of matrices takes, which numpy's libraries read once, when they are loaded.

Of ours each process takes one: threads that wait for their turn take a processor's whole time, and as many processes as
there are processors, each with so many, had a third of it for waiting. Who says otherwise in the environment is heard.
"""

import contextlib
import os
from collections.abc import Iterator

NAMES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


@contextlib.contextmanager
def use_one_thread() -> Iterator[list[str]]:
    """Whatever is loaded or started meanwhile reads 1; the names that say so, and are gone afterwards."""
    unsaid = [name for name in NAMES if name not in os.environ]
    os.environ.update(dict.fromkeys(unsaid, "1"))
    try:
        yield unsaid
    finally:
        lift_limit(unsaid)


def lift_limit(names: list[str]) -> None:
    """Take back what was said: what is started from now on has as many threads as it likes."""
    for name in names:
        os.environ.pop(name, None)
