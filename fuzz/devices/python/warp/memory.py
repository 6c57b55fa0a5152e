"""The memory of Warp's arrays: what Warp allocates on the GPU that is not there, and what kfuzz lends it."""

import weakref
from typing import Any

import numpy as np

from kfuzz.devices.python.launched.arguments import ArrayMemory
from kfuzz.devices.python.launched.packed import KnownMemory
from kfuzz.devices.python.library import import_late
from kfuzz.oracle.numbers.elements import U32, Element

torch = import_late("torch")


class WarpMemory:
    """What is on the GPU to Warp, as long as it is allocated or an array of Warp holds it."""

    def __init__(self) -> None:
        self.tensors: KnownMemory | None = None
        """The memory of torch's tensors, in a process that lends some."""
        self._allocated: dict[int, tuple[ArrayMemory, Any]] = {}
        self._lent: dict[ArrayMemory, weakref.ref[object]] = {}
        self._elements: dict[ArrayMemory, Element] = {}

    def allocate(self, nbytes: int) -> int:
        """New memory, whose content is kfuzz's poison in a call that is watched."""
        if self.tensors is not None:
            held = torch.empty(max(nbytes, 1), dtype=torch.uint8)
            with torch._C.DisableTorchFunction():
                address = int(held.data_ptr())
        else:
            held = np.empty(max(nbytes, 1), np.uint8)
            address = int(held.ctypes.data)
        self._allocated[address] = ArrayMemory(address, nbytes), held
        return address

    def free(self, address: int) -> None:
        """Let go of it."""
        memory, _ = self._allocated.pop(address, (None, None))
        self._elements.pop(memory, None)  # type: ignore[arg-type]  # of nothing there is nothing

    def lend(self, memory: ArrayMemory, owner: object) -> None:
        """Take memory of kfuzz for the GPU's as long as this array of Warp lives."""
        self._lent[memory] = weakref.ref(owner)

    def name_element(self, address: int, element: Element) -> None:
        """Take what lies there for elements of this type."""
        if (memory := self._own(address)) is not None:
            self._elements[memory] = element

    def find(self, address: int) -> ArrayMemory | None:
        """The memory in which an address lies."""
        return self._own(address) or (self.tensors.find(address) if self.tensors is not None else None)

    def element_of(self, memory: ArrayMemory) -> Element:
        """The type of its elements, as the last launch has named it; of a tensor, that of the tensor."""
        if self.tensors is None or self._own(memory.start) == memory:
            return self._elements.get(memory, U32)
        return self.tensors.element_of(memory)

    def _own(self, address: int) -> ArrayMemory | None:
        for memory in [one for one, owner in self._lent.items() if owner() is None]:
            del self._lent[memory]
            self._elements.pop(memory, None)
        every = (*(memory for memory, _ in self._allocated.values()), *self._lent)
        return next((one for one in every if one.holds(address)), None)


MEMORY = WarpMemory()
"""That of this process."""
