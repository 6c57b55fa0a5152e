"""What kfuzz asks of the vendor of a GPU: a device, what this machine has, and a clock.

`vendors/` lists the vendors. No storey above `devices` names one of them, its compiler or its driver.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from ctypes import c_void_p
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices import Ahead, Entry, Job, Step


class GpuDescription(Protocol):
    """A GPU."""

    @property
    def name(self) -> str: ...
    @property
    def architecture(self) -> str:
        """As the compiler calls it: sm_90."""

    @property
    def capability(self) -> tuple[int, int]:
        """The same as numbers."""


class GpuMemory(Protocol):
    """A stretch of GPU memory."""

    nbytes: int
    address: int

    def fill(self, block: NDArray[np.generic]) -> None:
        """Fill it with copies of a block of bytes."""

    def write(self, given: NDArray[np.generic]) -> None:
        """Write its first bytes."""

    def read(self, start: int, nbytes: int) -> NDArray[np.uint8]:
        """Read `nbytes` of its bytes."""


class Replayable(Protocol):
    """Launches that can be repeated."""

    def replay(self) -> None:
        """Launch them; do not wait."""


class GpuSession(Protocol):
    """A GPU in use by this thread, one stream on it, and its clock."""

    @property
    def gpu(self) -> GpuDescription: ...

    cache: int
    """Bytes of the second-level cache."""
    peak: float
    """Bytes that its memory moves in a second."""
    clocks: float
    """The clocks of all multiprocessors in a second."""
    stream: c_void_p

    def seconds(self, graph: Replayable) -> float:
        """How long one replay takes."""

    def forget_persisting(self) -> None:
        """Let nothing stay in the cache on purpose."""

    def wait(self) -> None:
        """Wait until all work has ended."""

    def graph(self, record: Callable[[], None]) -> Replayable:
        """The work that `record` puts on the stream; none of it runs now."""


class TimedKernels(Protocol):
    """The kernels of a text, compiled and loaded."""

    def pack(self, entry: Entry, values: Sequence[int], room: GpuMemory | None = None) -> bytes:
        """The arguments of a launch; if C++ makes them, it does so on the GPU, in this room."""

    def launch(self, step: Step, arguments: bytes, stream: c_void_p) -> None:
        """Launch one with such arguments."""


class TimedFunctions(Protocol):
    """The host functions of a job, compiled and loaded."""

    def call(self, job: Job, number: int, addresses: Mapping[str, int]) -> str | None:
        """Call the function of a step on these arrays; its words if it refuses its arguments."""


class Vendor(Protocol):
    """A vendor's toolchain, driver and sanitizer."""

    packages: tuple[str, ...]
    """The Python packages that its device needs."""
    visible: str
    """The environment variable that chooses among several GPUs."""

    def why_not(self) -> str | None:
        """Why this machine cannot run jobs on its GPU, in one line that says what to do; None when it can."""

    def check_compiling(self) -> None:
        """Raise a DeviceError that names what is missing: a GPU, or the compiler for it."""

    def open_device(self, sanitize: bool) -> Ahead:
        """The device of its first GPU, named "gpu"; `sanitize`: its sanitizer watches where a probe asks for it."""

    def gpu(self) -> GpuDescription:
        """The first GPU; a DeviceError in one line if there is none."""

    def count(self) -> int:
        """The number of GPUs."""

    def describe_gpu(self) -> str:
        """The driver and the GPU in words."""

    def describe_compiler(self) -> str:
        """The compiler and its version in words."""

    def tools(self) -> Mapping[str, Callable[[], str]]:
        """What its device needs or can use, each with a function that says where it is, or raises a DeviceError."""

    def versions(self) -> dict[str, str]:
        """The versions of the software that decides how fast a kernel is."""

    def session(self) -> AbstractContextManager[GpuSession]:
        """A session that finishes its work when you leave it."""

    def memory(self, nbytes: int) -> GpuMemory:
        """A new stretch of memory in the session."""

    def copy(self, to: int, out_of: int, nbytes: int, stream: c_void_p) -> None:
        """Copy on the GPU by the driver."""

    def set_bytes(self, to: int, pattern: int, width: int, count: int, stream: c_void_p) -> None:
        """Set `count` elements of 1, 2 or 4 bytes to the same bits."""

    def kernels(
        self, session: GpuSession, path: Path, source: str, flags: tuple[str, ...], entries: tuple[Entry, ...]
    ) -> TimedKernels:
        """The kernels of a text, for the GPU of a session."""

    def host_functions(self, session: GpuSession, job: Job) -> TimedFunctions:
        """The host functions of a job, for the GPU of a session."""
