"""What CMake asks a CUDA compiler before it uses it: a path of one word, and what nvcc tells of itself with -v.

Knows what CMakeDetermineCUDACompiler.cmake looks for; nothing is compiled here.
"""

import shlex
import sys
from pathlib import Path

from kfuzz.cpu.toolchain import HOME
from kfuzz.devices import cache

DRIVER = "nvcc: NVIDIA (R) Cuda compiler driver"
"""By these words CMake knows nvcc."""
ARCHITECTURE = 90
"""What CMake has for CMAKE_CUDA_ARCHITECTURES where a project says nothing."""


def write_wrapper() -> Path:
    """A script that is `kfuzz nvcc`, for those who take a compiler's path and no words behind it."""
    path = cache.folder() / "kfuzz-nvcc"
    text = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m kfuzz nvcc "$@"\n'
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return path


def verbose_output(compiler: Path) -> str:
    """In nvcc's form: where its toolkit lies, and with what it links, which is this program."""
    libraries = f'"-L{HOME}"'
    return "\n".join(
        [
            f"#$ TOP={HOME}",
            f"#$ NVVMIR_LIBRARY_DIR={HOME}/nvvm/libdevice",
            f"#$ PATH={compiler.parent}",
            f'#$ INCLUDES="-I{HOME / "include"}"',
            f"#$ LIBRARIES= {libraries}",
            f'#$ cicc -arch compute_{ARCHITECTURE} "a.cu"',
            f'#$ "{compiler}" -o "a.out" "a.o" {libraries}',
        ]
    )
