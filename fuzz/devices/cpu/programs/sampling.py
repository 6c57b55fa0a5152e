"""The launches of a program of which only a sample of blocks is checked in full (runtime/sampling.h)."""

from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class BlockSampling:
    """The launches of which only a sample of blocks is checked in full.

    Once a run has made `accesses_in_full` accesses in its kernels, those with `sampled_from` blocks or more; once it
    has made `accesses_before_few`, also those with fewer (few_blocks in runtime/sampling.cpp).
    """

    accesses_in_full: int = 1 << 26
    sampled_from: int = 64
    accesses_before_few: int = 1 << 28


USUAL_SAMPLING = BlockSampling()


@dataclass(frozen=True)
class SampledShare:
    """The sampled launches of a run, their blocks, and how many of these were checked in full and in part."""

    launches: int = 0
    blocks: int = 0
    in_full: int = 0
    in_part: int = 0
    skipped: int = 0
    """The launches that repeat an earlier one which changes nothing, and were not run."""

    def __add__(self, other: "SampledShare") -> "SampledShare":
        """The share of two runs together."""
        return SampledShare(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))


NOTHING_SAMPLED = SampledShare()


@dataclass(frozen=True)
class CheckedShare:
    """What a run has checked: the launches of the program, those of them that it ran, their blocks that have ended, and
    how many of these it checked in full.
    """

    launches: int = 0
    begun: int = 0
    blocks: int = 0
    in_full: int = 0

    def __add__(self, other: "CheckedShare") -> "CheckedShare":
        """The share of two runs together."""
        return CheckedShare(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))


NOTHING_CHECKED = CheckedShare()


@dataclass(frozen=True)
class LastLaunch:
    """The launch that ran last in a run: its number, from 1 on, its line, and how many of its blocks have ended."""

    number: int
    line: int
    ended: int
    blocks: int
