"""Warp without a GPU: its runtime finds an H200, whose library is ours where it needs CUDA.

Installed once, before a file is imported. Knows what surrounds the kernels; library.py knows what Warp calls.
"""

import hashlib
import os
import sys
from importlib import import_module
from pathlib import Path

import warp
from warp._src import build, context

from kfuzz.devices import cache
from kfuzz.devices.python.warp.launches import WarpValue
from kfuzz.devices.python.warp.library import LibraryOnCpu
from kfuzz.devices.python.warp.memory import MEMORY
from kfuzz.devices.worker.helping import is_boxed

OWN_LIBRARY = "warp.so"
TENSORS = "kfuzz.devices.python.torch.addresses"


def install() -> None:
    """Replace what a missing GPU leaves unanswered, and launch on the cpu device."""
    if "torch" in sys.modules:
        MEMORY.tensors = import_module(TENSORS).ADDRESSES
    warp.config.log_level = warp.LOG_WARNING
    warp.config.lineinfo = warp.config.line_directives = True
    # a product of tiles by cuBLASDx takes minutes to compile; Warp has a loop of its own for it
    warp.config.enable_mathdx_gemm = warp.config.enable_mathdx_solver = warp.config.enable_mathdx_fft = False
    warp.config.use_precompiled_headers = False  # NVRTC cannot keep any in a sandbox
    # what an answer in a sandbox has compiled is for no other process
    folder = (Path(os.environ["TMPDIR"]) if is_boxed() else cache.folder()) / "warp"
    load, begin_cache, find_hooks = (
        context.Runtime.load_dll,
        build.init_kernel_cache,
        context.ModuleExec.get_kernel_hooks,
    )
    hash_function = context.ModuleHasher.hash_adjoint

    def load_library(self: WarpValue, path: str) -> WarpValue:
        made = load(self, path)
        return LibraryOnCpu(made) if Path(path).name == OWN_LIBRARY else made

    def find_hooks_and_kernel(self: WarpValue, kernel: WarpValue) -> WarpValue:
        hooks = find_hooks(self, kernel)
        if self.device.is_cuda:
            for one in (hooks.forward, hooks.backward):
                if one is not None:
                    context.runtime.core.find_kernel(one).of = kernel
        return hooks

    def hash_function_and_place(self: WarpValue, adjoint: WarpValue) -> bytes:
        """Findings name lines: a module is kept for functions of this text in this place."""
        place = f"{adjoint.filename}:{adjoint.fun_lineno}"
        return hashlib.sha256(hash_function(self, adjoint) + place.encode()).digest()

    context.Runtime.load_dll = load_library
    build.init_kernel_cache = lambda *_: begin_cache(str(folder))
    context.ModuleExec.get_kernel_hooks = find_hooks_and_kernel
    context.ModuleHasher.hash_adjoint = hash_function_and_place
    context.Device.get_cuda_output_format = lambda self, *_: "ptx" if self.is_cuda else None
