"""NVIDIA: nvcc, libcuda and compute-sanitizer, as the room `gpu` uses them."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from ctypes import c_void_p
from pathlib import Path

from kfuzz.devices import Entry, Job, nvcc
from kfuzz.devices.gpu import device, driver, graphs, nvidia
from kfuzz.devices.gpu.timed import CompiledFunctions, CompiledKernels
from kfuzz.devices.vendor import GpuSession, Vendor


class Nvidia(Vendor):
    """The vendor of the first GPUs that kfuzz ran on."""

    packages = ("pycuda",)
    visible = "CUDA_VISIBLE_DEVICES"

    def why_not(self) -> str | None:
        return device.why_not()

    def check_compiling(self) -> None:
        driver.gpu()
        nvcc.find_nvcc()

    def open_device(self, sanitize: bool) -> device.GpuDevice:
        return device.GpuDevice(sanitize)

    def gpu(self) -> driver.Gpu:
        return driver.gpu()

    def count(self) -> int:
        return driver.count_gpus()

    def describe_gpu(self) -> str:
        found = driver.gpu()
        major, minor = found.driver_cuda
        return f"CUDA {major}.{minor}, {found.name}, {found.architecture}"

    def describe_compiler(self) -> str:
        return next(line for line in nvcc.nvcc_version(nvcc.find_nvcc()).splitlines() if "release" in line)

    def tools(self) -> Mapping[str, Callable[[], str]]:
        return {"nvcc": describe_toolkit, "driver": self.describe_gpu, "compute-sanitizer": nvidia.find_sanitizer}

    def versions(self) -> dict[str, str]:
        return {
            "cuda": ".".join(map(str, driver.gpu().driver_cuda)),
            "nvcc": ".".join(map(str, nvcc.release(nvcc.find_nvcc()))),
        }

    def session(self) -> AbstractContextManager[graphs.Session]:
        return graphs.session()

    def memory(self, nbytes: int) -> graphs.DeviceBytes:
        return graphs.DeviceBytes(nbytes)

    def copy(self, to: int, out_of: int, nbytes: int, stream: c_void_p) -> None:
        graphs.copy(to, out_of, nbytes, stream)

    def set_bytes(self, to: int, pattern: int, width: int, count: int, stream: c_void_p) -> None:
        graphs.set_bytes(to, pattern, width, count, stream)

    def kernels(
        self, session: GpuSession, path: Path, source: str, flags: tuple[str, ...], entries: tuple[Entry, ...]
    ) -> CompiledKernels:
        return CompiledKernels(session, path, source, flags, entries)

    def host_functions(self, session: GpuSession, job: Job) -> CompiledFunctions:
        return CompiledFunctions(session, job)


def describe_toolkit() -> str:
    """Where nvcc is, its release, and the latest architecture that it compiles for."""
    found = nvcc.find_nvcc()
    major, minor = nvcc.release(found)
    return f"{found} (CUDA {major}.{minor}, up to {nvcc.architectures(found)[-1]})"


VENDOR: Vendor = Nvidia()
