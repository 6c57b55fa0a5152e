"""Asks for the answer of the code for another target of a compiler. It knows neither compilers nor devices."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TargetOptions:
    """`compares`: if a compiler has made the code for one of its targets, that for another one runs as well."""

    compares: bool = False
