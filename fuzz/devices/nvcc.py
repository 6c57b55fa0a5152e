"""Finds nvcc and asks it what it can do. It needs neither a GPU nor a driver.

A device asks; the storeys above know nothing of it.
"""

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

from kfuzz.devices import DeviceError

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
