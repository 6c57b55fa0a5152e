"""Cases of narrow arrays stay valid while they are made smaller: groups follow their row, and codes stay codes."""

import numpy as np
import pytest

from benchmarks.detection.hunt import hunt
from kfuzz.claims.kernel import KERNELS, load
from kfuzz.cpu.device import CpuDevice
from kfuzz.minimizing.minimize import minimize
from kfuzz.minimizing.subject import length_of, simpler_values, simplest_values, subject_of
from kfuzz.oracle.elements import ELEMENTS
from kfuzz.search.choose import seeded_choices
from kfuzz.search.plan import plan_at
from kfuzz.trials.trial import unfit

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
