"""The arguments of a function of TVM FFI, which is called without Python: its tensors are on a GPU."""

from typing import Any

import torch
from tvm_ffi import from_dlpack

from kfuzz.devices.python.torch.gpu_places import begin_as_on_gpu
from kfuzz.devices.python.torch.handing_over import TensorOnGpu


def as_on_gpu_of_ffi(value: Any) -> Any:  # noqa: ANN401  whatever is passed
    """An argument as compiled host code takes it."""
    if isinstance(value, torch.Tensor):
        begin_as_on_gpu(value)
        return from_dlpack(TensorOnGpu(value.detach()))  # TVM FFI takes a parameter of an autograd.Function as it is
    if isinstance(value, tuple):  # a named one, too
        return tuple(map(as_on_gpu_of_ffi, value))
    return list(map(as_on_gpu_of_ffi, value)) if isinstance(value, list) else value
