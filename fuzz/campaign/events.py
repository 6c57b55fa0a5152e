"""The events that a campaign reports while it runs. Knows their content; never how they are shown."""

from collections.abc import Callable
from dataclasses import dataclass

from kfuzz.campaign.state import Discovery


@dataclass(frozen=True)
class Tried:
    """Event: one more trial. `total` counts all trials; `seconds` says where this one's time went."""

    kernel: str
    index: int
    rows: int
    elements: int
    ratio: float
    total: int
    seconds: dict[str, float]


@dataclass(frozen=True)
class Found:
    """Event: a new bucket; if there is a corpus, its case is already on disk."""

    discovery: Discovery


@dataclass(frozen=True)
class GaveUp:
    """Event: a kernel is not tried further, and why."""

    kernel: str
    why: str


Event = Tried | Found | GaveUp
Listen = Callable[[Event], None]


def ignore(_: Event) -> None:
    """A listener that does nothing."""
