"""A tensor of the host for another library, by DLPack: the library sees it on a GPU, and kfuzz knows its address."""

import ctypes
from typing import Any

import torch

from kfuzz.devices.python.torch.addresses import ADDRESSES

ON_GPU = 2
"""DLPack's number of a CUDA device."""
NAME = b"dltensor"


class CapsuleHead(ctypes.Structure):
    """What the tensor in a capsule begins with."""

    _fields_ = (("data", ctypes.c_void_p), ("device", ctypes.c_int), ("device_number", ctypes.c_int))


get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


class TensorOnGpu:
    """A tensor as a library of GPUs takes it."""

    def __init__(self, tensor: Any) -> None:  # noqa: ANN401  a tensor
        self._tensor = tensor

    def __dlpack_device__(self) -> tuple[int, int]:
        return ON_GPU, 0

    def __dlpack__(self, **_: object) -> object:
        """A capsule with the tensor, whatever stream the library has."""
        ADDRESSES.note(self._tensor)
        with torch._C.DisableTorchFunction():
            capsule = self._tensor.__dlpack__()
        head = CapsuleHead.from_address(get_pointer(capsule, NAME))
        head.device, head.device_number = ON_GPU, 0
        return capsule
