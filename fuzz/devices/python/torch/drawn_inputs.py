"""What `get_inputs` of a reference's file makes under a seed: the same in each process, on a GPU or without one.

A process that judges and one that runs a submission make the inputs of a draw by themselves, since objects of any class
may be among them. Knows torch's random numbers; it does not know what reads the inputs.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from kfuzz.devices import inside, with_values
from kfuzz.devices.python.raising import does_ask_for_gpu, words_of
from kfuzz.devices.python.torch.own_seeds import mixed_seeds
from kfuzz.devices.python.torch.without_gpu import as_on_gpu

PER_SEED = 2
"""A seed stands for so many draws: in the first all numbers are those of get_inputs, in the other those of floats are
drawn by kfuzz.
"""


def inputs_of_draw(make: Callable[[], Any], path: Path, draw: Any, on_gpu: bool = False) -> Any:  # noqa: ANN401
    """What a file's get_inputs makes for a draw, on the host or on the GPU."""
    seed = int(draw) // PER_SEED % (1 << 32)
    if not on_gpu:
        try:
            return made_under(make, seed)
        except Exception as error:  # of their code, or of torch without a GPU
            if not does_ask_for_gpu(words_of(error)):
                raise
    with as_on_gpu(path):  # a GPU draws other numbers than the host
        made = made_under(make, seed)
    return moved_to_gpu(made) if on_gpu else made


def made_under(make: Callable[[], Any], seed: int) -> Any:  # noqa: ANN401  containers of tensors
    """What a function makes under a seed."""
    with _disable_current_modes(), torch.enable_grad(), as_in_every_process(), begun_generators(make, seed):
        set_seeds(seed)
        with mixed_seeds(seed):
            return as_arguments(make())


def set_seeds(seed: int) -> None:
    """Begin each sequence of random numbers that a file may draw from."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


@contextmanager
def begun_generators(make: Callable[[], Any], seed: int) -> Iterator[None]:
    """Begin the generators that the file of a function keeps in its names, or that the function has by default, and
    leave them as they were: from one of them a get_inputs would draw other numbers at each call.
    """
    of = getattr(make, "func", make)
    own = [*(getattr(of, "__defaults__", None) or ()), *(getattr(of, "__kwdefaults__", None) or {}).values()]
    every = {id(one): one for one in (*getattr(of, "__globals__", {}).values(), *own)}
    with ExitStack() as until:
        for one in every.values():
            if isinstance(one, torch.Generator):
                until.callback(one.set_state, one.get_state())
                one.manual_seed(seed)
            elif isinstance(one, np.random.Generator):
                numbers: Any = one.bit_generator
                until.callback(setattr, numbers, "state", numbers.state)
                numbers.state = type(numbers)(seed).state
            elif isinstance(one, np.random.RandomState):
                until.callback(one.set_state, one.get_state())
                one.seed(seed)
            elif isinstance(one, random.Random):
                until.callback(one.setstate, one.getstate())
                one.seed(seed)
        yield


@contextmanager
def as_in_every_process() -> Iterator[None]:
    """Let torch compute in one thread, since a sum of more may have another order, with the libraries that it has by
    default.
    """
    threads, has_mkldnn = torch.get_num_threads(), torch._C._get_mkldnn_enabled()
    torch.set_num_threads(1)
    torch._C._set_mkldnn_enabled(True)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch._C._set_mkldnn_enabled(has_mkldnn)


def as_arguments(made: Any) -> Any:  # noqa: ANN401  containers of tensors
    """What get_inputs makes as a container: of one tensor, and of a generator, too."""
    made = list(made) if isinstance(made, Iterator) else made
    return [made] if isinstance(made, torch.Tensor) else made


def moved_to_gpu(data: Any) -> Any:  # noqa: ANN401  containers of tensors
    """The same values with their tensors on the GPU; an object moves its own, if it can."""
    if isinstance(data, torch.Tensor):
        moved = data.detach().cuda()
        return moved.requires_grad_(data.requires_grad)
    if isinstance(data, torch.nn.Module):
        return data.cuda()
    held = inside(data)
    if held is None:
        return data
    return with_values(data, {name: moved_to_gpu(one) for name, one in held.items()})
