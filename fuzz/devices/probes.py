"""A probe: how hard a device looks at one job."""

from dataclasses import dataclass
from typing import TypeVar

from kfuzz.kinds import Kind

Options = TypeVar("Options")


@dataclass(frozen=True)
class Probe:
    """How hard to look at one job.

    `check`: per-access checking (cpu: the check flavour; gpu: compute-sanitizer, if the device was opened with it).
    `runs`: how many times it runs; each run has its own schedule and poison, drawn from `seed`. If one run leaves in
    doubt whether every element is written, another follows.
    `timeout`: seconds, after which the job is a `hang`.
    `fatal`: kinds that are known to end the process; the device believes one of them without seeing it twice.
    `options`: what only one device understands, as an instance of that device's own class of options.
    """

    check: bool = False
    runs: int = 3
    seed: int = 0
    timeout: float = 10.0
    fatal: tuple[Kind, ...] = ()
    options: tuple[object, ...] = ()

    def option(self, of: type[Options]) -> Options:
        """The options of one device, or their defaults."""
        return next((one for one in self.options if isinstance(one, of)), of())
