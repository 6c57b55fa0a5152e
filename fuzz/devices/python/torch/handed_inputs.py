"""Inputs of a reference as bytes: the process that makes them writes them, and that of an answer reads them.

So the answer gets tensors, numbers and containers, and not the file that has made them. Knows torch's files; it does
not know who reads or writes them.
"""

import io
import pickle
from collections.abc import Mapping
from functools import partial
from pkgutil import resolve_name
from types import FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch._ops import OpOverload, OpOverloadPacket
from torch.utils._python_dispatch import _disable_current_modes

from kfuzz.devices import UnsupportedError
from kfuzz.devices.python import own_classes
from kfuzz.devices.python.own_classes import describe_value, own_value
from kfuzz.devices.python.raising import words_of


class NoDataError(Exception):
    """Among the inputs is what only the file that makes it can have, in words."""


def pack_inputs(data: Any, theirs: ModuleType, *, keeps_out: bool) -> bytes:  # noqa: ANN401  containers of tensors
    """The inputs that a module makes, without anything of the module; NoDataError where that cannot be.

    `keeps_out`: functions of the module's classes are those of the reader's classes of the same names.
    """

    class DataPickler(pickle.Pickler):
        """Values of the module's classes as what they hold."""

        def reducer_override(self, one: object) -> Any:  # noqa: ANN401  what pickle asks for
            function = one.__func__ if isinstance(one, MethodType) else one
            if isinstance(function, type | FunctionType):
                if function.__module__ == theirs.__name__:
                    raise NoDataError(f"{function.__qualname__}, a {'class' if isinstance(one, type) else 'function'}")
                return NotImplemented
            if isinstance(one, OpOverload | OpOverloadPacket):
                return resolve_name, (f"torch:ops.{one}",)
            if type(one).__module__ != theirs.__name__:
                return NotImplemented
            described = describe_value(one, theirs)
            if described is None or (described[0].has_code and not keeps_out):
                raise NoDataError(f"a {type(one).__name__}")
            return own_value, described

    made = io.BytesIO()
    try:
        torch.save(data, made, pickle_module=_pickling(Pickler=DataPickler))
    except NoDataError:
        raise
    except Exception as error:  # of pickle, of torch, or of a class's own code
        raise NoDataError(f"what cannot be written down ({words_of(error)})") from None
    return made.getvalue()


def unpack_inputs(raw: bytes, own: Mapping[str, object]) -> Any:  # noqa: ANN401  containers of tensors
    """The same inputs; values of the file's classes are of those among these names that have the same fields."""

    class DataUnpickler(pickle.Unpickler):
        """Values of the file's classes as those of the reader's."""

        def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401  what pickle asks for
            if (module, name) == (own_classes.__name__, own_value.__name__):
                return partial(own_value, own=own)
            try:
                return super().find_class(module, name)
            except (ImportError, AttributeError, OSError) as error:
                raise UnsupportedError(f"get_inputs makes a {module}.{name}: {words_of(error)}") from None

    with _disable_current_modes(), torch.sparse.check_sparse_tensor_invariants(enable=True):  # unsaid, torch warns
        return torch.load(io.BytesIO(raw), weights_only=False, pickle_module=_pickling(Unpickler=DataUnpickler))


def _pickling(**parts: type) -> ModuleType:
    """A module that torch takes in the place of pickle."""
    made = ModuleType("pickling")
    vars(made).update({**vars(pickle), "__name__": made.__name__, **parts})
    return made
