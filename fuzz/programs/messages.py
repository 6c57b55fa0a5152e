"""What a run of a program is asked, and what it answers: pickled from one process of kfuzz's to another."""

from dataclasses import dataclass

from kfuzz.cpu.compiler import Library
from kfuzz.cpu.experiments import Manner

OWN_FAULT = 117
"""The exit status of a process in which kfuzz itself has failed."""


@dataclass(frozen=True)
class Request:
    """The arguments of a run, and the files that hold the question and take the answer and what is printed."""

    words: list[str]
    ask: str
    answer: str
    output: str
    errors: str


@dataclass(frozen=True)
class ProgramRun:
    """What one run is to be like."""

    library: Library
    manner: Manner
    seconds: float


@dataclass(frozen=True)
class ProgramEnd:
    """What came of a run: the runtime's own structs as bytes, and how the program ended."""

    findings: bytes
    buffers: bytes
    launched: bytes
    status: int
    exit_code: int
    seconds: float
    block_seconds: float
    thread_steps: int
    launches: int
