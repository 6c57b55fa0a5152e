"""PyTorch, on a CPU or a GPU: tensors over kfuzz's memory; memory allocated through the dispatcher is poisoned.

kfuzz does not see ATen's own allocations within an operation.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import torch

from kfuzz.devices import Finding, UnsupportedError
from kfuzz.devices.python import gpu_memory, lending
from kfuzz.devices.python.lent_memory import LentArray
from kfuzz.devices.python.torch.elements import OF_RETURNED, OF_TYPE, TYPES, as_array, as_tensor
from kfuzz.devices.python.torch.modes import UncompiledMode
from kfuzz.oracle.numbers.elements import Element

NUMBERS = "biuf"
"""The kinds of numpy's arrays of numbers."""

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
WARM_UPS = 3
FREE_PIECES, MOST_PIECES = (1 << 18, 1 << 14, 1 << 10, 1 << 7), 4096
"""Words of the pieces that fill free memory; torch rounds sizes up to 512 bytes."""


class PoisonedTensors(UncompiledMode):
    """Gives torch.empty and its kin memory of kfuzz, full of poison, while a callable runs."""

    supports_higher_order_operators = True  # an operation on functions, such as torch.cond, runs as without the mode

    def __init__(self, word: int, allocate: lending.Allocate | None = None) -> None:
        super().__init__()
        self.word, self._allocate = word, allocate
        self.in_host: list[lending.PoisonedBlock] = []
        self.on_gpu: list[gpu_memory.GpuBlock] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        """Run an operation; replace memory without content by kfuzz's."""
        out = func(*args, **(kwargs or {}))
        if func not in EMPTY or out.device.type not in ("cpu", "cuda") or out.layout != torch.strided:
            return out
        nbytes = out.untyped_storage().nbytes()
        if not 0 < nbytes <= MOST_BYTES or out.dtype not in OF_TYPE:
            return out
        words = f"a tensor of shape {list(out.shape)}"
        whole = self._memory_of_gpu(nbytes, words) if out.device.type == "cuda" else self._host_memory(nbytes, words)
        return torch.as_strided(whole.view(out.dtype), out.shape, out.stride())

    def _host_memory(self, nbytes: int, words: str) -> Any:  # noqa: ANN401  a tensor of bytes
        self.in_host.append(lending.allocate_block(nbytes, self.word, words))
        return torch.from_numpy(self.in_host[-1].body)

    def _memory_of_gpu(self, nbytes: int, words: str) -> Any:  # noqa: ANN401  a tensor of bytes
        address = self._allocate(nbytes, f"{words} that the callable allocates") if self._allocate else None
        if address is not None:
            self.on_gpu.append(gpu_memory.poison_block(address - lending.BESIDE_BYTES, nbytes, self.word, words, None))
            view = gpu_memory.GpuView(address, (nbytes,), np.dtype(np.uint8), None)
            return torch.as_tensor(SignedView(view), device="cuda")
        held = torch.empty(gpu_memory.guarded_size(nbytes), dtype=torch.uint8, device="cuda")
        self.on_gpu.append(gpu_memory.poison_block(held.data_ptr(), nbytes, self.word, words, held))
        return held[lending.BESIDE_BYTES : lending.BESIDE_BYTES + nbytes]

    def findings(self) -> Iterator[Finding]:
        """The writes beside these tensors."""
        yield from lending.find_overwrites(self.in_host, self.word)
        yield from gpu_memory.find_overwrites(self.on_gpu, self.word)


