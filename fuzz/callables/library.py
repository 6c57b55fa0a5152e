"""What a Python library says of itself: how a file that uses it is recognised, and how its arrays are lent and read.

One file in libraries/ describes one library. It is also read where the library is not installed.
"""

import importlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from kfuzz.callables.lending import Lender
from kfuzz.devices import Finding


@dataclass(frozen=True)
class Arithmetic:
    """The rounding of a library where a claim does not state it, in the words of a claim's [accuracy] table."""

    exp: str | tuple[float, float] = "expf"
    divide: str = "reciprocal"
    denominator: str = "row"
    ftz: bool = False


class LaunchFindings(Protocol):
    """What an interpreter sees in the kernels of one call."""

    findings: list[Finding]


class Interpreter(Protocol):
    """Runs a library's kernels where there is no GPU, and looks at each load and store."""

    def watch(self, names: dict[int, str], word: int, file: str) -> AbstractContextManager[LaunchFindings]:
        """Watch the kernels of one call: arrays by their addresses, the poison in what it allocates, its file."""


def do_nothing(is_card: bool) -> None:
    """The probe of a library that works wherever it can be imported."""


@dataclass(frozen=True)
class PythonLibrary:
    """A library whose arrays functions take, or a compiler for functions that take another library's arrays."""

    name: str
    packages: tuple[str, ...]
    """A file that imports one of these uses the library."""
    rank: int
    """Of several array libraries that a file imports, its functions take the arrays of the one with the lowest rank."""
    lender: Callable[[bool, bool], Lender] | None = None
    """Opens its arrays, in the host's memory or a GPU's, and all allocations guarded or not."""
    arrays: str = ""
    """The array library that its functions take, where it has no arrays of its own."""
    arithmetic: Arithmetic = field(default_factory=Arithmetic)
    decorators: tuple[str, ...] = ()
    """They make a function a kernel, which is launched and not called."""
    probe: Callable[[bool], None] = do_nothing
    """Uses it once, as little as shows that it works in this environment."""
    extra: str = ""
    """The extra of kfuzz that installs it; empty where kfuzz itself needs the library."""
    needs_gpu: bool = False
    """It runs nothing without one."""
    in_host: bool = False
    """Its arrays lie in the host's memory also where there is a GPU."""
    untimed: str = ""
    """Where its arrays cannot lie in a GPU's memory that kfuzz owns, so that its calls are not timed."""
    interpreter: Callable[[], Interpreter] | None = None
    """Runs its kernels where there is no GPU."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What the environment says, where there is no GPU, before a file is imported."""


class LateModule:
    """A module that is imported when something in it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the module has
        return getattr(importlib.import_module(self._name), name)


def import_late(name: str) -> Any:  # noqa: ANN401  a module of a library without types
    """A module that not everybody has installed."""
    return LateModule(name)
