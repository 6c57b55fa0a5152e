"""Functions that CuTe DSL compiles with --enable-tvm-ffi: the same host code, called by way of TVM FFI."""

import ctypes
import functools
from typing import Any, TypeAlias

import tvm_ffi
from cutlass.cutlass_dsl import tvm_ffi_provider as provider

from kfuzz.devices.python.cute.refusals import refuse
from kfuzz.devices.python.cute.runtime import HOST
from kfuzz.devices.python.torch.ffi_tensors import as_on_gpu_of_ffi

FfiFunction: TypeAlias = Any
"""A compiled function, or what is passed to it."""
MISPLACED = "Misaligned Tensor data"
"""In TVM FFI's words for a tensor that does not begin at a multiple of what the function was compiled for."""
SAFE_CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)
"""TVMFFISafeCallType."""


def install() -> None:
    """Call the host code in the engine that knows our functions, with tensors on a GPU."""
    provider.TVMFFIJitCompiledFunctionBase._create_tvm_ffi_function = find_function
    for of in (provider.TVMFFIJitCompiledFunction, provider.TVMFFIJitCompiledFunctionWithKwargs):
        of.__call__ = checked(of.__call__)


def find_function(self: FfiFunction) -> FfiFunction:
    """The function in its own engine, which takes the places of its arguments: the DSL would load a copy elsewhere."""
    if self.engine is None:
        return None
    packed = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.engine.raw_lookup(f"__tvm_ffi_{self.function_name}"))

    def call(owner: int | None, given: int | None, count: int, result: int | None) -> int:
        answer = ctypes.c_int()
        values = ctypes.c_void_p(owner), ctypes.c_void_p(given), ctypes.c_int32(count), ctypes.c_void_p(result), answer
        packed((ctypes.c_void_p * len(values))(*map(ctypes.addressof, values)))
        return answer.value

    self.kfuzz_call = SAFE_CALL(call)  # it lives as long as the function
    place = ctypes.cast(self.kfuzz_call, ctypes.c_void_p).value
    return tvm_ffi.Function.__from_extern_c__(place, keep_alive_object=self.engine)


def checked(call: FfiFunction) -> FfiFunction:
    """A call that raises what its launches raise."""

    @functools.wraps(call)
    def called(self: FfiFunction, *given: FfiFunction, **named: FfiFunction) -> FfiFunction:
        with HOST.raise_errors():
            values = {name: as_on_gpu_of_ffi(one) for name, one in named.items()}
            try:
                return call(self, *map(as_on_gpu_of_ffi, given), **values)
            except ValueError as error:
                if MISPLACED not in str(error):
                    raise
                refuse("a tensor that begins elsewhere than it was compiled for, as part of another or by its claim")

    return called
