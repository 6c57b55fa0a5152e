"""The protocol between the search and whatever runs kernels.

A device is handed a `Job`, where every size is a number, and gives back an `Outcome`. It knows nothing of claims,
cases or what the right answer is.
"""

import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices.kinds import Kind, Severity

Element = Literal["f32", "f64", "f16", "bf16", "i32", "i64", "u32"]

DTYPES: dict[str, np.dtype[np.generic]] = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(np.uint16),  # numpy has no bfloat16: its bits
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u32": np.dtype(np.uint32),
}


@dataclass(frozen=True)
class Buffer:
    """One array of a job. Without content or fill it is poisoned before the first launch.

    `fill` is the bits that every element holds at first. An in-place array has content and is an output. Where an
    output is only the beginning of the array, `part` is its shape. One that `is_returned` comes from a host
    function: nobody hands it over.
    """

    name: str
    element: Element
    shape: tuple[int, ...]
    content: NDArray[np.generic] | None = None
    fill: int | None = None
    is_output: bool = False
    part: tuple[int, ...] | None = None
    is_returned: bool = False
    rows: int | None = None
    """Of a job whose arrays are too large to be filled: the axis along which its rows lie, each with an answer of its
    own; None where all of it enters every answer."""
    in_turns: bool = False
    """It is too large to be filled by the host: its rows of 0 and 1 take turns (fuzz/devices/vast.py)."""

    @property
    def answer(self) -> tuple[int, ...]:
        """The shape of what a run leaves in an output."""
        return self.shape if self.part is None else self.part


@dataclass(frozen=True)
class Call:
    """A `__global__` function whose arguments the compiler makes: `softmax<128>(Load{x}, Store{y}, rows, 1.0f)`.

    `declared` are the names in the arguments, `float *x`, `int rows`, in the order in which a step gives their values.
    `on_host`: it is a host function, which is called once, and launches. `tensors`: names that stand for tensors of so
    many dimensions, for each of which a step gives the array and its sizes.
    """

    function: str
    arguments: tuple[str, ...]
    declared: tuple[str, ...]
    on_host: bool = False
    tensors: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return f"{self.function}({', '.join(self.arguments)})"


ArrayLibrary = Literal["numpy", "torch", "jax", "cupy", "numba"]
"""Whose arrays a Python callable takes."""


@dataclass(frozen=True)
class PythonCall:
    """A function of a Python file, called with arrays of a library.

    `arguments` are names, Python literals, names together, `(x, y)`, or any of these behind `keyword=`; `declared` are
    the names among them, in the order in which a step gives their values. `returns` are the outputs that it gives
    back, in this order; the others it is handed. `any_strides`: it also takes inputs whose elements do not lie one
    behind the other.
    """

    function: str
    arguments: tuple[str, ...]
    declared: tuple[str, ...]
    returns: tuple[str, ...]
    library: ArrayLibrary
    any_strides: bool = False
    in_stream: bool = False
    """It computes in the current stream."""
    is_triton: bool = False
    """It launches Triton kernels, which Triton's interpreter runs where there is no GPU."""

    def __str__(self) -> str:
        return f"{self.function}({', '.join(self.arguments)})"


Entry = str | Call | PythonCall
"""What a step launches: a `__global__` function by its C++ name, one with its arguments, or a Python callable."""


def names_together(text: str) -> list[str]:
    """The names in a tuple of them, `(x, y)`; none where it is something else."""
    names = [name.strip() for name in text.strip("()").split(",") if name.strip()]
    return names if text.startswith("(") and all(map(str.isidentifier, names)) else []


def is_host(entry: Entry) -> bool:
    """Whether it is a function of the host, which launches what it needs."""
    return isinstance(entry, PythonCall) or (isinstance(entry, Call) and entry.on_host)


def is_python(job: "Job") -> bool:
    """Whether it is a Python callable that the job calls."""
    return any(isinstance(step.entry, PythonCall) for step in job.steps)


@dataclass(frozen=True)
class Step:
    """One launch: `args` are buffer names or integers, in the order of the function's parameters or of `declared`.

    `cluster`: how many blocks along each axis start together and reach each other's shared memory; () without clusters.
    `cooperative`: all blocks of the grid run at once, and may wait for one another by `grid.sync()`.
    """

    entry: Entry
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    args: tuple[str | int, ...]
    cluster: tuple[int, int, int] | tuple[()] = ()
    cooperative: bool = False


@dataclass(frozen=True)
class Job:
    """A kernel bound to one case: all that a device needs to run it."""

    kernel: str
    path: Path
    source: str
    flags: tuple[str, ...]
    align: int
    buffers: tuple[Buffer, ...]
    steps: tuple[Step, ...]
    entries: tuple[Entry, ...]
    """Every entry that the kernel's launches name, whatever the sizes: what is compiled together."""
    blocks: tuple[int, ...] = ()
    """Of a job whose arrays are too large to be filled: the blocks that run where threads are simulated, by number."""
    most_rows: int = 0
    """Of such a job: so many rows of its answers may be asked for, where whole grids run and arrays are real."""
    warp_synchronous: bool = False
    """It counts on the lanes of a warp to go in step, as they did before Volta."""
    earlier: tuple["Job", ...] = ()
    """Calls of the same host function that come before this one in one of its runs: with other sizes, and at last with
    other values in the same arrays. Nothing is asked of their answers."""


