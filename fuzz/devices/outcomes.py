"""An outcome: the answers of a job's runs, and the findings of the device."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kfuzz.kinds import Kind, Severity


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
    """The call stack, the outermost first: each a function and its line."""
    access: Literal["", "reads", "writes"] = ""
    """The thread's access to `array[index]`, if it is a plain access."""
    multiprocessors: int = 0
    """Only a GPU of this many multiprocessors shows it; 0: not known to depend on the GPU."""
    in_one_warp: bool = False
    """The finding is a race between two lanes of one warp."""
    other_thread: tuple[int, int, int] | None = field(default=None, compare=False)
    other_block: tuple[int, int, int] | None = field(default=None, compare=False)
    """The other thread of a race within one launch, and its block."""
    grid: tuple[int, int, int] | None = field(default=None, compare=False)
    block_size: tuple[int, int, int] | None = field(default=None, compare=False)
    """The launch of such a race."""
    is_at_home: bool = False
    """It was seen at the sizes that a callable was written for, whatever the sizes of the trial."""

    @property
    def has_both_threads(self) -> bool:
        """Whether the device named both threads of a race, each with its block, and their launch."""
        of_launch = (self.grid, self.block_size, self.thread, self.block, self.other_thread, self.other_block)
        return None not in of_launch


@dataclass(frozen=True)
class Circumstances:
    """The conditions that distinguish one run of a job from the others. Their text names the run in reports."""

    order: str = ""
    """The order in which threads and blocks run, where the device chooses it: "reverse", "shuffled 3"."""
    preempt_one_in: int = 0
    """One access in this many switches to another thread."""
    late_writes: bool = False
    after_calls: bool = False
    """The job's earlier calls come first."""
    poison: int | None = None
    """The word in unwritten memory."""
    edge: str = ""
    """The array that touches an end of memory."""
    is_at_end: bool = False
    multiprocessors: int = 0
    """Of the GPU that a host function sees; 0: as many as usual."""

    def __str__(self) -> str:
        parts = [
            self.order,
            f"changing over at 1 access in {self.preempt_one_in}" if self.preempt_one_in else "",
            "writes seen late" if self.late_writes else "",
            "after other calls" if self.after_calls else "",
            "" if self.poison is None else f"poison {self.poison:08x}",
            f"{self.multiprocessors} multiprocessors" if self.multiprocessors else "",
            f"{self.edge} at the {'end' if self.is_at_end else 'start'} of memory" if self.edge else "",
        ]
        return ", ".join(filter(None, parts)) or "without earlier calls"


class Decoy(Enum):
    """How the input of the call before a run differs from the run's own input."""

    TURNED = "whose inner elements are in reverse order"
    NEAR = "of which one element differs in its last bit, and all by 1e-5"
    HALF = "whose inner elements are half as large"


@dataclass(frozen=True)
class Run:
    """The outputs of one run of a job, and its circumstances."""

    circumstances: Circumstances
    outputs: dict[str, NDArray[np.generic]]
    seconds: float = 0.0
    rows: tuple[int, ...] = ()
    """The rows that these outputs are, if the whole outputs are too large to copy."""
    stale: Decoy | None = None
    """The answer belongs to the input of the previous call, which differs from this run's input in this way; it
    explains a wrong answer.
    """


class Untried(Enum):
    """Why a device did not run a job of vast arrays, or one that wants a field around them."""

    DOES_NOT_FIT = "the arrays do not fit into the GPU's free memory"
    CARD_IN_USE = "another such trial had the GPU"
    TOO_SLOW = "it had not ended after a few seconds, and may only be slow"
    NO_FIELD = "the device has no painted memory in which arrays lie far apart"
    NO_GRAPHS = "its library captures no calls in CUDA graphs"
    TOUCHES_TOO_MUCH = "a block touches more than 512 MB"


TOO_SLOW_HERE = "stopped: too slow here"
"""How a device's note begins that a job does not hang and takes too long on a processor."""


@dataclass(frozen=True)
class Refusal:
    """A host function did not take its arguments, in these words, on this line of its file if that is known.

    `is_of_compiler`: its kernel did not compile for them. `is_of_weights`: an object lacks the weights of the case, and
    runs again with its own.
    """

    words: str
    line: int | None = None
    is_of_compiler: bool = False
    is_of_weights: bool = False


@dataclass(frozen=True)
class Outcome:
    """The result of one job on one device. `runs` is empty if it never ended.

    `stored`: the header (empty for the kernel file) and the line that stored the watched element; None if the device
    cannot say.
    `refusal`: a host function did not take the arguments, which is not a defect. `untried`: why the job did not run.
    `ended`: the job has ended the process that ran it, which costs far more than a run.
    """

    runs: tuple[Run, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = field(default=())
    stored: tuple[str, int] | None = None
    refusal: Refusal | None = None
    untried: Untried | None = None
    ended: bool = False
    returned: tuple[tuple[str, tuple[int, ...]], ...] | None = None
    """If requested, the element type and shape of each array that a function returns; None if it did not return."""
    operand: str = ""
    """The format to which the kernels that a callable launched round operands of float32 products, as a claim calls it;
    empty if none does, or it is not known."""
    through: str = ""
    """What the text of its job went through, as `Job.through` calls it."""
    other_ways: tuple[str, ...] = ()
    """What it could have gone through instead, the likeliest to work first."""
