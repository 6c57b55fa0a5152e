"""Which kernels a plain run of the tests looks at less often than `make soak`: its time is limited."""

from kfuzz.claims.kernel import Kernel

ALWAYS = ("softmax", "row_max", "row_sum", "max_sum", "merge_all", "safe_merge", "sgemm", "transpose")
"""Ops of which every kernel is tried in every way each time."""


def is_seldom(kernel: Kernel) -> bool:
    return kernel.op not in ALWAYS
