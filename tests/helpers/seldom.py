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
    "log_softmax/block_in_registers", "rms_norm/block_in_registers", "rms_norm/row_in_cluster",
    "softmax/block_in_registers", "softmax/lanes_a_row", "softmax/packed_in_registers", "softmax/row_in_cluster",
    "softmax/row_in_shared",
)  # fmt: skip
"""Files that take 33 s to compile, since their text is that of others with elements of 16 bits; the next line takes 11.
The methods of the last ones are in softmax/fastest, layer_norm/block_in_registers and layer_norm/row_in_cluster.
softmax/fastest_bf16 and softmax_backward/cluster_in_registers compile the same headers each time."""
LONG = ("broken/grid_65535_rows", "broken/row_cache_too_small", "broken/sgemm_stale_padding")
"""Exhibits whose trials take seconds; all but the first are looked for from a seed each time, too."""
ONE_CASE_IN = {
    "cuda_on_cpu/test_language.py::test_a_mistake_in_the_file_is_a_claim_error": 2,
    "cuda_on_cpu/test_language.py::test_groups_of_every_kind": 3,
    "cuda_on_cpu/test_language.py::test_lanes_converge_with_those_of_their_branch_alone": 3,
    "cuda_on_cpu/test_language.py::test_what_kernels_take_for_granted_is_there": 3,
    "cuda_on_cpu/test_sixteen_bits.py::test_an_operation_rounds_once": 3,
    "cuda_on_cpu/test_toolkit.py::test_tiles_larger_than_a_warp_meet_in_the_memory_of_their_block": 3,
    "cuda_on_cpu/test_units.py::test_a_driver_finds_a_fault_in_its_unit": 3,
    "cuda_on_cpu/test_units.py::test_a_unit_does_what_its_driver_expects": 3,
    "fuzz/cases/plans/test_edges_of_a_text.py::test_an_edge_in_the_text_is_met_within_a_hundred_trials": 2,
    "fuzz/cases/plans/test_strategies.py::test_every_attempt_is_claimed": 3,
    "fuzz/cases/plans/test_strategies.py::test_no_family_makes_nan_or_plus_infinity": 3,
    "fuzz/cases/plans/test_strategies.py::test_the_budget_is_kept": 3,
    "fuzz/cases/plans/test_vast.py::test_no_right_kernel_is_accused": 3,
    "fuzz/devices/cpu/programs/test_bulk_copies.py::test_each_bug_has_a_finding_of_its_kind_on_its_line": 2,
    "fuzz/devices/cpu/programs/test_libraries.py::test_a_bug_is_found_through_a_call_of_a_library": 3,
    "fuzz/devices/cpu/programs/test_repetitions.py::test_a_launch_that_changes_what_is_read_is_run_each_time": 3,
    "fuzz/devices/cpu/programs/test_tensor_memory.py::test_each_bug_has_a_finding_of_its_kind_on_its_line": 2,
    "fuzz/devices/cpu/test_findings.py::test_correct_kernels_have_no_findings": 2,
    "fuzz/devices/cpu/test_host.py::test_a_right_host_function_runs_without_a_finding": 3,
    "fuzz/devices/cpu/test_order.py::test_a_race_says_which_order_is_missing": 2,
    "fuzz/devices/cpu/test_pairs.py::test_a_program_with_a_bug_has_an_error_and_one_without_has_nothing": 2,
    "fuzz/devices/gpu/test_vast_on_gpu.py::test_every_kernel_is_asked_for_rows_of_which_inputs_are_known": 4,
    "fuzz/devices/python/test_callables.py::test_a_callable_of_another_library_is_judged_as_numpys_are": 3,
    "fuzz/devices/python/test_callables.py::test_a_right_callable_in_an_unusual_form_is_kept": 2,
    "fuzz/devices/python/test_callables.py::test_a_right_callable_is_not_accused": 2,
    "fuzz/devices/python/test_callables.py::test_a_wrong_callable_is_found_as_what_it_is": 2,
    "fuzz/devices/test_arguments.py::test_a_scalar_arrives_as_its_parameter_takes_it": 3,
    "fuzz/devices/test_arguments.py::test_one_line_of_cxx_makes_the_arguments": 3,
    "fuzz/ui/commands/test_cli_list.py::test_show_knows_every_kernel": 4,
    "kernels/test_found_and_small.py::test_from_one_seed": 2,
    "kernels/test_kernels_numeric.py::test_a_correct_kernel_is_never_accused": 2,
    "kernels/test_right_kernels.py::test_a_right_kernel_is_not_accused": 2,
    "kernels/test_right_kernels.py::test_a_step_from_it_is_a_wrong_one": 2,
    "oracle/test_enclosure.py::test_float64_bounds_hold_those_of_the_balls_and_are_hardly_wider": 2,
    "oracle/test_formula.py::test_mpmath_lies_in_every_enclosure": 3,
    "oracle/test_grid.py::test_every_tie_and_both_its_neighbours_round_as_fractions_say": 2,
    "oracle/test_quantizers.py::test_no_code_and_no_scale_of_a_right_quantizer_is_outside": 3,
    "oracle/test_rearranged.py::test_a_right_algorithm_that_no_form_names_is_not_broken": 2,
    "oracle/test_shared_exponentials.py::test_right_means_are_not_broken_whatever_the_size_of_the_scores": 2,
    "oracle/test_slices.py::test_no_row_makes_a_rule_looser_for_another": 2,
}
"""Tests that say the same of many cases: of those that are not soak anyway, one in so many is tried each time. Together
the others take as long as a tenth of all tests."""


def one_in(count: int, every: Iterable[object]) -> Sequence[object]:
    """Parameters of a test that is the same for each: one in so many is tried each time, the others by `make soak`."""
    return [pytest.param(one, marks=pytest.mark.soak if number % count else ()) for number, one in enumerate(every)]


def is_seldom(kernel: Kernel) -> bool:
    return kernel.op not in ALWAYS or kernel.name in FAST
