"""The phase that kfuzz is in, for a reader who waits: any room announces it, and a command shows it.

Knows no view: nothing happens with an announcement that no command listens to, as in a child process.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum


class Stage(Enum):
    """What kfuzz does, in words."""

    COMPILING = "compiling"
    LOADING = "loading"
    DESCRIBING = "reading the reference"
    GUESSING = "trying guesses of the claim"
    COUNTING = "counting additions"
    TESTING = "testing the claim"
    SEARCHING = "searching"
    EXPLAINING = "looking for the causes"
    SHRINKING = "shrinking"
    RANKING = "trying the shape that it was written for"
    CONFIRMING = "confirming on the GPU"
    MEASURING = "measuring how tight the claim is"


@dataclass(frozen=True)
class Phase:
    """A step, what it is about, and how far it is: `done` of `total`, or just `done` without a total."""

    step: Stage
    about: str = ""
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        count = f" {self.done} of {self.total}" if self.total else f" {self.done}" if self.done else ""
        return f"{self.step.value}{count}" + (f": {self.about}" if self.about else "")


PhaseListener = Callable[[Phase], None]
_listener: ContextVar[PhaseListener | None] = ContextVar("listener", default=None)


def announce(phase: Phase) -> None:
    """Say what begins now to the command that listens, if one does."""
    if listener := _listener.get():
        listener(phase)


@contextmanager
def listening(listener: PhaseListener) -> Iterator[None]:
    """Give each phase to this listener, and to no other one, until the end."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
