"""How a callable's process treats one job, beyond what a probe tells every device."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CallableOptions:
    """`is_second`: this run confirms what ended another process, so it runs only the case itself."""

    is_second: bool = False