class TorchTensors:
    """Tensors, on the CPU or the first GPU."""

    def __init__(self, device: str, watch: Callable[[int], AbstractContextManager[lending.Allocations]]) -> None:
        self._device, self._watch = device, watch
        torch.set_num_threads(1)  # as many processes are at work as there are processors

    def lend(self, memory: LentArray, element: Element) -> object:
        """A tensor over the memory."""
        if isinstance(memory, gpu_memory.GpuView):
            tensor = torch.as_tensor(SignedView(memory), device="cuda")
            return tensor.view(TYPES.get(element, tensor.dtype))
        assert memory.host is not None
        return as_tensor(memory.host, element)

    def answer(self, value: object) -> lending.ReturnedArray | None:
        """A tensor's elements, on any device, or those of numpy's array."""
        is_of_numpy = isinstance(value, np.ndarray) and value.dtype.kind in NUMBERS
        made: Any = torch.from_numpy(value) if is_of_numpy else value
        if not isinstance(made, torch.Tensor) or made.layout != torch.strided:
            return None
        if made.is_complex():  # an array has its parts along a last axis
            made = torch.view_as_real(made.resolve_conj())
        element = str(OF_RETURNED.get(made.dtype, str(made.dtype).removeprefix("torch.")))
        element = element if made.device.type == self._device else f"{element} on {made.device}"
        whole = torch.zeros_like(made, device="cpu") if made.is_meta else made.detach()  # meta: it has no elements
        plain = whole.to("cpu", copy=True).contiguous()
        is_exact = is_of_numpy or type(value) in (torch.Tensor, torch.nn.Parameter)
        kind = type(value).__name__
        return lending.ReturnedArray(kind, element, as_array(plain), is_exact, made.data_ptr())

    def watch(self, word: int) -> AbstractContextManager[lending.Allocations]:
        """Put poison into what is allocated."""
        return self._watch(word)

    def watch_in_field(self, word: int, allocate: lending.Allocate) -> AbstractContextManager[lending.Allocations]:
        """Put what torch.empty and its kin allocate into a field."""
        return poison_tensors(word, allocate)

    def capture(self, call: Callable[[], object]) -> lending.CapturedCall:
        """Call a few times in a stream of its own, as torch asks for, then once in a graph."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UPS):
                call()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            value = call()
        return lending.CapturedCall(value, graph.replay)

    def occupy_free(self, word: int) -> Callable[[], int]:
        """Give whole free segments back, and fill the free parts of the others, the larger pieces first."""
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        reserved, signed, held = torch.cuda.memory_reserved(), word - (word >> 31 << 32), []
        for words in FREE_PIECES:
            for _ in range(MOST_PIECES):
                piece = torch.empty(words, dtype=torch.int32, device="cuda")
                if torch.cuda.memory_reserved() > reserved:
                    break
                held.append(piece.fill_(signed))
            del piece
            torch.cuda.empty_cache()
        torch.cuda.synchronize()

        def count_changed() -> int:
            torch.cuda.synchronize()
            return sum(int((piece != signed).sum()) for piece in held)

        return count_changed

    def stream(self) -> AbstractContextManager[int] | None:
        """A stream that does not wait for others."""
        return use_own_stream() if self._device == "cuda" else None


@contextmanager
def poison_tensors(word: int, allocate: lending.Allocate | None = None) -> Iterator[PoisonedTensors]:
    """Put poison into what torch.empty allocates."""
    with PoisonedTensors(word, allocate) as made:
        yield made


class SignedView:
    """An array on the GPU as torch reads it: its only unsigned integers are bytes."""

    def __init__(self, memory: gpu_memory.GpuView) -> None:
        said = memory.__cuda_array_interface__
        self.__cuda_array_interface__ = {**said, "typestr": str(said["typestr"]).replace("u", "i")}


@contextmanager
def use_own_stream() -> Iterator[int]:
    """Make a new stream the current one."""
    made = torch.cuda.Stream()
    with torch.cuda.stream(made):
        yield made.cuda_stream


@functools.cache
def lender(on_gpu: bool) -> TorchTensors:
    """Tensors on the first GPU, or on the CPU."""
    if on_gpu:
        check_torch_gpu()
    return TorchTensors("cuda" if on_gpu else "cpu", poison_tensors)


def check_torch_gpu() -> None:
    """Raise UnsupportedError if torch cannot use a GPU."""
    if not torch.cuda.is_available():
        raise UnsupportedError(f"torch {torch.__version__} sees no GPU; use --device cpu")
