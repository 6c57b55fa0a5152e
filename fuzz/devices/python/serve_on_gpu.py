"""The module of the worker that serves callables with GPU memory."""

from kfuzz.devices.python.backend import PythonBackend
from kfuzz.devices.python.gpu_memory import GpuArena


def backend() -> PythonBackend:
    """Callables whose arrays are on the first GPU."""
    return PythonBackend(GpuArena())
