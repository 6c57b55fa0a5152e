"""Requests for runs of programs and their answers, pickled from one process of kfuzz to another."""

from dataclasses import dataclass

from kfuzz.devices import Refusal
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.experiments import Manner
from kfuzz.devices.cpu.programs.sampling import (
    NOTHING_CHECKED,
    NOTHING_SAMPLED,
    USUAL_SAMPLING,
    BlockSampling,
    CheckedShare,
    LastLaunch,
    SampledShare,
)

OWN_FAULT = 117
"""The exit status of a process in which kfuzz itself failed."""


@dataclass(frozen=True)
class RequestFiles:
    """The arguments of a run, and the files for the pickled request, its answer and what the program prints."""

    words: list[str]
    ask: str
    answer: str
    output: str
    errors: str
    folder: str
    """The working directory, which may not be that of the process that answers."""
    live: str
    """The structs of the run while it lasts, which both processes map."""
    input: int
    """The descriptor of the standard input, which all processes share."""


@dataclass(frozen=True)
class ProgramRun:
    """The program and the manner of one run."""

    library: Library
    manner: Manner
    seconds: float
    """Its longest processor time."""
    sampling: BlockSampling = USUAL_SAMPLING
    still: float = 0.0
    """The processor time for which a launch may make no progress; 0: any."""


@dataclass(frozen=True)
class ProgramEnd:
    """The result of a run: the runtime's own structs as bytes, and how the program ended."""

    findings: bytes
    buffers: bytes
    launched: bytes
    status: int
    exit_code: int
    seconds: float
    block_seconds: float
    thread_steps: int
    launches: int
    refusal: Refusal | None = None
    """Why kfuzz cannot run the program any further, which is not a defect."""
    sampled: SampledShare = NOTHING_SAMPLED
    asks_multiprocessors: bool = False
    """Whether the host has asked how many multiprocessors the GPU has."""
    share: CheckedShare = NOTHING_CHECKED
    place: LastLaunch | None = None
    """Where it was when it ended; None before its first launch."""
    reads_input: bool = False
    """Whether the program has read its standard input."""
    is_cut: bool = False
    """Whether it was ended from outside, since the time for all runs was over."""
