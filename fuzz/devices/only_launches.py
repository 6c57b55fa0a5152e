"""Asks a device which launches a call makes at sizes of a whole GPU. It knows neither devices nor sizes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LaunchOptions:
    """`only_launches`: the call is made once, with arrays that hold nothing, and no kernel runs."""

    only_launches: bool = False
