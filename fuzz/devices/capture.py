"""Asks a device to capture a call in a CUDA graph and to replay it. It knows neither devices nor graphs."""

from dataclasses import dataclass

REPLAYS = (
    "without a graph",
    "when it is replayed after its inputs have changed in place",
    "when it is replayed after calls of other sizes",
)
"""The runs of the outcome, in this order."""


@dataclass(frozen=True)
class CaptureOptions:
    """`is_captured`: the call is captured once and replayed; the job's earlier calls come between two replays."""

    is_captured: bool = False
