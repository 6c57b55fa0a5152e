"""Asks a device to count the roundings of the launches that a call makes. It knows neither devices nor counts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CountOptions:
    """`is_counted`: the call is made once, and its outcome has what its outputs went through in place of them."""

    is_counted: bool = False
