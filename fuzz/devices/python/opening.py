"""Opens a library in the process that calls it: checks that it is installed and works here.

A library that fails in this environment is not the kernel's fault: kfuzz cannot run the kernel here.
"""

from collections.abc import Callable
from functools import cache
from typing import TypeVar

import numpy as np

from kfuzz.common.installation import install_line
from kfuzz.devices import ClaimError, DeviceError, MissingError, OutOfMemory, UnsupportedError
from kfuzz.devices.memory.repeats import Fault
from kfuzz.devices.python.installed import installed_release
from kfuzz.devices.python.lending import Lender
from kfuzz.devices.python.libraries import libraries
from kfuzz.devices.python.library import PythonLibrary
from kfuzz.devices.python.raising import words_of

Opened = TypeVar("Opened")


@cache
def open_lender(name: str, on_gpu: bool, guard_all: bool = False) -> Lender:
    """The arrays of a library. `guard_all` is torch's: CuPy's allocations are all guarded anyway."""
    library = libraries()[name]
    lender = library.lender
    assert lender is not None, f"{name} has no arrays of its own"
    check_installed(library, on_gpu)
    opened = attempt(library, lambda: lender(on_gpu, guard_all))
    attempt(library, lambda: library.probe(on_gpu))
    return opened


@cache
def open_compiler(name: str, on_gpu: bool) -> bool:
    """Open a compiler for another library's arrays, and say whether the cpu device runs its kernels."""
    library = libraries()[name]
    check_installed(library, on_gpu)
    attempt(library, lambda: library.probe(on_gpu))
    run = library.watch_on_gpu if on_gpu else library.run_without_gpu
    if run is not None:
        attempt(library, run)
    return run is not None and not on_gpu


def check_installed(library: PythonLibrary, on_gpu: bool) -> None:
    """Raise MissingError if the library is not installed, UnsupportedError if it needs a GPU."""
    if not installed_release(library):
        raise MissingError(f"{library.name} is not installed: {install_line(library.extra)}")
    if library.needs_gpu and not on_gpu:
        raise UnsupportedError(f"{library.name} needs a GPU: --device gpu, on a machine that has one")


def attempt(library: PythonLibrary, use: Callable[[], Opened]) -> Opened:
    """Use a library; raise MissingError, with the library's own error, if it does not work in this environment."""
    try:
        return use()
    except (ClaimError, DeviceError, OutOfMemory, MemoryError, Fault):
        raise
    except Exception as error:  # whatever the library raises
        if type(error).__name__ == "OutOfMemoryError":
            raise MemoryError from None
        beside = f"with numpy {np.__version__}" if "numpy" in str(error).lower() else "here"
        release = f"{library.name} {installed_release(library)}"
        raise MissingError(f"{release} does not work {beside}: {words_of(error)}") from None
