"""What `python -m kfuzz.devices.worker kfuzz.callables.on_guarded_card` serves: callables under --guard-all."""

from kfuzz.callables.backend import PythonBackend
from kfuzz.callables.card import CardArena


def backend() -> PythonBackend:
    """Callables whose arrays lie on the first card, and all that torch allocates there between guards."""
    return PythonBackend(CardArena(), guard_all=True)
