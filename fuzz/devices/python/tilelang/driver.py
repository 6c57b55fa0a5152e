"""TileLang without a GPU: nvcc stops at PTX, and its host code finds CUDA's driver in a library of ours.

Installed once, before a file is imported. Knows TileLang; forwarding.py knows what its host code calls.
"""

import functools
import os
from typing import Any, TypeAlias

from tilelang.contrib import nvcc
from tilelang.cuda import execution_backend
from tilelang.jit.adapter import tvm_ffi

from kfuzz.devices import UnsupportedError, cache
from kfuzz.devices.python.tilelang.forwarding import HOST, open_libraries
from kfuzz.devices.python.torch.ffi_tensors import as_on_gpu_of_ffi
from kfuzz.devices.worker.helping import is_boxed

TileValue: TypeAlias = Any
"""A thing of TileLang's."""
ARCHITECTURE = "sm_90a"
USUAL = "tvm_ffi"
"""The way in which its host code runs; others link CUDA's own runtime."""


def install() -> None:
    """Replace what a missing GPU leaves unanswered, and launch on the cpu device."""
    if is_boxed():
        raise UnsupportedError(
            "a process in a sandbox starts no nvcc, which TileLang needs: --no-sandbox, if you trust it"
        )
    folder = cache.folder() / "tilelang"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["TILELANG_CACHE_DIR"] = str(folder)  # what it keeps there is PTX
    open_libraries()
    own = nvcc.compile_cuda

    @functools.wraps(own)
    def compile_to_ptx(code: str, *_: TileValue, options: TileValue = None, **named: TileValue) -> bytearray:
        text = folder / f"{cache.key(code)[:16]}.cu"  # findings name its lines
        text.write_text(code)
        whole = f'#line 1 "{text}"\n{code}'
        return bytearray(own(whole, "ptx", [f"-arch={ARCHITECTURE}"], options=options, **named))

    nvcc.compile_cuda = compile_to_ptx
    find = tvm_ffi.TVMFFIKernelAdapter._get_executable
    tvm_ffi.TVMFFIKernelAdapter._get_executable = lambda self: CheckedExecutable(find(self))
    for one in execution_backend.CUDA_EXECUTION_BACKENDS:
        object.__setattr__(one, "supports_callee_allocated_outputs", False)  # torch allocates them, and kfuzz sees it
        if one.name != USUAL:
            object.__setattr__(one, "is_available", lambda: False)


class CheckedExecutable:
    """An executable of TileLang, made now or loaded from a file: it is called with tensors on a GPU."""

    def __init__(self, executable: TileValue) -> None:
        self._executable = executable

    def __getattr__(self, name: str) -> TileValue:
        return getattr(self._executable, name)

    def __call__(self, *given: TileValue) -> TileValue:
        """Run its host code, which launches kernels."""
        with HOST.raise_errors():
            return self._executable(*map(as_on_gpu_of_ffi, given))
