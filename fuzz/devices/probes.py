"""A probe: how hard a device looks at one job."""

from dataclasses import dataclass

from kfuzz.kinds import Kind


@dataclass(frozen=True)
class Probe:
    """How hard to look at one job.

    `check`: per-access checking (cpu: the check flavour; gpu: compute-sanitizer).
    `runs`: how many times it runs; each run has its own schedule and poison, drawn from `seed`. Of one run another
    follows where it leaves in doubt whether every element is written.
    `timeout`: seconds, after which the job is a `hang`.
    `sanitize`: on the gpu, watched by compute-sanitizer, where it is installed.
    `fatal`: kinds that are known to end the process; one of them need not be seen twice to be believed.
    `watch`: an array and the index of an element in it: who has stored it is all that is asked; the job runs once.
    """

    check: bool = False
    runs: int = 3
    seed: int = 0
    timeout: float = 10.0
    watch: tuple[str, int] | None = None
    sanitize: bool = False
    fatal: tuple[Kind, ...] = ()
    returned: bool = False
    """What a function of tensors returns is all that is asked: it runs once."""
    is_second: bool = False
    """It is to confirm what has ended a process: nothing but the case itself is run in this one."""
