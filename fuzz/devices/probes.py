"""A probe: how closely a device looks at one job."""

from dataclasses import dataclass
from typing import TypeVar

from kfuzz.kinds import Kind

OptionsOfDevice = TypeVar("OptionsOfDevice")


@dataclass(frozen=True)
class Probe:
    """How closely to look at one job.

    `check`: per-access checking (cpu: the check flavour; gpu: compute-sanitizer, if the device was opened with it).
    `runs`: how many times the job runs; each run has its own schedule and poison, drawn from `seed`. If one run leaves
    in doubt whether every element is written, another follows.
    `timeout`: seconds, after which the job is a `hang`.
    `fatal`: kinds that end the process and that this kernel is known to have; they need no confirmation.
    `options`: settings of single devices, each an instance of that device's own class of options.
    `after_calls`: a host function gets earlier calls however large the case is; else only if it is small.
    """

    check: bool = False
    runs: int = 3
    seed: int = 0
    timeout: float = 10.0
    fatal: tuple[Kind, ...] = ()
    options: tuple[object, ...] = ()
    after_calls: bool = False

    def option(self, of: type[OptionsOfDevice]) -> OptionsOfDevice:
        """The options of one device, or their defaults."""
        return next((one for one in self.options if isinstance(one, of)), of())
