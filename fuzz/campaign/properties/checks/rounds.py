"""Where a rounding happens: every answer is made of a value that was rounded where the model rounds it.

The oracle judges it: with the claim, the set of right answers has only those of the rounded value (Bands.round_kept).
Knows claims; it does not know how a value is rounded.
"""

from kfuzz.campaign.properties.property import Examined
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Finding

WORDS = "claimed roundings"


def is_claimed(kernel: Kernel) -> bool:
    return bool(kernel.claims.rounds)


def why_untested(kernel: Kernel) -> str:
    return "" if kernel.claims.rounds else "the claim names no value that must be rounded"


def look(trial: Examined) -> Finding | bool | None:
    return True if trial.is_right and trial.outcome.runs else None
