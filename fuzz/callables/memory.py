"""Memory that is lent to callables, in the host or on a card: stretches of it, and the arrays in them.

Knows bytes, shapes and addresses; it knows no library, and nothing of where memory lies.
"""

from typing import Any, Protocol

from numpy.typing import NDArray

from kfuzz.devices.layout import Bytes


class LentArray(Protocol):
    """One array in lent memory, of which a library makes one of its own."""

    @property
    def address(self) -> int:
        """Where its first element lies."""

    @property
    def host(self) -> NDArray[Any] | None:
        """The memory itself, where it is the host's."""

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
        """The array that begins at a byte of it, with type, shape and strides of one in the host."""


class Memory(Protocol):
    """Where what is lent lies."""

    is_card: bool
    is_spent: bool
    """Whether a kernel has ended what all later calls in this process would need."""

    def room(self, nbytes: int, at_end: bool) -> Stretch:
        """So many bytes, a multiple of 256, at one of the two edges of all there is."""

    def beside(self, content: Bytes) -> Stretch:
        """Memory of its own with this content."""

    def holds(self, address: int) -> bool:
        """Whether an address lies in what `room` gives."""

    def settle(self) -> None:
        """Wait for all that was begun; Fault where a kernel has ended its context meanwhile."""
