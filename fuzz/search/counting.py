"""Counts the elements of a case. Knows kernels and sizes."""

from collections.abc import Mapping

from kfuzz.claims.kernel import Kernel
from kfuzz.search.turns import number_or_zero


def elements(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int]) -> int:
    """How many values a case of this size has, inputs and outputs of the op together, or more if indices lead to more.

    192 pages of 64 tokens are 3 million values of a cache, if it has only 7 pages.
    """
    total, gathered = kernel.elements, kernel.gathered

    def count_elements() -> int:
        if total.names | gathered.names <= axes.keys():  # nearly always: no other size is needed
            return max(total(axes), gathered(axes))
        sizes = kernel.sizes(axes, tune)
        return max(total(sizes), gathered(sizes))

    return number_or_zero(kernel, count_elements)
