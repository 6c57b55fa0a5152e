"""Which kernels a plain run of the tests looks at less often than `make soak`: its time is limited."""

from collections.abc import Iterable, Sequence

import pytest

from kfuzz.claims.kernel import Kernel

ALWAYS = ("softmax", "row_max", "row_sum", "max_sum", "merge_all", "safe_merge", "sgemm", "transpose")
"""Ops of which every kernel is tried in every way each time."""
ONE_A_FAMILY = (
    "attention/flash_warp", "cross_entropy/warp", "gelu_tanh/half2", "gemm/wmma_f16", "group_quantize/e4m3_group_warp",
    "layer_norm/welford_warp", "prefix_sum/block", "rms_norm/bf16_vec8",
)  # fmt: skip
"""Of the other ops, the kernels whose first trials are run each time."""
FAST = (
    "softmax/block_in_registers", "softmax/fastest_bf16", "softmax/fastest_f16", "softmax/lanes_a_row",
    "softmax/packed_in_registers", "softmax/row_in_cluster", "softmax/row_in_shared",
    "softmax/two_launches_reversed",
    "reduce/block_max_vec4", "reduce/block_sum_first_warp", "reduce/block_sum_vec4", "transpose/tiled_vec4",
)  # fmt: skip
"""Methods of which softmax/fastest has every one, and the same for other elements and ops."""
COMPILED_BY_OTHERS = (
    "layer_norm/block_in_registers_bf16", "layer_norm/cluster_in_registers_bf16",
    "log_softmax/block_in_registers_bf16", "log_softmax/cluster_in_registers_bf16",
    "rms_norm/block_in_registers_bf16", "rms_norm/cluster_in_registers_bf16",
    "softmax/fastest_f16", "softmax_backward/block_in_registers_bf16", "softmax_backward/cluster_in_registers_bf16",
    "layer_norm/cluster_in_registers", "log_softmax/cluster_in_registers", "rms_norm/cluster_in_registers",
)  # fmt: skip
"""Files that take 33 s to compile, since their text is that of others with elements of 16 bits; the last line takes 11.
softmax/fastest_bf16 and softmax_backward/cluster_in_registers compile the same headers each time."""
LONG = ("broken/grid_65535_rows", "broken/row_cache_too_small", "broken/sgemm_stale_padding")
"""Exhibits whose trials take seconds; all but the first are looked for from a seed each time, too."""


def one_in(count: int, every: Iterable[object]) -> Sequence[object]:
    """Parameters of a test that is the same for each: one in so many is tried each time, the others by `make soak`."""
    return [pytest.param(one, marks=pytest.mark.soak if number % count else ()) for number, one in enumerate(every)]


def is_seldom(kernel: Kernel) -> bool:
    return kernel.op not in ALWAYS or kernel.name in FAST
