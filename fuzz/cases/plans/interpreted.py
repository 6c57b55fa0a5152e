"""Kernels that an interpreter runs program by program, each of which takes milliseconds.

Knows claims and libraries; it knows no sizes but the most.
"""

from kfuzz.claims.kernel import Kernel
from kfuzz.devices.python.libraries import libraries

MOST_PROGRAMS = 16
"""Most programs along each size if an interpreter runs them."""


def is_interpreted(kernel: Kernel) -> bool:
    """Whether an interpreter runs the kernel's programs one by one."""
    languages = [launch.called.language for launch in kernel.launches if launch.called]
    return any(libraries()[one].interpreter is not None for one in languages)
