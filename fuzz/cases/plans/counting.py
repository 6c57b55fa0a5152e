"""Counts the elements of a case, and the work of judging it. Knows kernels, sizes and formulas."""

from collections.abc import Mapping
from functools import cache

from kfuzz.cases.plans.loops import number_or_zero
from kfuzz.claims.kernel import Kernel
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.op.independence import independent_dimensions
from kfuzz.oracle.op.names import work_at
from kfuzz.oracle.op.shapes import lengths_of


def elements(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int]) -> int:
    """How many values a case of this size has, inputs and outputs of the op together, or more if indices lead to more.

    192 pages of 64 tokens are 3 million values of a cache, if it has only 7 pages.
    """
    total, gathered = kernel.elements, kernel.gathered

    def count_elements() -> int:
        is_enough = total.names <= axes.keys() and gathered.names <= axes.keys()  # nearly always: no other is needed
        sizes = axes if is_enough else kernel.sizes(axes, tune)
        return max(total(sizes), gathered(sizes)) if gathered.products else total(sizes)

    return number_or_zero(kernel, count_elements)


def work(kernel: Kernel, axes: Mapping[str, int], of_one: bool = False) -> int:
    """How much work it is to judge a case of this size, or one element of it; 0 for a formula that cannot say it.

    A convolution of 64 channels with windows of 3 x 3 adds 576 terms for each of its elements. A reference is not
    counted, which would have to run, nor a formula over other arrays than its own, which does not know its sizes.
    """
    op = find(kernel.op)
    read = {array.reads: array.shape for array in kernel.arrays.values() if array.reads}
    are_own = all(len(one.dimensions) == len(read.get(role, ())) for role, one in op.inputs.items())
    if op.gives_sets or op.views or op.is_whole or not are_own:
        return 0
    sizes = lengths_of(
        (dimension, size(axes))
        for role, one in op.inputs.items()
        for dimension, size in zip(one.dimensions, read[role], strict=True)
    )
    if of_one:
        apart = set[str].intersection(*map(set, independent_dimensions(op).values()))
        sizes |= dict.fromkeys(apart & sizes.keys(), 1)
    return _work_at(kernel.op, tuple(sizes.items()))


@cache
def _work_at(op: str, sizes: tuple[tuple[str, int], ...]) -> int:
    try:
        return work_at(find(op), dict(sizes))
    except (OracleError, LookupError, NameError, ValueError, ArithmeticError):  # it is asked for a dimension of outputs
        return 0
