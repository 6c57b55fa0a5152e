"""What `python -m kfuzz.devices.worker kfuzz.devices.python.on_guarded_card` serves: callables under --guard-all."""

from kfuzz.devices.python.backend import PythonBackend
from kfuzz.devices.python.card import CardArena


def backend() -> PythonBackend:
    """Callables whose arrays lie on the first card, and all that torch allocates there between guards."""
    return PythonBackend(CardArena(), guard_all=True)
