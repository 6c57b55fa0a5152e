"""Memory that kfuzz lends to callables, in the host or on a GPU: stretches of it, and the arrays in them.

Knows bytes, shapes and addresses; it knows no library, and not where memory is.
"""

from typing import Any, Protocol

from numpy.typing import NDArray

from kfuzz.devices.memory.layout import Bytes


class LentArray(Protocol):
    """One array in lent memory; a library makes its own array of it."""

    @property
    def address(self) -> int:
        """Where its first element lies."""

    @property
    def host(self) -> NDArray[Any] | None:
        """The memory itself, if it is the host's."""

    def write(self, content: NDArray[Any]) -> None:
        """Give it other elements."""

    def read(self) -> NDArray[Any]:
        """A copy of its elements."""


class Stretch(Protocol):
    """Memory in one piece."""

    def write(self, image: Bytes) -> None:
        """Fill it."""

    def read(self) -> Bytes:
        """A copy of it."""

    def view(self, array: NDArray[Any], start: int) -> LentArray:
        """The array that begins at this byte, with the type, shape and strides of an array in the host."""


class Memory(Protocol):
    """The memory that holds the lent arrays."""

    on_gpu: bool
    is_spent: bool
    """Whether a kernel has ended the context that later calls in this process need."""

    def room(self, nbytes: int, at_end: bool) -> Stretch:
        """This many bytes, a multiple of 256, at one of the two edges of the memory."""

    def beside(self, content: Bytes) -> Stretch:
        """Separate memory with this content."""

    def holds(self, address: int) -> bool:
        """Whether an address lies in what `room` gives."""

    def settle(self) -> None:
        """Wait for all work; raise Fault if a kernel has ended its context meanwhile."""
