"""The module of the worker that serves files of torch without a GPU: they see one."""

from kfuzz.devices.python.arena import HostArena
from kfuzz.devices.python.backend import PythonBackend, prepare

__all__ = ["backend", "prepare"]


def backend() -> PythonBackend:
    """Callables whose tensors are in the host's memory and say that they are on a GPU."""
    return PythonBackend(HostArena(), imitates=True)
