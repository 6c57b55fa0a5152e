"""Opens the device that a person names, or the best one that this machine has.

Knows which devices there are; they themselves know what each needs.
"""

from kfuzz.devices import Device, DeviceError
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu.device import GpuDevice, why_not

NAMES = ("auto", "cpu", "gpu")


def open_device(name: str, sanitize: bool = False) -> Device:
    """The device of this name; `auto` is the gpu where there is one that works, and else the cpu.

    `sanitize` lets a gpu look at each access where a probe asks for it; the cpu does so without.
    """
    return GpuDevice(sanitize) if device_named(name) == "gpu" else CpuDevice()


def device_named(name: str) -> str:
    """Which device a name stands for on this machine."""
    if name not in NAMES:
        raise DeviceError(f"device={name!r}: expected one of {', '.join(NAMES)}")
    return "gpu" if name == "gpu" or (name == "auto" and why_not() is None) else "cpu"
