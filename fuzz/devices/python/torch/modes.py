"""Dispatch modes that keep torch's compiler away from themselves without loading it.

torch loads it at a mode's first operation, only to say that it must not compile the mode. That takes a process longer
than all else before its first call.
"""

import sys
from functools import partial

from torch.utils._python_dispatch import TorchDispatchMode

from kfuzz.devices.python.after_import import act_after_import

COMPILER = "torch._dynamo"


class UncompiledMode(TorchDispatchMode):  # type: ignore[misc]  # torch is not there where types are checked
    """A mode that is not compiled: the compiler learns of it when something else has loaded it."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        act_after_import(COMPILER, partial(_disable, cls))


def _disable(mode: type[UncompiledMode]) -> None:
    mode.__torch_dispatch__ = sys.modules[COMPILER].disable(mode.__torch_dispatch__)
