"""How a callable's process looks at one job, beside what a probe says to every device."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CallableOptions:
    """`is_second`: it confirms what has ended a process: nothing but the case itself is run in this one."""

    is_second: bool = False
