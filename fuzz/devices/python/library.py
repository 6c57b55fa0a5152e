"""What describes a Python library: how kfuzz recognises a file that uses it, and lends and reads its arrays.

One file in libraries/ describes one library. kfuzz also reads it where the library is not installed.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kfuzz.devices.python.lending import Lender


@dataclass(frozen=True)
class Arithmetic:
    """The rounding of a library if a claim does not state it, in the words of a claim's [accuracy] table."""

    exp: str | tuple[float, float] = "expf"
    divide: str = "reciprocal"
    denominator: str = "row"
    ftz: bool = False
    flushed: tuple[str, ...] = ()
    """The element types whose denormals it may take for zero."""
    functions: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Its functions that err by more than the documented ones of CUDA: in units of 2^-24, and absolutely."""


def do_nothing(on_gpu: bool) -> None:
    """The probe of a library that works wherever it can be imported."""


@dataclass(frozen=True)
class PythonLibrary:
    """A library whose arrays functions take, or a compiler for functions that take another library's arrays."""

    name: str
    packages: tuple[str, ...]
    """A file that imports one of these uses the library."""
    rank: int
    """If a file imports several array libraries, its functions take the arrays of the one with the lowest rank."""
    lender: Callable[[bool, bool], Lender] | None = None
    """Opens its arrays: in the host's memory or a GPU's, and with all allocations guarded or not."""
    arrays: str = ""
    """The array library that its functions take, where it has no arrays of its own."""
    takes_torch: bool = False
    """Its functions take torch's tensors beside its own arrays: those that a reference in torch gets."""
    arithmetic: Arithmetic = field(default_factory=Arithmetic)
    decorators: tuple[str, ...] = ()
    """They make a function a kernel, which a program launches instead of calling it."""
    launchers: tuple[str, ...] = ()
    """They launch the function that they get first, which is a kernel."""
    probe: Callable[[bool], None] = do_nothing
    """The smallest use that shows that it works in this environment."""
    extra: str = ""
    """The extra of kfuzz that installs it; empty if kfuzz itself needs the library."""
    needs_gpu: bool = False
    """It runs nothing without a GPU."""
    forks_with_gpu: bool = False
    """A process that has only imported it may be forked and then use a GPU: its import does not touch the GPU."""
    in_host: bool = False
    """Its arrays are in the host's memory even if there is a GPU."""
    untimed: str = ""
    """Why its calls are not timed: its arrays cannot be in GPU memory that kfuzz owns."""
    imitates_gpu: bool = False
    """Its arrays in the host's memory can say that they are on a GPU, to a file that asks for one."""
    of_gpu: tuple[str, ...] = ()
    """Its modules that only work with a GPU: what one of them raises without a GPU says nothing about the kernel."""
    of_releases: tuple[str, ...] = ()
    """Its other modules whose names come and go with its releases: a file that asks for one is for another release."""
    compile_errors: tuple[str, ...] = ()
    """Its exceptions that say that a kernel does not compile, with a GPU or without."""
    launch_error: str = ""
    """What its words have where it refuses a launch that a GPU would refuse, too."""
    compilers: tuple[str, ...] = ()
    """Its functions, with their modules, that compile: what is raised inside says that a kernel does not compile."""
    run_without_gpu: Callable[[], None] | None = None
    """Lets the cpu device run its kernels, in a process that has not imported the file yet."""
    watch_on_gpu: Callable[[], None] | None = None
    """Notes what it loads on a GPU, in such a process."""


class LateModule:
    """A module that is imported when something in it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the module has
        return getattr(importlib.import_module(self._name), name)


def import_late(name: str) -> Any:  # noqa: ANN401  a module of a library without types
    """A module that may not be installed."""
    return LateModule(name)
