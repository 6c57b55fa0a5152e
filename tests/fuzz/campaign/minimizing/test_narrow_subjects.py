"""Cases of narrow arrays stay valid while they are made smaller: groups follow their row, and codes stay codes."""

import numpy as np
import pytest

from benchmarks.detection.hunt import hunt
from kfuzz.campaign.minimizing.minimize import Failure, find_defect, minimize, trial_of
from kfuzz.campaign.minimizing.passes import edge_sizes, fewer_larger_numbers, slices, values
from kfuzz.campaign.minimizing.subject import Subject, is_short, length_of, simpler_values, simplest_values, subject_of
from kfuzz.campaign.trials.trial import unfit
from kfuzz.cases.case import case_of
from kfuzz.cases.plans.choose import seeded_choices
from kfuzz.cases.plans.plan import plan_at
from kfuzz.cases.recipe import Band, Base, Recipe, bits_of
from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.oracle.numbers.elements import ELEMENTS

DEQUANTIZE = load(KERNELS / "group_dequantize" / "e4m3_block.cu")


def test_the_scales_of_a_smaller_matrix_are_fewer() -> None:
    attempt = plan_at(DEQUANTIZE, {"rows": 300, "cols": 260}, {"threads": 32}, seeded_choices(1))
    subject = subject_of(DEQUANTIZE, attempt.case, attempt.tune, False, 0)
    assert list(subject.axes) == ["rows", "cols"]
    smaller = subject.keep("rows", range(129)).keep("cols", [3, 200])
    assert unfit(DEQUANTIZE, smaller.case) == ""
    assert smaller.dimensions == {"rows": 129, "cols": 2, "rows / height": 2, "cols / width": 1}


def test_a_row_keeps_the_scale_of_its_own() -> None:
    kernel = load(KERNELS / "scaled_gemm" / "e4m3_row_column.cu")
    attempt = plan_at(kernel, {"m": 5, "n": 3, "k": 4}, {"threads": 32}, seeded_choices(1))
    subject = subject_of(kernel, attempt.case, attempt.tune, False, 0)
    smaller = subject.keep("m", [1, 4]).case.arrays
    assert np.array_equal(smaller["scale_a"], attempt.case.arrays["scale_a"][[1, 4]])
    assert np.array_equal(smaller["a"], attempt.case.arrays["a"][[1, 4]])


def test_a_group_keeps_the_scale_of_its_own() -> None:
    attempt = plan_at(DEQUANTIZE, {"rows": 3, "cols": 500}, {"threads": 32}, seeded_choices(1))
    subject = subject_of(DEQUANTIZE, attempt.case, attempt.tune, False, 0)
    scales = attempt.case.arrays["scale"]
    for kept, groups in ((range(128, 500), [1, 2, 3]), (range(490, 500), [3]), (range(500), [0, 1, 2, 3])):
        assert np.array_equal(subject.keep("cols", kept).case.arrays["scale"], scales[:, groups])


def long_sum(kernel: Kernel, k: int) -> Subject:
    """A product of a row and a column of ones."""
    ones = (Band(Base("constant", bits_of(1.0))),)
    narrow = {role: Recipe(*shape, ones, element="e4m3") for role, shape in (("a", (1, k)), ("b", (k, 1)))}
    scales = {role: np.ones((1, 1), np.float32) for role in ("scale_a", "scale_b")}
    case = case_of(kernel.op, {**narrow, **scales})
    return subject_of(kernel, case, {"threads": 32}, False, 0)


@pytest.mark.parametrize("k", [2688, 20000])
def test_a_long_array_is_cut_by_what_the_claim_allows(k: int) -> None:
    kernel = load(KERNELS / "broken" / "gemm_not_promoted.toml")
    subject = long_sum(kernel, k)
    assert all(is_short(each) == (k < 4096) for each in (subject.sources["a"], subject.sources["b"]))
    proposed = {each.axes["k"] for each in slices.candidates(subject)}
    assert {size % 32 for size in proposed} == {0}
    assert k - 32 in proposed


def test_a_long_sum_of_ones_becomes_a_shorter_one_of_the_largest_numbers(cpu: CpuDevice) -> None:
    kernel = load(KERNELS / "broken" / "gemm_not_promoted.toml")
    subject = long_sum(kernel, 20000)
    failure = Failure(subject, trial_of(subject, 1, cpu, 0, 5.0).errors[0], 1)
    candidate = next(fewer_larger_numbers.candidates(subject))
    assert candidate.axes["k"] == 9984
    assert find_defect(candidate, failure, cpu) is not None
    assert find_defect(subject.keep("k", range(9984)), failure, cpu) is None


def test_of_a_column_of_equal_values_few_are_tried_one_by_one() -> None:
    subject = long_sum(load(KERNELS / "broken" / "gemm_not_promoted.toml"), 3200)
    assert sum(1 for _ in values.candidates(subject)) < 100


def test_of_listed_sizes_each_part_is_tried() -> None:
    """The one value that counts may lie in the middle of a page."""
    kernel = load(KERNELS / "broken" / "paged_last_page_full.toml")
    sizes = {"batch": 1, "heads": 1, "d": 1, "slots": 1, "page": 16, "dv": 1, "used": 1}
    attempt = plan_at(kernel, sizes, {"threads": 32}, seeded_choices(1))
    subject = subject_of(kernel, attempt.case, attempt.tune, False, 0)
    v = np.arange(16, dtype=np.float32).reshape(subject.case.arrays["v"].shape)
    proposed = [each for each in edge_sizes.candidates(subject.put("v", v)) if each.axes["page"] == 4]
    assert {float(each.case.arrays["v"].flat[0]) for each in proposed} == {0, 2, 4, 6, 8, 10, 12}


@pytest.mark.parametrize("name", ["e4m3", "i8", "e2m1", "e8m0"])
def test_simpler_codes_are_codes_and_simpler(name: str) -> None:
    element = ELEMENTS[name]
    for code in range(1 << element.bits):
        simpler = simpler_values(code, element)
        assert all(0 <= one < 1 << element.bits for one in simpler)
        assert all(length_of(one, element) < length_of(code, element) for one in simpler)
    assert np.isfinite(element.numbers[list(simplest_values(element))]).all()


@pytest.mark.slow
def test_a_wrong_dequantizer_is_shown_by_few_codes(cpu: CpuDevice) -> None:
    kernel = load(KERNELS / "broken" / "dequantize_int4_unsigned.toml")
    quarry = hunt(kernel, "numeric", 0, cpu, 50)
    assert quarry is not None
    small = minimize(quarry.failure, cpu)
    case = small.failure.subject.case
    assert (case.axes["rows"], case.axes["cols"], case.elements) == (1, 32, 33)
    assert case.arrays["q"].dtype == ELEMENTS["i4"].dtype
    assert small.failing > 0
