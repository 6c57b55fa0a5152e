"""Tensors that pass for those of a GPU, as other libraries take and give them: by `__cuda_array_interface__`."""

from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import torch

from kfuzz.devices.python.torch.addresses import ADDRESSES


def array_interface(tensor: Any) -> Mapping[str, object]:  # noqa: ANN401  a tensor
    """A tensor as another library of a GPU takes it."""
    ADDRESSES.note(tensor)
    return MappingProxyType({**tensor.numpy().__array_interface__, "version": 3})


def as_tensor(data: Any, *args: object, **named: object) -> object:  # noqa: ANN401  an array of any library
    """A tensor of data, which may be another library's array of a GPU: that is in the host's memory, too."""
    seen = None if isinstance(data, torch.Tensor) else getattr(data, "__cuda_array_interface__", None)
    if seen is None:
        return torch.as_tensor(data, *args, **named)
    on_host = SimpleNamespace(__array_interface__={**seen, "version": 3}, of=data)
    return torch.as_tensor(torch.from_numpy(np.asarray(on_host)), *args, **named)
