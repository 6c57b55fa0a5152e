"""Counts the elements of a case. Knows kernels and sizes."""

from collections.abc import Mapping

from kfuzz.claims.kernel import Kernel
from kfuzz.search.turns import number_or_zero


def elements(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int]) -> int:
    """How many values a case of this size has, inputs and outputs of the op together."""
    total = kernel.elements

    def count_elements() -> int:
        if total.names <= axes.keys():  # nearly always: no other size is needed
            return total(axes)
        return total(kernel.sizes(axes, tune))

    return number_or_zero(kernel, count_elements)
