"""The addresses of tensors that a program has asked for, and the memory that they lie in.

A kernel may be handed such an address as a number, or find it in an array of numbers. Only an address that was asked
for is taken for one: any other number stays a number.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.multiprocessing.reductions import StorageWeakRef

from kfuzz.devices.python.launched.arguments import ArrayMemory
from kfuzz.devices.python.torch.elements import OF_TYPE
from kfuzz.oracle.numbers.elements import U32, Element


class AskedAddresses:
    """The memory whose address was asked for, as long as a tensor holds it.

    A graph of torch's may hold a tensor whose memory is lent again: the tensor that was noted last is the one meant.
    """

    def __init__(self) -> None:
        self._held: dict[ArrayMemory, tuple[StorageWeakRef, Element]] = {}

    def note(self, tensor: Any) -> int:  # noqa: ANN401  a tensor
        """Where a tensor begins, which is an address from now on."""
        with torch._C.DisableTorchFunction():
            storage = tensor.untyped_storage()
            if storage.nbytes():
                memory = ArrayMemory(storage.data_ptr(), storage.nbytes())
                self._held.pop(memory, None)  # the last one noted stays last
                self._held[memory] = StorageWeakRef(storage), OF_TYPE.get(tensor.dtype, U32)
            return int(tensor.data_ptr())

    def find(self, address: int) -> ArrayMemory | None:
        """The memory in which an address lies."""
        return next((one for one in self._alive() if one.holds(address)), None)

    def element_of(self, memory: ArrayMemory) -> Element:
        """The element type of the last tensor there whose address was asked for."""
        return self._held[memory][1]

    def find_in(self, words: NDArray[np.int64]) -> Iterator[tuple[int, ArrayMemory]]:
        """The places of words that are addresses, and the memory of each."""
        is_known = np.zeros(words.shape, bool)
        for one in self._alive():
            inside = (words >= one.start) & (words < one.start + one.nbytes) & ~is_known
            is_known |= inside
            for place in np.flatnonzero(inside):
                yield int(place), one

    def _alive(self) -> list[ArrayMemory]:
        """The last one noted comes first."""
        for one in [one for one, (held, _) in self._held.items() if held.expired()]:
            del self._held[one]
        return list(reversed(self._held))


ADDRESSES = AskedAddresses()
"""Those of this process."""
