"""Asks a device to make each call of a host function on a stream of its own. It knows no device."""

from dataclasses import dataclass


@dataclass(frozen=True)
class StreamOptions:
    """`has_own`: the current stream is another one in each call, and nothing waits between two calls."""

    has_own: bool = False
