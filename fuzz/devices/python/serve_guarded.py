"""The module of the worker that serves callables with guarded GPU memory (--guard-all)."""

from kfuzz.devices.python.backend import PythonBackend
from kfuzz.devices.python.gpu_memory import GpuArena


def backend() -> PythonBackend:
    """Callables whose arrays are on the first GPU, with guards around all that torch allocates there."""
    return PythonBackend(GpuArena(), guard_all=True)
