"""The rivals: each accepts correct answers and rejects plainly wrong ones, and has the gap that it is known for."""

import numpy as np
import pytest
from our_kernels import every_kernel
from seldom import one_in

from benchmarks.detection.rival_trials import batch, questions, tally
from benchmarks.detection.rivals import RIVALS, Floats, Rival, are_asked, reference
from kfuzz.campaign.trials.trial import unfit
from kfuzz.cases.case import case_of
from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.measure.mutants.mutate import mutants

pytestmark = pytest.mark.slow

CORRECT = tuple(kernel for kernel in every_kernel() if kernel.broken is None and are_asked(kernel))
BY_NAME = {rival.name: rival for rival in RIVALS}
TAME = tuple(rival for rival in RIVALS if rival.name != "gpuemu, adversarial values")
SMALL = tuple(rival for rival in TAME if rival.name not in ("KernelBench", "llm.c", "flashinfer-bench"))


def answers(rival: Rival, name: str) -> list[tuple[str, Floats, np.ndarray]]:
    """(op, the exact answer in float32, the reference's answer) for every question and output."""
    kernel = load(KERNELS / f"{name}.cu")
    found = []
    for question in questions(rival, kernel):
        exact = reference(kernel, question.inputs, np.float64, question.tunes[0])
        found += [(kernel.op, exact[role].astype(np.float32), want) for role, want in question.want.items()]
    return found


@pytest.mark.parametrize("rival", TAME, ids=lambda rival: rival.name)
@pytest.mark.parametrize("name", ["softmax/online_block", "reduce/warp_max_down", "sgemm/naive", "transpose/naive"])
def test_a_rival_accepts_the_exact_answer(rival: Rival, name: str) -> None:
    assert all(rival.accepts(op, got, want) for op, got, want in answers(rival, name))


@pytest.mark.parametrize("rival", TAME, ids=lambda rival: rival.name)
def test_a_rival_rejects_an_answer_that_is_twice_as_large(rival: Rival) -> None:
    assert not all(rival.accepts(op, 2 * got, want) for op, got, want in answers(rival, "reduce/block_max"))


@pytest.mark.parametrize("kernel", one_in(3, CORRECT), ids=[kernel.name for kernel in CORRECT])
def test_rivals_ask_for_sizes_that_are_claimed(kernel: Kernel) -> None:
    for rival in SMALL:
        for question in questions(rival, kernel):
            assert unfit(kernel, case_of(kernel.op, question.inputs)) == "", rival.name


def test_zeros_pass_where_a_row_is_long_and_the_tolerance_absolute() -> None:
    rival = BY_NAME["KernelBench"]
    assert not all(rival.accepts(op, 0 * got, want) for op, got, want in answers(rival, "reduce/block_max"))
    assert all(rival.accepts(op, 0 * got, want) for op, got, want in answers(rival, "softmax/online_block"))


def test_nan_passes_where_failing_means_greater() -> None:
    rival = BY_NAME["llm.c"]
    assert all(rival.accepts(op, got * np.nan, want) for op, got, want in answers(rival, "softmax/online_block"))


def test_a_finite_answer_passes_where_the_reference_is_infinite() -> None:
    accepts = BY_NAME["flashinfer-bench"].accepts
    assert accepts("row_sum", np.float32([1.0]), np.array([np.inf]))
    assert not accepts("row_sum", np.float32([1.0]), np.array([2.0]))


def test_a_correct_nan_is_an_alarm_where_any_nan_fails() -> None:
    accepts = BY_NAME["gpuemu, adversarial values"].accepts
    assert not accepts("softmax", np.float32([np.nan]), np.array([np.nan]))
    assert accepts("softmax", np.float32([0.5]), np.array([0.5]))


@pytest.mark.slow
def test_a_rival_accepts_a_correct_kernel_and_rejects_a_broken_one_on_the_device(device: CpuDevice) -> None:
    rival = BY_NAME["gpuemu, boundary shapes"]
    for name, is_rejected in (("reduce/warp_max_down", False), ("broken/max_starts_at_flt_min", True)):
        kernel = load(KERNELS / f"{name}.cu")
        assert tally(rival, questions(rival, kernel), kernel, "", device).rejected == is_rejected


def test_a_rival_sees_unwritten_output_in_its_first_launch(device: CpuDevice) -> None:
    kernel = load(KERNELS / "broken" / "vec4_tail_not_stored.cu")
    asked = questions(BY_NAME["llm.c"], kernel)
    assert tally(BY_NAME["llm.c"], asked, kernel, "", device).trials == 1  # the first launch: 1e38 is seen


def test_a_rejection_that_the_correct_kernel_shares_finds_nothing() -> None:
    kernel = load(KERNELS / "reduce" / "warp_max_down.cu")
    by_name = {mutant.operator: mutant for mutant in mutants(kernel)}
    harmless, wrong = by_name["starts at double"], by_name["max as min"]
    found = {(one.rival, one.key): one for one in batch(kernel, (harmless, wrong))}
    adversarial, edges = "gpuemu, adversarial values", "gpuemu, boundary shapes"
    assert (found[adversarial, harmless.key].rejected, found[adversarial, harmless.key].apart) == (True, False)
    assert (found[adversarial, wrong.key].rejected, found[adversarial, wrong.key].apart) == (True, True)
    assert (found[edges, harmless.key].rejected, found[edges, harmless.key].apart) == (False, False)
    assert (found[edges, wrong.key].rejected, found[edges, wrong.key].apart) == (True, True)
