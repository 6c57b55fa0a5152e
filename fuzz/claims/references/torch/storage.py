"""torch's tensors and their storages, and what an operation of torch says of itself.

Knows torch alone.
"""

import importlib
import signal
import sys
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import _disable_current_modes

COMPILER = "torch._dynamo"
"""What a mode without numbers imports."""
BESIDE_COMPILER: set[str] = set()
"""The modules that came with it: no reference has imported these."""


def without_numbers() -> FakeTensorMode:
    """A mode in which torch makes no numbers. What it imports first, for eight seconds, counts as no time."""
    if COMPILER not in sys.modules:
        limit, before = signal.setitimer(signal.ITIMER_PROF, 0), set(sys.modules)
        importlib.import_module(COMPILER)
        BESIDE_COMPILER.update(sys.modules.keys() - before)
        signal.setitimer(signal.ITIMER_PROF, *limit)
    return FakeTensorMode(allow_non_fake_inputs=True)


@contextmanager
def unwatched() -> Any:  # noqa: ANN401  a context
    """Let torch work without a record."""
    with _disable_current_modes(), torch.no_grad():
        yield


@cache
def name_of(op: Any) -> str:  # noqa: ANN401  an operation of torch
    """The name of an operation, without its namespace and its overload."""
    return str(op._schema.name.partition("::")[2])


@cache
def does_draw(op: Any) -> bool:  # noqa: ANN401  an operation of torch
    """Whether an operation may draw random numbers."""
    return torch.Tag.nondeterministic_seeded in getattr(op, "tags", ())


def key_of(one: torch.Tensor) -> int:
    """A name for a tensor's storage."""
    return int(one.untyped_storage()._cdata)


def shape_of(one: torch.Tensor) -> tuple[str, ...]:
    return tuple(map(str, one.shape))


@cache
def is_view(func: Any) -> bool:  # noqa: ANN401  an operation of torch
    """Whether its results lie in its operands' memory, and nothing is written."""
    aliases = [one.alias_info for one in func._schema.returns]
    return bool(aliases) and all(one is not None and not one.is_write for one in aliases)


def tensors_in(given: Any) -> list[torch.Tensor]:  # noqa: ANN401  nested arguments
    return [one for one in flat(given) if isinstance(one, torch.Tensor)]


def flat(given: Any) -> list[Any]:  # noqa: ANN401  nested arguments
    """Everything in nested lists, tuples and dicts."""
    if not isinstance(given, (list, tuple, dict)):
        return [given]
    return [leaf for one in (given.values() if isinstance(given, dict) else given) for leaf in flat(one)]
