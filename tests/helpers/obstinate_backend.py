"""A backend whose jobs never end, and which cannot be interrupted from inside."""

import signal
from collections.abc import Callable

from kfuzz.devices import Job, Outcome, Probe


class Obstinate:
    """Begins, and then waits for a signal that nobody sends."""

    is_spent = False

    def run(self, _job: Job, _probe: Probe, begin: Callable[[str], None]) -> Outcome:
        begin("running")
        while True:
            signal.pause()

    def close(self) -> None:
        """Nothing to give back."""


def backend() -> Obstinate:
    return Obstinate()
