"""PyTorch on a CPU: tensors over our memory; what a callable allocates through the dispatcher is poison.

ATen's own allocations, those within an operation, are not seen. The only file that imports torch.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils._python_dispatch import TorchDispatchMode

from kfuzz.devices import DTYPES, Element, Finding
from kfuzz.devices.python.lending import Allocated, ReturnedArray, block_of, overwritten

TYPES: dict[Element, torch.dtype] = {
    "f32": torch.float32,
    "f64": torch.float64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i32": torch.int32,
    "u32": torch.int32,
}
NAMES = {dtype: name for name, dtype in TYPES.items() if name != "u32"}
ATEN = torch.ops.aten
EMPTY = frozenset(
    (
        ATEN.empty.memory_format,
        ATEN.empty_strided.default,
        ATEN.empty_like.default,
        ATEN.new_empty.default,
        ATEN.new_empty_strided.default,
    )
)
MOST_BYTES = 64 << 20


class PoisonedTensors(TorchDispatchMode):  # type: ignore[misc]  # torch is not there where types are checked
    """What torch.empty and its kin have given while a callable ran: memory of ours, full of poison."""

    def __init__(self, word: int) -> None:
        super().__init__()
        self.word = word
        self.blocks: list[Allocated] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        """Run an operation; of one that gives memory without content, give ours."""
        out = func(*args, **(kwargs or {}))
        if func not in EMPTY or out.device.type != "cpu" or out.layout != torch.strided:
            return out
        nbytes = out.untyped_storage().nbytes()
        if not 0 < nbytes <= MOST_BYTES or out.dtype not in NAMES:
            return out
        block = block_of(nbytes, self.word, f"a tensor of shape {list(out.shape)}")
        self.blocks.append(block)
        whole = torch.from_numpy(block.body).view(out.dtype)
        return torch.as_strided(whole, out.shape, out.stride())

    def findings(self) -> Iterator[Finding]:
        """What was written beside it."""
        yield from overwritten(self.blocks, self.word)


class TorchTensors:
    """Tensors on the CPU."""

    def __init__(self) -> None:
        torch.set_num_threads(1)  # as many processes are at work as there are processors

    def lend(self, memory: NDArray[np.generic], element: Element) -> object:
        """A tensor over the memory."""
        signed = memory.view(np.int16) if element == "bf16" else memory.view(np.int32) if element == "u32" else memory
        return torch.from_numpy(signed).view(TYPES[element])

    def answer(self, value: object) -> ReturnedArray | None:
        """A tensor's elements, wherever it lies."""
        if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
            return None
        element = NAMES.get(value.dtype, str(value.dtype).removeprefix("torch."))
        element = element if value.device.type == "cpu" else f"{element} on {value.device}"
        plain = value.detach().to("cpu", copy=True).contiguous()
        bits = plain.view(torch.int16) if plain.dtype == torch.bfloat16 else plain
        held = bits.numpy().view(DTYPES["bf16"]) if element == "bf16" else bits.numpy()
        is_exact = type(value) in (torch.Tensor, torch.nn.Parameter)
        return ReturnedArray(type(value).__name__, element, held, is_exact, value.data_ptr())

    @contextmanager
    def watched(self, word: int) -> Iterator[PoisonedTensors]:
        """Poison in what torch.empty gives."""
        with PoisonedTensors(word) as made:
            yield made

    def settle(self) -> None:
        """On a CPU torch computes at once."""


LENDER = TorchTensors()
