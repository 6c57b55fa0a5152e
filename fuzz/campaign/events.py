"""What a campaign tells while it runs. Knows what is told; never how it is shown."""

from collections.abc import Callable
from dataclasses import dataclass

from kfuzz.campaign.state import Discovery


@dataclass(frozen=True)
class Tried:
    """Event: one more trial. `total` counts them all; `seconds` says where its time went."""

    kernel: str
    index: int
    rows: int
    elements: int
    ratio: float
    total: int
    seconds: dict[str, float]


@dataclass(frozen=True)
class Found:
    """Event: a bucket that was not there before; its case is on disk already, where there is a corpus."""

    discovery: Discovery


@dataclass(frozen=True)
class GaveUp:
    """Event: a kernel is not tried further, and why."""

    kernel: str
    why: str


Event = Tried | Found | GaveUp
Listen = Callable[[Event], None]


def ignore(_: Event) -> None:
    """A listener that does not."""
