"""Shows the phase that a command is in: one live line on a terminal, a few plain lines elsewhere.

Knows phases and streams; never what happens in a phase.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape

from kfuzz.common.phases import Phase, Stage, listening
from kfuzz.common.printable import one_line

LINE_EVERY = 10.0
"""Seconds between two lines of progress without a terminal."""


class PhaseLines:
    """Plain lines: one when a step begins that was not there before, and one now and then while it lasts."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console, self._clock = console, clock
        self._began = self._last = clock()
        self._steps: set[Stage] = set()

    def __call__(self, phase: Phase) -> None:
        """Print a line for the phase if it is news."""
        now = self._clock()
        if phase.step in self._steps and now < self._last + LINE_EVERY:
            return
        self._steps.add(phase.step)
        self._last = now
        line = f"[{now - self._began:5.1f} s] {one_line(str(phase))}"
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def show_phases(console: Console) -> Iterator[None]:
    """Show every phase that is announced until the end."""
    if not console.is_terminal:
        with listening(PhaseLines(console)):
            yield
        return
    with console.status("starting") as status, listening(lambda phase: status.update(escape(one_line(str(phase))))):
        yield
