"""What `python -m kfuzz.devices.worker kfuzz.devices.python.on_card` serves: callables with memory of the card."""

from kfuzz.devices.python.backend import PythonBackend
from kfuzz.devices.python.card import CardArena


def backend() -> PythonBackend:
    """Callables whose arrays lie on the first card."""
    return PythonBackend(CardArena())
