"""Kernels of programs, which the cpu device runs as hundreds of threads each.

Knows claims and libraries; it knows no sizes but the most.
"""

from kfuzz.claims.kernel import Kernel
from kfuzz.devices.python.libraries import libraries

MOST_PROGRAMS = 16
"""Most programs along each size if the cpu device runs them."""


def has_programs(kernel: Kernel) -> bool:
    """Whether a kernel's launches are of programs, whose threads the text does not show."""
    languages = [launch.called.language for launch in kernel.launches if launch.called]
    return any(libraries()[one].run_without_gpu is not None for one in languages)
