"""Times a Python file in a process of its own: what it patches, or how it ends, reaches no other file.

Knows processes; never how anything is timed.
"""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import ParamSpec, TypeVar

from kfuzz.common.errors import wrap_unexpected
from kfuzz.devices import ClaimError, DeviceError

P = ParamSpec("P")
T = TypeVar("T")


def run_apart(function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """The result of a function in a new process; a DeviceError if that process ends, or kfuzz fails there."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            return pool.submit(function, *arguments, **named).result()
        except BrokenProcessPool:
            raise DeviceError("its process ended before it was timed") from None
        except (ClaimError, DeviceError, KeyboardInterrupt):
            raise
        except Exception as error:  # an error of kfuzz itself must name itself, wherever it came from
            raise wrap_unexpected(error) from error
