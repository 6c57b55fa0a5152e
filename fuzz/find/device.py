"""Opens the device that a person names, or the best one that this machine has.

Knows which devices there are; they themselves know what each needs.
"""

from types import TracebackType

from kfuzz.devices import Device, DeviceError, Job, Outcome, Probe, is_python
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu.device import GpuDevice, why_not
from kfuzz.devices.python.device import PythonDevice

NAMES = ("auto", "cpu", "gpu")


class NamedDevice:
    """The device of a name: CUDA goes to the cpu or the gpu, Python callables to a process of Python.

    Each is started with the first job for it: who has callables alone needs neither g++ nor nvcc.
    """

    def __init__(self, name: str, sanitize: bool = False) -> None:
        self.name, self._sanitize = name, sanitize
        self._of_cuda: Device | None = None
        self._of_python: Device | None = None

    def run(self, job: Job, probe: Probe) -> Outcome:
        """Run a job on the device that can; raise only ClaimError or DeviceError."""
        if is_python(job):
            self._of_python = self._of_python or PythonDevice(self.name)
            return self._of_python.run(job, probe)
        if self._of_cuda is None:
            self._of_cuda = GpuDevice(self._sanitize) if self.name == "gpu" else CpuDevice()
        return self._of_cuda.run(job, probe)

    def close(self) -> None:
        """End the workers. A closed device is not used again."""
        for device in (self._of_cuda, self._of_python):
            if device is not None:
                device.close()

    def __enter__(self) -> "NamedDevice":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_device(name: str, sanitize: bool = False) -> Device:
    """The device of this name; `auto` is the gpu where there is one that works, and else the cpu.

    `sanitize` lets a gpu look at each access where a probe asks for it; the cpu does so without.
    """
    return NamedDevice(device_named(name), sanitize)


def device_named(name: str) -> str:
    """Which device a name stands for on this machine."""
    if name not in NAMES:
        raise DeviceError(f"device={name!r}: expected one of {', '.join(NAMES)}")
    return "gpu" if name == "gpu" or (name == "auto" and why_not() is None) else "cpu"
