"""Which kernels a plain run of the tests looks at less often than `make soak`: its time is limited."""

from kfuzz.claims.kernel import Kernel

ALWAYS = ("softmax", "row_max", "row_sum", "max_sum", "merge_all", "safe_merge", "sgemm", "transpose")
"""Ops of which every kernel is tried in every way each time."""
ONE_A_FAMILY = (
    "attention/flash_warp", "cross_entropy/warp", "gelu_tanh/half2", "gemm/wmma_f16", "layer_norm/welford_warp",
    "prefix_sum/block", "rms_norm/bf16_vec8",
)  # fmt: skip
"""Of the other ops, the kernels whose first trials are run each time."""


def is_seldom(kernel: Kernel) -> bool:
    return kernel.op not in ALWAYS
