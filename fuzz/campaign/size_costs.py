"""How long a Python callable takes at a size that is new to its process, and at one that it has had before.

A library that compiles for each size takes seconds for the first call at a size and a thousandth of that for the next.
Knows seconds and numbers of trials; never what a size is.
"""

from dataclasses import dataclass, field
from statistics import median

from kfuzz.campaign.schedule import BLOCKS

ENOUGH = sum(BLOCKS)
"""Trials at new sizes that a campaign should have time for: those of its first rounds, in which sizes grow. A campaign
that has the time needs no economy."""
CHEAPER = 2
"""How many times cheaper a known size must be: with less, half of the time at known sizes gives less than twice as many
trials, for half as many sizes."""


@dataclass
class SizeCosts:
    """The seconds of one callable's trials in one process, and the numbers of those that brought new sizes."""

    new: list[float] = field(default_factory=list)
    known: list[float] = field(default_factory=list)
    tried: list[int] = field(default_factory=list)

    def add(self, index: int, is_known: bool, seconds: float) -> None:
        """Note a trial."""
        if is_known:
            self.known.append(seconds)
        else:
            self.new.append(seconds)
            self.tried.append(index)

    @property
    def new_seconds(self) -> float:
        """The seconds of a trial at a new size. The first trial does not count: it also imports the file."""
        return median(self.new[1:])

    @property
    def known_seconds(self) -> float:
        """The seconds of a trial at a known size, at best: its earlier calls may have sizes that are new."""
        return min(self.known)

    def is_due(self, budget: float) -> bool:
        """Whether the next trial should have a known size, in a campaign of `budget` seconds for this callable.

        New sizes and known ones get half of the time each. Whether known ones are cheaper is tried after 2, 4, 8, ...
        new sizes, until they are.
        """
        if len(self.new) < 2 or ENOUGH * self.new_seconds <= budget:
            return False
        if self.known and CHEAPER * self.known_seconds <= self.new_seconds:
            return sum(self.known) <= sum(self.new[1:])
        return len(self.known) < len(self.new).bit_length() - 1
