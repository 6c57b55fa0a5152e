"""CuTe DSL without a GPU: each compilation leaves its PTX, and its host code calls functions of ours for CUDA's.

Installed once, before a file is imported. Knows the DSL; runtime.py knows what its host code calls.
"""

import ctypes
import functools
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import torch
from cutlass.base_dsl import compiler, dsl, jit_executor
from cutlass.base_dsl.export import external_binary_module
from cutlass.cute import runtime
from cutlass.cutlass_dsl import cuda_jit_executor
from cutlass.utils import hardware_info

from kfuzz.devices import UnsupportedError
from kfuzz.devices.python.cute.loads import narrow_loads
from kfuzz.devices.python.cute.refusals import refuse
from kfuzz.devices.python.cute.runtime import CALLED, HOST, LOAD, loader_of
from kfuzz.devices.python.cute.stores import elect_for_stores
from kfuzz.devices.python.imitated_gpu import GPU
from kfuzz.devices.python.launched.host_calls import ATTRIBUTES
from kfuzz.devices.python.torch.gpu_places import begin_as_on_gpu
from kfuzz.devices.python.torch.handing_over import TensorOnGpu

CuteValue: TypeAlias = Any
"""A thing of the DSL's."""
FFI_FUNCTIONS = "kfuzz.devices.python.cute.ffi_functions"
KEPT = re.compile(r"dump-ptx-path='([^']*)'")
PROCESSORS, CACHE_BYTES = 16, 38


def install() -> None:
    """Replace what a missing GPU leaves unanswered, and launch on the cpu device."""
    for one in dsl.DSLSingletonMeta._instances.values():  # they have read their variables
        one.envar.lineinfo, one.envar.disable_file_caching = True, True  # a host function from a file has no PTX
        if one.envar._arch is None:  # CUTE_DSL_ARCH says no other one
            one.envar._arch = GPU.architecture
            GPU.changed.append(functools.partial(follow_gpu, one.envar))
    compile_and_jit, run = compiler.Compiler.compile_and_jit, jit_executor.JitExecutor.run_compiled_program

    @functools.wraps(compile_and_jit)
    def compile_with_ptx(
        self: CuteValue, module: CuteValue, pipeline: str, *given: CuteValue, **named: CuteValue
    ) -> CuteValue:
        with TemporaryDirectory() as folder:
            if (kept := KEPT.search(pipeline)) is None:
                pipeline = f"{pipeline.rstrip('})')} dump-ptx-path='{folder}/kernels'}})"
            made = compile_and_jit(self, module, pipeline, *given, **named)
            beginning = Path(kept[1] if kept else f"{folder}/kernels")
            texts = [one.read_text() for one in beginning.parent.glob(f"{beginning.name}*.ptx")]
        if texts:
            give_functions(made[0] if isinstance(made, tuple) else made, texts)
        return made

    @functools.wraps(run)
    def run_and_raise(self: CuteValue, *given: CuteValue) -> CuteValue:
        with HOST.raise_errors():
            return run(self, *given)

    begin_tensor = runtime._Tensor.__init__

    def take_tensor(self: CuteValue, tensor: CuteValue, *given: CuteValue, **named: CuteValue) -> None:
        if isinstance(tensor, torch.Tensor):
            begin_as_on_gpu(tensor)
            tensor = TensorOnGpu(tensor)
        begin_tensor(self, tensor, *given, **named)

    runtime._Tensor.__init__ = take_tensor
    compiler.Compiler.compile_and_jit = compile_with_ptx
    jit_executor.JitExecutor.run_compiled_program = run_and_raise
    cuda_jit_executor.CudaDialectJitCompiledFunction.num_devices = 1
    answer_for_hardware(hardware_info.HardwareInfo)
    external_binary_module.ExternalBinaryModule.__init__ = refuse_file
    if find_spec("tvm_ffi") is not None:
        import_module(FFI_FUNCTIONS).install()


def follow_gpu(variables: CuteValue) -> None:
    """Compile for the GPU that is imitated now."""
    variables._arch = GPU.architecture


def give_functions(engine: CuteValue, texts: list[str]) -> None:
    """Let the host code of an engine call our functions, and find its kernels in this PTX."""
    if len(texts) != 1:
        refuse("a host function of several modules")
    engine.kfuzz_loader = loader_of(narrow_loads(elect_for_stores(texts[0])))  # it lives as long as the engine
    for name, one in {**CALLED, LOAD: engine.kfuzz_loader}.items():
        engine.raw_register_runtime(name, ctypes.cast(one, ctypes.c_void_p))


def answer_for_hardware(of: CuteValue) -> None:
    """Answer as an H200."""
    of.__init__ = lambda self, device_id=0: None
    of.get_max_active_clusters = lambda self, cluster_size, stream=None: ATTRIBUTES[PROCESSORS] // cluster_size
    of.get_l2_cache_size_in_bytes = lambda self: ATTRIBUTES[CACHE_BYTES]
    of.get_device_multiprocessor_count = lambda self: ATTRIBUTES[PROCESSORS]


def refuse_file(self: CuteValue, file: str, *_: CuteValue, **__: CuteValue) -> None:
    """Refuse machine code: a program that keeps it for later may catch this, and compile."""
    what = f"CuTe DSL: {Path(file).name} is a compiled function from a file, without PTX"
    raise UnsupportedError(f"{what}: leave it out, or use --device gpu")
