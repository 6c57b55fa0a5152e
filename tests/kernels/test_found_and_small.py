"""Every kernel of kernels/broken: its defect is found within so many trials, and minimized to the size given here."""

from math import inf

import pytest
from our_kernels import every_kernel
from seldom import is_seldom

from benchmarks.detection.hunt import hunt
from kfuzz.campaign.minimizing.minimize import minimize
from kfuzz.claims.kernel import Kernel
from kfuzz.devices.cpu.device import CpuDevice

pytestmark = pytest.mark.slow

BROKEN = {kernel.name.partition("/")[2]: kernel for kernel in every_kernel() if kernel.broken}
TRIALS = 300
SLOW = {"grid_65535_rows", "index_overflow", "never_meets_its_end"}
"""Two need 65536 blocks or elements to fail, and of the third each failing run costs a time-out."""

ELEMENTS = 16
"""Elements of a minimized input where nothing is said of the kernel."""
LARGER = {
    "block_local_sum": 128,  # longer than a block of 32
    "grid_65535_rows": 65551,  # one row more than fit
    "index_overflow": 2 * 65537,  # the second row begins beyond 16 bits
    "row_cache_too_small": 1025,  # one more than fit
    "sgemm_last_tile_only": 3 * 66,  # two tiles along k
    "sgemm_stale_padding": 3 * 66,  # a tile of 32, and one that is not full
    "last_warp_no_syncwarp": 64,
    "int_overflow": 1 << 32,  # zeros, of which there have to be more than 2^31
    "int_overflow_transpose": 1 << 32,
    "missing_fence": 33,  # two blocks of 32
    "attention_no_rescale": 102,  # a key in the second tile of 32: k and v of two columns, q
    "cross_entropy_narrow_label": 2 * 259,  # more classes than a byte counts, and a label: only the second row is wrong
    "gemv_scaled_twice": 101,  # two rows of A and x of 33, y0: only the first is wrong
    "prefix_sum_no_last_barrier": 65,  # three warps' worth
    "top_k_one_a_lane": 33,  # two elements of one lane
    "prefix_sum_flag_before_sum": 33,  # two tiles of 32
    "quantize_clamp_after_power": 32,  # a group
    "quantize_eps_after_division": 64,  # a group
    "quantize_exponent_of_2": 32,  # a group
    "quantize_nibbles_swapped": 32,  # a group
    "quantize_one_scale_a_row": 257,  # two groups of 128, and one element
    "quantize_scale_rounded_late": 32,  # a group
    "quantize_scales_by_rows": 387,  # three rows of two groups: the wrong scale is the second of three
    "quantize_two_threads_a_byte": 32,  # a group
    "quantize_zero_by_zero": 64,  # two groups
    "dequantize_group_of_next": 131,  # two blocks
    "dequantize_int4_unsigned": 33,  # a group and its scale
    "dequantize_nibbles_swapped": 33,  # a group and its scale
    "dequantize_scales_not_in_tiles": 66,  # two rows of a group
    "dequantize_zero_of_byte": 528,  # a row has eight groups of 64
    "gemm_scale_of_block_before": 262,  # two blocks of 128 along k
    "gemm_scales_by_rows": 393,  # two blocks of 128 along k, and two rows
    "gemm_one_scale_for_two_blocks": 132,  # two blocks of 32
    "gemm_int8_sum_in_float": 4916,  # a sum beyond 2^24
    "weight_only_group_of_next": 772,  # two groups of 128 of x and of two columns of w: only the second is wrong
    "weight_only_no_zero": 257,  # a group of 128
    "depthwise_bias_of_first_channel": 26,  # two channels of three places, windows of nine: only the first is wrong
    "lstm_gates_ifog": 79,  # an input and a state of three, with two weights and two biases for each of four gates
    "rms_norm_dw_first_block_only": 24,  # two rows of x and g, a weight and a sum for each
    "fake_quantize_two_scales": 65,  # two or three elements of one lane
    "norm_quantize_by_way_of_bf16": 256,  # a group of 128, and its weights
    "norm_quantize_fourth_not_in_amax": 256,  # a group of 128, and its weights
    "norm_quantize_scale_not_as_stored": 64,  # a group of 32, and its weights
    "swiglu_quantize_amax_of_two_lanes": 64,  # a group of 32 of both
    "gemm_not_promoted": 5378,  # a sum of thousands of products along k
    "gemm_bytes_of_whole_tiles": 28,  # k and n of 4, the least
    "gemm_tile_by_wrong_parity": 28,  # k and n of 4, the least
    "gemm_wgmma_not_waited_for": 132,  # a second tile along k
    "kv_scale_of_tile_before": 133,  # a key in the second tile of 32: k, v and their scales
    "kv_tile_without_barrier": 322,  # a second tile of 32 keys, and d of 2: the answer shows the last of its keys
    "nvfp4_gemm_overall_twice": 35,  # a block of 16 of a and of b
    "nvfp4_gemm_scale_of_block_of_32": 137,  # k of 64, the least
    "paged_kv_table_not_used": 100,  # two pages of 16, and two columns of v: only one is wrong
    "paged_last_page_full": 17,  # a page of 4, and two columns of v: only one is wrong
    "norm_static_scale_multiplied": 17,  # a vector of 8, its weights and the scale
    "rms_norm_rounded_early": 32,  # two vectors of 8, and their weights: only the last of them is wrong
    "block_quantize_half_of_amax": 258,  # two rows of two blocks of 128: only the scale of the second is wrong
    "gru_reset_after_matmul": 33,  # two units: only one is wrong
    "instance_norm_moments": 35,  # seven groups of three: their answers look as if eps were outside of the root
}
"""The most that any of ten seeds leaves. A case keeps its bucket: a first element that alone is wrong takes two."""
ONE_ROW = {"leading_neg_inf", "missing_barrier", "max_starts_at_zero", "exp_clamped", "tail_dropped", "reads_next_row"}
OTHER_ROW = "another row's sum"
"""The end of a bucket that takes two rows at least, whatever the kernel."""


