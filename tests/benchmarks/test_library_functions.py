"""The list of library functions is valid, each has a second computation, and a wrong function is reported as broken."""

import math
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from benchmarks.libraries import functions, narrow
from benchmarks.libraries.exact_values import exact_value
from benchmarks.libraries.judging import grade, judge
from benchmarks.libraries.reproducing import printed, shortest_program
from kfuzz.claims.kernel import load
from kfuzz.devices.python.device import PythonDevice
from kfuzz.oracle.numbers.elements import F16, F32

EVERY = [one for name in functions.libraries() for one in functions.library(name).functions()]


@pytest.mark.soak
def test_each_file_of_narrow_functions_claims_what_kfuzz_can_judge(tmp_path: Path) -> None:
    first = {claim.path: claim for folder in narrow.PACKAGES for claim in narrow.claims_of(folder)}
    for claim in first.values():
        assert load(claim.write(tmp_path, "gpu")).arrays


@pytest.mark.soak
def test_each_listed_function_is_a_claim_and_has_a_second_computation(tmp_path: Path) -> None:
    for one in {(each.shape, each.name): each for each in EVERY}.values():
        kernel = load(one.write(tmp_path, "cpu"))
        shapes = {role: [2] * len(dims) for role, dims in kernel.roles.inputs.items()}
        inputs = {role: np.linspace(0.25, 0.5, math.prod(shape)).reshape(shape) for role, shape in shapes.items()}
        rank = len(kernel.roles.outputs[next(iter(kernel.roles.outputs))])
        assert exact_value(one.name, inputs, (0, 1)[:rank]) is not None, one.key


@pytest.mark.soak
def test_a_cast_is_kept_under_the_claim_that_is_true_of_it_and_broken_under_the_other(tmp_path: Path) -> None:
    pytest.importorskip("ml_dtypes")
    with closing(PythonDevice("cpu")) as device:
        claims = [claim for claim in narrow.claims_of("numpy") if "f32-e4m3" in claim.key]
        found = {claim.key: judge(claim, device, 1.0, tmp_path) for claim in claims}
    assert found["cast-f32-e4m3-nan"].status == "kept"
    assert found["cast-f32-e4m3-finite"].status == "broken"
    assert found["cast-f32-e4m3-finite"].words.startswith("special")


@pytest.mark.soak
def test_a_norm_of_squares_in_float16_is_lost_and_three_lines_show_it(tmp_path: Path) -> None:
    (norm,) = (one for one in EVERY if one.key == "row-l2_norm-f16" and one.library == "numpy")
    with closing(PythonDevice("cpu")) as device:
        found = judge(norm, device, 2.0, tmp_path)
    assert (found.status, found.grade) == ("broken", "lost")
    assert len(found.program) == 3
    assert "kfuzz" not in "".join(found.program)


def test_every_library_names_its_package_and_its_functions_have_shapes() -> None:
    for one in EVERY:
        assert one.package
        assert one.shape in functions.shapes()
        assert one.call


@pytest.mark.parametrize(
    ("got", "right", "expected"),
    [
        (1.0, 1.0009, "nearest"), (65504.0, 65521.0, "nearest"), (float("inf"), 65519.0, "nearest"), (1.25, 1.0, "off"),
        (0.0, 1e-40, "nearest"), (float("inf"), 256.0, "lost"), (float("nan"), 1.0, "lost"), (0.0, 1.0, "lost"),
        (-1.0, 1.0, "lost"),
    ],
)  # fmt: skip
def test_the_grade_says_how_wrong_a_float16_answer_is(got: float, right: float, expected: str) -> None:
    assert grade(got, right, F16) == expected


def test_a_zero_for_a_denormal_of_float32_is_flushed_and_not_lost() -> None:
    assert grade(0.0, 1e-40, F32) == "flushed"


def test_a_program_shows_the_accused_row_alone_or_the_layout_that_is_wrong() -> None:
    (total,) = (one for one in EVERY if one.key == "row-row_sum-f16" and one.library == "numpy")
    x = np.zeros((7, 33))
    x[2, [7, 8, 17]] = 100, -1.400390625, -100
    by_rows = shortest_program(total, {"x": x}, (2,), -1.400390625, "cpu")
    assert "[0]" in by_rows[-1]
    by_columns = shortest_program(total, {"x": x}, (2,), -1.375, "cpu")
    assert by_columns[1].endswith("np.float16).T")
    assert printed(by_columns) == "-1.375"
    assert shortest_program(total, {"x": x}, (2,), 5.0, "cpu") == ()


def test_a_file_shows_the_libraries_whose_arithmetic_it_has() -> None:
    for library, line in (("cupy", "import cupy as cp"), ("liger", "import triton"), ("fla", "import triton")):
        one = next(one for one in EVERY if one.library == library)
        assert line in one.text("any").splitlines()
