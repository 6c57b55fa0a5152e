"""What CuTe DSL's host code asks for, and the cpu device does not take: one line, which the call raises."""

from kfuzz.devices import UnsupportedError
from kfuzz.devices.python.extensions import CALLS


def refuse(what: str) -> None:
    """Refuse what needs a GPU."""
    CALLS.trouble = UnsupportedError(f"CuTe DSL: {what}, which the cpu device does not take; use --device gpu")
    raise CALLS.trouble
