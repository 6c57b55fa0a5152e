"""NVIDIA's toolchain: finds its compiler and its sanitizer, and checks that this machine has all it needs.

It needs no GPU and no context. The storeys above know nothing of it: they ask a `Vendor` (vendors/nvidia.py).
"""

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from kfuzz.common.installation import install_package_line
from kfuzz.devices import DeviceError
from kfuzz.devices.gpu import driver

TOOLKIT = Path("/usr/local/cuda")
_OF_ONE_GENERATION = re.compile(r"\b(?:wgmma|setmaxnreg|tcgen05)\b")


def find_nvcc(default: Path = TOOLKIT) -> str:
    """The path of nvcc: on PATH, under CUDA_HOME or CUDA_PATH, or where the toolkit installs itself."""
    homes = [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    for place in (None, *(str(home / "bin") for home in (*homes, default))):
        if path := shutil.which("nvcc", path=place):
            return path
    raise DeviceError(f"no nvcc on PATH or under {default}: install the CUDA toolkit, or set CUDA_HOME to it")


@functools.cache
def nvcc_version(nvcc: str) -> str:
    """The version that this nvcc prints, down to the build."""
    return _output([nvcc, "--version"])


def release(nvcc: str) -> tuple[int, int]:
    """The toolkit's release, as (13, 0)."""
    found = re.search(r"release (\d+)\.(\d+)", nvcc_version(nvcc))
    if not found:
        raise DeviceError(f"{nvcc} --version does not name a release: {nvcc_version(nvcc)!r}")
    return int(found[1]), int(found[2])


@functools.cache
def architectures(nvcc: str) -> tuple[str, ...]:
    """The architectures that this nvcc writes machine code for, oldest first: sm_75, sm_80, ..."""
    names = [name for name in _output([nvcc, "--list-gpu-code"]).split() if name.startswith("sm_")]
    return tuple(sorted(names, key=lambda name: int(name.removeprefix("sm_"))))


def check_architecture(architecture: str) -> None:
    """Raise a DeviceError if nvcc cannot compile for this GPU."""
    compiler = find_nvcc()
    if architecture not in architectures(compiler):
        raise DeviceError(
            f"{compiler} writes no code for this GPU's {architecture}, only for {', '.join(architectures(compiler))}: "
            "install a CUDA toolkit that supports it"
        )


def target_of(architecture: str, *texts: str) -> str:
    """The architecture to compile texts for: instructions of one generation of GPUs need its own name, as sm_90a."""
    return f"{architecture}a" if any(map(_OF_ONE_GENERATION.search, texts)) else architecture


def code_for(architecture: str) -> list[str]:
    """The words for code of this GPU alone: `-arch=sm_90a` would also make PTX for all later GPUs, and fail."""
    return ["-gencode", f"arch={architecture.replace('sm_', 'compute_')},code={architecture}"]


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise DeviceError(f"{' '.join(command)} failed: {error}") from error


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