@dataclass(frozen=True)
class Probe:
    """How hard to look at one job.

    `check`: per-access checking (cpu: the check flavour; gpu: compute-sanitizer).
    `runs`: how many times it runs; each run has its own schedule and poison, drawn from `seed`. Of one run another
    follows where it leaves in doubt whether every element is written.
    `timeout`: seconds, after which the job is a `hang`.
    `sanitize`: on the gpu, watched by compute-sanitizer, where it is installed.
    `fatal`: kinds that are known to end the process; one of them need not be seen twice to be believed.
    `watch`: an array and the index of an element in it: who has stored it is all that is asked; the job runs once.
    """

    check: bool = False
    runs: int = 3
    seed: int = 0
    timeout: float = 10.0
    watch: tuple[str, int] | None = None
    sanitize: bool = False
    fatal: tuple[Kind, ...] = ()
    returned: bool = False
    """What a function of tensors returns is all that is asked: it runs once."""
    is_second: bool = False
    """It is to confirm what has ended a process: nothing but the case itself is run in this one."""


@dataclass(frozen=True)
class Finding:
    """One defect that a device saw. Lines are lines of the `.cu` file, or of the header that `file` names."""

    kind: Kind
    message: str
    severity: Severity = "error"
    line: int | None = None
    other_line: int | None = None
    file: str = ""
    other_file: str = ""
    array: str | None = None
    index: int | None = None
    thread: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    step: int | None = None
    count: int = 1
    calls: tuple[str, ...] = ()
    """How it comes there from where the host begins: a function and its line each, the outermost first."""


@dataclass(frozen=True)
class Run:
    """What one run of a job left in its outputs, and what was special about it ("reverse, poison 7fbadbad")."""

    label: str
    outputs: dict[str, NDArray[np.generic]]
    seconds: float = 0.0
    rows: tuple[int, ...] = ()
    """Where the outputs are too large to be brought here: which of their rows these are."""
    stale: str = ""
    """Where the answer is that of an earlier call, with another input: of which, in words. It names a wrong answer."""


@dataclass(frozen=True)
class Outcome:
    """All that was seen of a job. `runs` is empty where it never came to an end.

    `stored`: the header, or nothing for the kernel file, and the line that stored the element that was to be watched;
    None where the device cannot tell.
    `refusal`: a host function did not take the arguments, and said so in these words. That is no defect.
    `ended`: it has ended the process that ran it, which costs far more than a run.
    """

    runs: tuple[Run, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = field(default=())
    stored: tuple[str, int] | None = None
    refusal: str = ""
    ended: bool = False
    returned: tuple[tuple[str, tuple[int, ...]], ...] | None = None
    """Where that was asked: element and shape of each array that a function returns; None where it did not."""


class ClaimError(Exception):
    """The kernel file itself is at fault (it does not compile, an entry is missing): exit 2, never a finding."""


class UnsupportedError(ClaimError):
    """The kernel uses what this device does not have; another device may. It is skipped, and accused of nothing."""


class DeviceError(Exception):
    """This machine cannot run kernels on this device; the message says what is missing and how to get it."""


class TogetherError(Exception):
    """Of jobs that were begun together one has ended what all of them need: each has to be run by itself."""


class UnexpectedError(DeviceError):
    """Something went wrong that kfuzz does not know of: its own fault, told in one line; its notes say where."""


def unexpected(error: BaseException) -> UnexpectedError:
    """An error that nobody has foreseen, in one line, with its traceback as a note."""
    said = " ".join(str(error).split())[:300]
    wrapped = UnexpectedError(f"kfuzz itself failed: {type(error).__name__}: {said} (kfuzz --debug shows where)")
    wrapped.add_note("".join(traceback.format_exception(error)))
    return wrapped


class Device(Protocol):
    """Runs jobs. A device is passed in, never looked up."""

    name: str

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run a job to its end or to its time-out; raise only ClaimError or DeviceError."""

    def close(self) -> None:
        """End the workers. A closed device is not used again."""


@runtime_checkable
class Ahead(Device, Protocol):
    """A device that can be asked for jobs ahead, and goes on with the next while its caller looks at the last."""

    def ask(self, job: Job, probe: Probe) -> None:
        """Have a job run; raises nothing."""

    def answer(self) -> Outcome:
        """What came of the job that was asked for first, as `run` tells it; `run` itself may be called between."""

    def forget(self) -> None:
        """Nobody wants to know any more what was asked for."""
