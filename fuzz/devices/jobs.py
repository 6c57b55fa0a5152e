"""A job: a kernel bound to one case, in which every size is a number. It contains all that a device needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices.runners import LAUNCHER, Runner
from kfuzz.oracle.numbers.elements import Element


@dataclass(frozen=True)
class Buffer:
    """One array of a job. Without content or fill it is poisoned before the first launch.

    `fill` gives the bits that every element holds at first. An in-place array has content and is an output. If an
    output is only the beginning of the array, `part` is its shape. If `is_returned`, a host function returns the
    array, and it is not an argument.
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
    """For a job of vast arrays: the axis along which this array's rows lie, each with an answer of its own; None if the
    whole array enters every answer."""
    used: int | None = None
    """The words at the start of each row of the last axis that hold elements, where a stride is longer; None: all."""
    alternates: bool = False
    """The array is vast, and the device fills it with alternating rows of 0 and 1 (fuzz/devices/memory/vast.py)."""
    padding: NDArray[np.bool_] | None = None
    """A mask of the bytes of an output that no kernel need write, as between tiles of scales."""
    absent: int = 0
    """How many elements at the end are not there: they lie in rows beyond the count that the kernel is given."""
    keeps_absent: bool = False
    """Nothing may be written to an output's elements that are not there."""
    distance: int | None = None
    """The array begins so many bytes behind a multiple of 256; None: where the job's `align` allows."""

    @property
    def answer(self) -> tuple[int, ...]:
        """The shape of the answer that a run leaves in an output."""
        return self.shape if self.part is None else self.part


@dataclass(frozen=True)
class TensorMap:
    """What cuTensorMapEncodeTiled is given, its enumerations by their numbers; the first axis is the innermost.

    `strides` are in bytes and leave the innermost axis out.
    """

    type: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int
    fill: int


@dataclass(frozen=True)
class Link:
    """Bytes of an array that hold the address of a byte of another array, or the tensor map that begins there."""

    array: str
    at: int
    of: str
    offset: int
    map: TensorMap | None = None


@dataclass(frozen=True)
class Call:
    """A `__global__` function whose arguments the compiler makes: `softmax<128>(Load{x}, Store{y}, rows, 1.0f)`.

    `declared` are the names in the arguments, `float *x`, `int rows`, in the order in which a step gives their values.
    `on_host`: it is a host function, which is called once and launches kernels. `tensors`: the names of tensors and
    their numbers of dimensions; for each tensor a step gives the array and its sizes.
    """

    function: str
    arguments: tuple[str, ...]
    declared: tuple[str, ...]
    on_host: bool = False
    tensors: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return f"{self.function}({', '.join(self.arguments)})"


@dataclass(frozen=True)
class DrawnWeights:
    """The weights of an object: `array` holds the number of their set, of which 0 is its own.

    `sets`: for each of them the names of the weights that are others in each set, with digests of their numbers.
    """

    array: str
    sets: tuple[tuple[tuple[str, str], ...], ...]


@dataclass(frozen=True)
class MakerOfInputs:
    """What makes the inputs of a reference: `get_inputs` of its file, in the process of a module that stays up.

    `question`: what that process is asked, as JSON, for the inputs under some draws.
    """

    path: Path
    source: str
    server: str
    question: str


@dataclass(frozen=True)
class HandedInputs:
    """What `get_inputs` of a reference's file has made under a draw, as bytes. `words`: why it has made nothing."""

    draw: int
    data: NDArray[np.generic]
    words: str = ""


