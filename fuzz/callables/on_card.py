"""What `python -m kfuzz.devices.worker kfuzz.callables.on_card` serves: callables with GPU memory."""

from kfuzz.callables.backend import PythonBackend
from kfuzz.callables.card import CardArena


def backend() -> PythonBackend:
    """Callables whose arrays are on the first GPU."""
    return PythonBackend(CardArena())
