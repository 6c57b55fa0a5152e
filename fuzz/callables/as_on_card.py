"""What `python -m kfuzz.devices.worker kfuzz.callables.as_on_card` serves: files of torch, which see a GPU."""

from kfuzz.callables.arena import HostArena
from kfuzz.callables.backend import PythonBackend


def backend() -> PythonBackend:
    """Callables whose tensors are in the host's memory and say that they are on a GPU."""
    return PythonBackend(HostArena(), imitates=True)