def check(kernel: Kernel, seed: int, cpu: CpuDevice) -> None:
    """Hunt, minimize, and compare with what is said above."""
    assert kernel.broken is not None
    quarry = hunt(kernel, kernel.broken.kind, seed, cpu, TRIALS, kernel.broken.severity)
    assert quarry is not None, f"not found in {TRIALS} trials from seed {seed}"
    small = minimize(quarry.failure, cpu, max_time=inf)
    name = kernel.name.partition("/")[2]
    case, tune = small.failure.subject.case, small.failure.subject.tune
    assert small.failure.defect.bucket == quarry.failure.defect.bucket
    assert case.elements <= LARGER.get(name, ELEMENTS), str(case)
    assert small.failing > 0
    if name in ONE_ROW and not small.failure.defect.bucket.endswith(OTHER_ROW):
        assert case.axes["rows"] == 1, str(case)
    if name == "leading_neg_inf":
        assert case.axes["cols"] <= 2 * tune["threads"] + 1
        assert len(str(case).partition("; x: ")[2].split(", ")) <= 3
    if name == "tail_dropped":
        assert case.axes["cols"] <= 7


SELDOM = {
    "int_overflow_transpose": "int_overflow", "sgemm_stale_padding": "sgemm_last_tile_only",
    "block_local_sum": "lane_counted_twice", "previous_rows_sum": "lane_counted_twice",
    "butterfly_full_width": "lane_counted_twice", "half_intermediate": "fast_exp_undeclared",
    "block_max_by_sum": "neg_flt_max_identity", "neg_flt_max_padding": "neg_flt_max_identity",
    "sgemm_row_stride": "sgemm_flat_thread_id", "vec4_reads_past_end": "reads_next_row",
}  # fmt: skip
"""Exhibits that `make soak` looks at, and another one whose finding has the same kind for a like reason."""
EACH_TIME = {"causal_attention_off_by_one", "gemm_half_accumulator", "layer_norm_eps_outside"}
"""Of the exhibits that are tried less often, those that each run of the tests looks at all the same."""


def is_soak(name: str, kernel: Kernel) -> bool:
    return name in SELDOM or (is_seldom(kernel) and name not in EACH_TIME)


FROM_ONE_SEED = [
    pytest.param(name, marks=pytest.mark.soak if is_soak(name, kernel) else ())
    for name, kernel in sorted(BROKEN.items())
    if name not in SLOW
]


@pytest.mark.parametrize("name", FROM_ONE_SEED)
def test_from_one_seed(name: str, cpu: CpuDevice) -> None:
    check(BROKEN[name], 0, cpu)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", sorted(BROKEN))
def test_from_ten_seeds(name: str, seed: int, cpu: CpuDevice) -> None:
    check(BROKEN[name], seed, cpu)


def test_a_right_kernel_has_no_quarry(cpu: CpuDevice) -> None:
    right = next(kernel for kernel in every_kernel() if kernel.name == "softmax/online_thread")
    for kind in ("numeric", "special", "race", "out-of-bounds"):
        assert hunt(right, kind, 0, cpu, 20) is None
