"""Time limits of what somebody else's file may take: a compilation, an import, a call.

Each process hears them from the one that starts it, through variables whose names do not name kfuzz. Knows seconds;
never what takes them.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf

COMPILE, CALL, UNTIL = "MOST_SECONDS_OF_COMPILATION", "MOST_SECONDS_OF_CALL", "MONOTONIC_TIME_OF_END"
COMPILE_SECONDS = 300.0
"""For a file of templates: CUTLASS's examples take a minute of a busy processor."""
LAST_TRIAL = 5.0
"""Seconds for which what has begun may go on after the time is over: `--max-time 1s` still tries a kernel."""


@dataclass(frozen=True)
class TimeLimits:
    """`compile`: seconds for compiling or importing one file, or asking a reference what it takes and returns. `call`:
    seconds for one call; None: each device has its own. `until`: the time, as time.monotonic counts, at which all ends.
    """

    compile: float = COMPILE_SECONDS
    call: float | None = None
    until: float = inf

    @property
    def left(self) -> float:
        """Seconds until everything ends."""
        return max(0.0, self.until - time.monotonic())


def time_limits() -> TimeLimits:
    """The limits of this process."""
    call = os.environ.get(CALL)
    return TimeLimits(
        float(os.environ.get(COMPILE, COMPILE_SECONDS)),
        None if call is None else float(call),
        float(os.environ.get(UNTIL, inf)),
    )


@contextmanager
def limited(limits: TimeLimits) -> Iterator[None]:
    """These limits for this process and all that it starts meanwhile."""
    values = {COMPILE: limits.compile, CALL: limits.call, UNTIL: limits.until}
    before = {name: os.environ.get(name) for name in values}
    set_variables({name: None if value is None else repr(value) for name, value in values.items()})
    try:
        yield
    finally:
        set_variables(before)


def set_variables(values: dict[str, str | None]) -> None:
    """Set variables of this process; None removes one."""
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
