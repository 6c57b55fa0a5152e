"""The element types in torch, and tensors of them as arrays of numpy. A type that numpy lacks travels as its bits."""

from typing import Any

import torch
from numpy.typing import NDArray

from kfuzz.oracle.numbers.elements import ELEMENTS, U32, Element

TYPES: dict[Element, torch.dtype] = {
    one: getattr(torch, one.library) for one in ELEMENTS.values() if one.torch and hasattr(torch, one.library)
}
"""Those that this torch has: e8m0 is new in 2.7."""
OF_TYPE = {dtype: one for one, dtype in TYPES.items()}
OF_RETURNED = OF_TYPE | ({torch.uint32: U32} if hasattr(torch, "uint32") else {})
"""Those of what is returned: torch hardly computes with unsigned words, but a kernel may write them."""


def as_tensor(array: NDArray[Any], element: Element) -> Any:  # noqa: ANN401  torch has no types where they are checked
    """A tensor over an array's memory; unsigned words become signed, since torch hardly computes with unsigned ones."""
    if element.torch and element.is_native:
        return torch.from_numpy(array)
    signed = torch.from_numpy(array.view(f"<i{element.bytes}"))
    return signed.view(TYPES[element]) if element in TYPES else signed


def as_array(tensor: Any) -> NDArray[Any]:  # noqa: ANN401  a tensor on the host
    """A tensor's elements, as arrays of a job hold them."""
    element = OF_TYPE.get(tensor.dtype)
    array: NDArray[Any]
    if element is None or element.is_native:
        array = tensor.numpy()
    else:
        array = tensor.view(getattr(torch, f"int{element.bits}")).numpy().view(element.dtype)
    return array