@dataclass(frozen=True)
class PythonCall:
    """A function of a Python file, called with arrays of a library.

    `arguments` are names, Python literals, tuples, lists and dicts of both, or any of these after `keyword=`; in such a
    container `x.permute(1, 0)` is a view of an array;
    `declared` are the names among them, in the order in which a step gives their values. `returns` are the outputs that
    it returns, in this order; the other outputs are arguments. `any_strides`: it also accepts inputs whose elements are
    not contiguous.
    """

    function: str
    arguments: tuple[str, ...]
    declared: tuple[str, ...]
    returns: tuple[str, ...]
    library: str
    """The library whose arrays it takes."""
    language: str
    """The library that compiles it: that of its arrays, or a compiler for such arrays, such as Triton."""
    any_strides: bool = False
    in_stream: bool = False
    """It computes in the current stream."""
    is_guess: bool = False
    """The file does not say which library's arrays it takes: what it imports does."""
    others: tuple[str, ...] = ()
    """Libraries to try next if the first call rejects the type of its arrays."""
    init: tuple[str, ...] | None = None
    """What an object of a class is made with: literals, or what is one at the sizes of a call; None for what its own
    get_init_inputs() gives.
    """
    init_at_home: tuple[str, ...] | None = None
    """The same at the sizes of the problem, at which the digests of drawn weights are known."""
    beside: tuple[str, ...] = ()
    """The folders of the files that its task hands over with it. A task compares numbers, of whatever type they are."""
    files: tuple[str, ...] = ()
    """These files, as far as the task names them: a sandbox lets them in, but for the reference."""
    doubles: tuple[str, ...] = ()
    """The outputs that its reference returns in float64: it may do so, too."""
    numbers: tuple[str, ...] | None = None
    """The outputs that have no dimension, if its task compares shapes; None if dimensions of 1 do not matter."""
    as_made: bool = False
    """An object stays in the mode in which its class leaves it, as in the benchmark of its reference."""
    maker: MakerOfInputs | None = None
    """What makes what the arguments call so."""
    weights: DrawnWeights | None = None
    """The sets of weights with which an object of a class may be made; None if it has only its own."""
    on_host: ClassVar[bool] = True

    def __str__(self) -> str:
        return f"{self.function}({', '.join(self.arguments)})"


TEXT = "text"
"""What a job's text goes through if it is to run as it is."""
Entry = str | Call | PythonCall
"""The target of a step: a `__global__` function by its C++ name, one with its arguments, or a Python callable."""


def is_host(entry: Entry) -> bool:
    """Whether it is a host function, which launches the kernels that it needs."""
    return not isinstance(entry, str) and entry.on_host


def called_first(entries: Sequence[Entry]) -> PythonCall:
    """The first callable of a job for a caller, which has no other entries."""
    assert isinstance(entries[0], PythonCall), "other jobs have other runners"
    return entries[0]


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
class VastPart:
    """The part of a job of vast arrays that is examined: blocks by number, for a device that simulates threads, and at
    most `most_rows` rows of the answers, for a device that runs whole grids over real arrays.
    """

    blocks: tuple[int, ...]
    most_rows: int = 0


@dataclass(frozen=True)
class Job:
    """A kernel bound to one case, with all that a device needs to run it."""

    kernel: str
    path: Path
    source: str
    flags: tuple[str, ...]
    align: int
    buffers: tuple[Buffer, ...]
    steps: tuple[Step, ...]
    entries: tuple[Entry, ...]
    """Every entry that the kernel's launches name at any sizes; they are compiled together."""
    vast: VastPart | None = None
    """For a job of vast arrays: the part of it that a device runs or reads."""
    warp_synchronous: bool = False
    """It relies on the lanes of a warp to run in lockstep, as they did before Volta."""
    earlier: tuple["Job", ...] = ()
    """Calls of the same host function before this one in one of its runs: with other sizes, and the last one with
    other values in the same arrays. Their answers are not judged."""
    runner: Runner = LAUNCHER
    """What runs it."""
    through: str = ""
    """What its text is before the cpu device runs it: "ptx", a PTX module; "nvcc", CUDA of which nvcc makes one. TEXT:
    as it is, on a device that goes through a compiler. Of a Python call: the target for which its kernels are compiled,
    such as "sm_80", where the file would see another GPU without it."""
    is_tiled: bool = False
    """A compiler of tiles wrote it, such as Triton's: its source has programs and no threads."""
    is_fenced: bool = False
    """Its compiler writes the proxy fences and the waits for products: its source has none."""
    made: tuple[HandedInputs, ...] = ()
    """What the maker of its call has made, for a process that does not get the maker."""
    links: tuple[Link, ...] = ()
    """What of the arrays' contents is known when they have their places. Only the cpu device has such jobs."""
