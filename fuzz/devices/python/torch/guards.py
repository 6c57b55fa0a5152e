"""torch on a GPU under --guard-all: poison surrounds all that torch allocates, also within its operations.

kfuzz's allocator replaces torch's own before the first tensor. Only this file knows both.
"""

import ctypes
import functools
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from kfuzz.devices.python import guards
from kfuzz.devices.python.torch import arrays


@functools.cache
def lender(on_gpu: bool) -> arrays.TorchTensors:
    """Tensors on the first GPU; call it before torch allocates memory there."""
    assert on_gpu, "on a CPU torch's allocator stays its own"
    arrays.check_torch_gpu()
    path = guards.library()
    made = torch.cuda.memory.CUDAPluggableAllocator(str(path), "kfuzz_allocate", "kfuzz_free")
    lends = getattr(made.allocator(), "set_record_stream_fn", None)
    ours = guards.Guards(path, hears_of_lending=lends is not None)
    if lends is not None:
        lends(ctypes.cast(ours.library.kfuzz_lend, ctypes.c_void_p).value)
    torch.cuda.memory.change_current_allocator(made)

    @contextmanager
    def watch(word: int) -> Iterator[guards.Guards]:
        ours.begin(word)
        yield ours

    return arrays.TorchTensors("cuda", watch)
