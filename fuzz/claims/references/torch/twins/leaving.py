"""Notes where numbers leave torch as an array of numpy or a list: what comes back of them has no radius.

Knows torch's methods; it knows no rule.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

LEAVING = frozenset((torch.Tensor.numpy, torch.Tensor.tolist, torch.Tensor.__array__))


class WatchedLeaving(TorchFunctionMode):  # type: ignore[misc]  # torch is not there where types are checked
    """Calls back with each tensor that leaves torch."""

    def __init__(self, note: Callable[[torch.Tensor], None]) -> None:
        super().__init__()
        self.note = note

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        """Do what torch does."""
        if func in LEAVING and isinstance(args[0], torch.Tensor):
            self.note(args[0])
        return func(*args, **(kwargs or {}))
