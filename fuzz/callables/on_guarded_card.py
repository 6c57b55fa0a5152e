"""What `python -m kfuzz.devices.worker kfuzz.callables.on_guarded_card` serves: callables under --guard-all."""

from kfuzz.callables.backend import PythonBackend
from kfuzz.callables.card import CardArena


def backend() -> PythonBackend:
    """Callables whose arrays are on the first GPU, with guards around all that torch allocates there."""
    return PythonBackend(CardArena(), guard_all=True)
