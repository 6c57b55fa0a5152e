"""Answers what CMake asks of a CUDA compiler before it uses it: a path of one word, and the output of nvcc -v.

Knows what CMakeDetermineCUDACompiler.cmake looks for; compiles nothing.
"""

import shlex
import sys
from pathlib import Path

from kfuzz.devices import cache
from kfuzz.devices.cpu.toolchain import HOME

DRIVER = "nvcc: NVIDIA (R) Cuda compiler driver"
"""The words by which CMake recognises nvcc."""
ARCHITECTURE = 90
"""CMake's value of CMAKE_CUDA_ARCHITECTURES for a project that does not set it."""


def write_wrapper() -> Path:
    """Write a script that runs `kfuzz nvcc`, for tools that accept a path as a compiler, but no words after it."""
    path = cache.folder() / "kfuzz-nvcc"
    text = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m kfuzz nvcc "$@"\n'
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return path


def verbose_output(compiler: Path) -> str:
    """The output of nvcc -v in its format: the place of its toolkit, and how it links."""
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
