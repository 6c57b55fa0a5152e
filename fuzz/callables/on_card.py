"""What `python -m kfuzz.devices.worker kfuzz.callables.on_card` serves: callables with memory of the card."""

from kfuzz.callables.backend import PythonBackend
from kfuzz.callables.card import CardArena


def backend() -> PythonBackend:
    """Callables whose arrays lie on the first card."""
    return PythonBackend(CardArena())
