"""Tensors of the host that begin where a GPU's may: compiled host code refuses others.

torch's memory on a GPU begins at multiples of 512 bytes, and on a CPU at those of 64.
"""

from typing import Any

import numpy as np
import torch

from kfuzz.devices.python.extensions import CALLS

ALIGNED = 256
"""What no compiled host code asks for more than."""
ALONE = 2
"""How often the memory of a tensor is used that no other tensor shares: by the tensor, and by torch's object for it."""


def begin_as_on_gpu(tensor: Any) -> None:  # noqa: ANN401  a tensor
    """Move a tensor's memory to where a GPU's could be, unless another tensor shares it.

    What kfuzz has lent lies where the claim says.
    """
    with torch._C.DisableTorchFunction(), torch.no_grad():
        held = tensor.untyped_storage()
        is_placed = held.data_ptr() % ALIGNED == 0 or held.data_ptr() in CALLS.names
        if is_placed or not held.nbytes() or torch._C._storage_Use_Count(held._cdata) > ALONE:
            return
        room = np.zeros(held.nbytes() + ALIGNED, np.uint8)
        start = -room.ctypes.data % ALIGNED
        moved = torch.from_numpy(room[start : start + held.nbytes()]).untyped_storage()
        moved.copy_(held)
        tensor.set_(moved, tensor.storage_offset(), tensor.shape, tensor.stride())
