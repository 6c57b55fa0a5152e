"""NVIDIA's toolchain: finds its sanitizer, and checks that this machine has all it needs.

It needs no GPU and no context. The storeys above know nothing of it: they ask a `Vendor` (vendors/nvidia.py).
"""

import importlib.util
import shutil
from pathlib import Path

from kfuzz.common.installation import install_package_line
from kfuzz.devices import DeviceError
from kfuzz.devices.gpu import driver
from kfuzz.devices.nvcc import architectures, find_nvcc, release


def check_architecture(architecture: str) -> None:
    """Raise a DeviceError if nvcc cannot compile for this GPU."""
    compiler = find_nvcc()
    if architecture not in architectures(compiler):
        raise DeviceError(
            f"{compiler} writes no code for this GPU's {architecture}, only for {', '.join(architectures(compiler))}: "
            "install a CUDA toolkit that supports it"
        )


def find_sanitizer() -> str:
    """The path of compute-sanitizer, which comes with the toolkit."""
    for place in (None, str(Path(find_nvcc()).resolve().parent), "/usr/local/cuda/bin"):
        if path := shutil.which("compute-sanitizer", path=place):
            return path
    raise DeviceError("no compute-sanitizer on PATH or beside nvcc: install it with the CUDA toolkit")


def check_installed() -> None:
    """Raise a DeviceError that names what is not installed: pycuda, the driver or nvcc. It does not use the GPU."""
    _check_pycuda()
    driver.library()
    find_nvcc()


def _check_pycuda() -> None:
    if importlib.util.find_spec("pycuda") is None:
        raise DeviceError(f"pycuda is not installed: {install_package_line('pycuda')}")


def check_machine() -> None:
    """Raise a DeviceError that names the first thing missing: pycuda, driver, GPU, nvcc, or a match between them."""
    _check_pycuda()
    gpu, compiler = driver.gpu(), find_nvcc()
    check_release(gpu, compiler, release(compiler))
    check_architecture(gpu.architecture)


def check_release(gpu: driver.Gpu, compiler: str, release: tuple[int, int]) -> None:
    """Raise a DeviceError if the driver is older than nvcc by a major version of CUDA: it would refuse nvcc's code."""
    if gpu.driver_cuda[0] < release[0]:
        has, needs = (".".join(map(str, version)) for version in (gpu.driver_cuda, release))
        raise DeviceError(
            f"the driver runs CUDA {has} and {compiler} is {needs}: update the driver, or put an older nvcc on PATH"
        )
