"""Sizes that belong together: kfuzz draws, tries and keeps only what `where`, powers of two and lists admit."""

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from kfuzz.campaign.minimizing.minimize import Failure, minimize
from kfuzz.campaign.minimizing.subject import subject_of
from kfuzz.campaign.trials.replay import replay
from kfuzz.campaign.trials.trial import run_trial, unfit
from kfuzz.cases.case import Record, case_of
from kfuzz.cases.plans.plan import plan
from kfuzz.claims.corners import corners
from kfuzz.claims.kernel import Kernel, read
from kfuzz.claims.language.kernel_file import parse
from kfuzz.devices import ClaimError, Device, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu import device as gpu
from kfuzz.testing import attempts

CLAIM = """\
// /// kernel
// op     = "{op}"
// axes   = {axes}
// tune   = {tune}
// where  = {where}
// {more}
// arrays = {arrays}
//
// [[launch]]
// entry = "{entry}"
// grid  = "{grid}"
// block = "{block}"
// args  = {args}
// ///
{source}
"""

ROW_SUM = """
template <int threads>
__global__ void tree(float *y, const float *x, int cols) {
  __shared__ float part[threads];
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += threads) sum += x[blockIdx.x * cols + i];
  part[threadIdx.x] = sum;
  for (int half = threads / 2; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
"""


def claimed(where: str, **changes: str) -> Kernel:
    parts = {
        "op": "row_sum",
        "axes": '{ rows = "1..65535", cols = "1..65536" }',
        "tune": "{ threads = [32, 64, 128, 256, 512, 1024] }",
        "where": where,
        "more": "",
        "arrays": '{ x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }',
        "entry": "tree<{threads}>",
        "grid": "rows",
        "block": "threads",
        "args": '["y", "x", "cols"]',
        "source": ROW_SUM,
    } | changes
    text = CLAIM
    for name, value in parts.items():
        text = text.replace("{" + name + "}", value) if name != "entry" else text.replace("{entry}", value)
    return read(parse(Path("mine.cu"), text))


@pytest.fixture(scope="module", params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    made: Device = CpuDevice() if request.param == "cpu" else gpu.GpuDevice()
    yield made
    made.close()


WHERES = {
    "a size is the block": '["cols == threads"]',
    "a power of two": '["is_pow2(cols)"]',
    "no thread is idle": '["threads <= cols"]',
    "whole rounds": '["cols % threads == 0"]',
    "whole vectors for each thread": '["cols % (4 * threads) == 0", "cols <= 32 * threads"]',
    "a power of two, and no thread is idle": '["is_pow2(cols)", "threads <= cols", "cols <= 8 * threads"]',
    "so many elements at most": '["rows * cols <= 4096"]',
    "a square": '["rows == cols"]',
    "one or the other": '["cols < 32 or cols % 1024 == 0", "not rows == 7"]',
    "nearly nothing": '["rows == 3 * cols", "cols == threads + 1", "threads > 100"]',
}


def draw_sizes(kernel: Kernel, count: int = 150) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    for seed in range(count):
        choose = random.Random(seed).randint  # noqa: S311  sizes, nothing secret
        attempt = plan(kernel, choose)
        yield kernel.axes_of(attempt.case.arrays), dict(attempt.tune)


PART_OF_ANOTHER = {"a power of two", "no thread is idle", "whole rounds"}
"""Conditions that others have as a part: those are drawn for each time."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "where",
    [
        pytest.param(where, id=name, marks=pytest.mark.soak if name in PART_OF_ANOTHER else ())
        for name, where in WHERES.items()
    ],
)
def test_every_size_that_is_drawn_is_allowed_and_there_are_many(where: str) -> None:
    kernel = claimed(where)
    is_dear = where == WHERES["nearly nothing"]
    every = list(draw_sizes(kernel, 50 if is_dear else 150))
    assert not [sizes for sizes in every if kernel.where.broken({**sizes[0], **sizes[1]})]
    different = {(*axes.values(), *tune.values()) for axes, tune in every}
    assert len(different) >= (4 if is_dear else 30)


def test_every_launch_is_tried_under_a_condition() -> None:
    assert {tune["threads"] for _, tune in draw_sizes(claimed(WHERES["a size is the block"]))} == {
        32,
        64,
        128,
        256,
        512,
        1024,
    }


@pytest.mark.parametrize("where", WHERES.values(), ids=WHERES.keys())
@settings(max_examples=25, deadline=None)
@given(data=attempts(claimed("[]")))
def test_what_a_claim_does_not_allow_is_no_case_of_it(where: str, data: object) -> None:
    kernel = claimed(where)
    axes = kernel.axes_of(data.case.arrays)  # type: ignore[attr-defined]  # an Attempt
    allowed = any(not kernel.where.broken({**axes, "threads": threads}) for threads in kernel.tune["threads"])
    assert (unfit(kernel, data.case) == "") == allowed  # type: ignore[attr-defined]  # as above


@pytest.mark.parametrize("where", WHERES.values(), ids=WHERES.keys())
def test_corners_are_allowed_sizes(where: str) -> None:
    kernel = claimed(where)
    every = list(corners(kernel.where, kernel.launches, kernel.let))
    assert every
    assert not [sizes for sizes in every if kernel.where.broken({**sizes[0], **sizes[1]})]


def test_corners_are_checked_where_the_condition_allows_them_alone() -> None:
    assert claimed('["cols == threads"]', block="cols")  # without the condition a block of 65536 threads
    with pytest.raises(ClaimError, match=r"block = \"cols\": 65536 threads|x is 65536 at"):
        claimed("[]", block="cols")


@pytest.mark.slow
def test_an_expression_needs_a_value_only_where_the_condition_holds() -> None:
    rounds = {"more": 'let = { rounds = "64 / (cols / threads)" }', "grid": "rows + 0 * rounds"}
    assert list(draw_sizes(claimed('["threads <= cols", "cols <= 64 * threads"]', **rounds)))
    with pytest.raises(ClaimError, match="divides by zero"):
        claimed("[]", **rounds)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ('["cols < rows", "rows < cols"]', "no sizes of the axes and tune are found at which all of these hold"),
        ('["cols"]', "'cols' is a number, where a condition such as n > 0 is expected"),
        ('["is_pow2(cols) + 1"]', "'is_pow2\\(cols\\) \\+ 1' is a number, where a condition"),
        ('["colz == 4"]', "unknown name 'colz', did you mean 'cols'?"),
        ('"cols == threads"', "a list of conditions in quotes is expected"),
    ],
)
def test_a_condition_that_cannot_be_is_refused(where: str, said: str) -> None:
    with pytest.raises(ClaimError, match=said):
        claimed(where)


AXES = {
    "{ min = 1, max = 1024, pow2 = true }": {1 << shift for shift in range(11)},
    "[7, 128, 256]": {7, 128, 256},
}


@pytest.mark.parametrize("axis", AXES)
def test_an_axis_may_be_a_list_or_the_powers_of_two(axis: str) -> None:
    kernel = claimed("[]", axes=f'{{ rows = "1..100", cols = {axis} }}')
    assert {axes["cols"] for axes, _ in draw_sizes(kernel)} == AXES[axis]
    assert kernel.admits({"rows": 3, "cols": 128})
    assert not kernel.admits({"rows": 3, "cols": 129})


@pytest.mark.parametrize(
    ("axis", "said"),
    [
        ("{ min = 3, max = 8, pow2 = true }", "3 is no power of two"),
        ("{ min = 8, max = 4, pow2 = true }", "the least size 8 is above the greatest, 4"),
        ("{ min = 1, max = 8, pow2 = 1 }", "an axis is"),
        ("[]", "an axis is"),
        ("[4, 4]", "each once"),
        ('["4"]', "an axis is"),
    ],
)
def test_an_axis_that_cannot_be_is_refused(axis: str, said: str) -> None:
    with pytest.raises(ClaimError, match=said):
        claimed("[]", axes=f'{{ rows = "1..100", cols = {axis} }}')


LISTED = {
    "axes": '{ rows = "1..100", cols = [32, 64, 256] }',
    "tune": "{}",
    "entry": "tree<{cols}>",
    "block": "cols",
}


def test_a_template_may_be_of_a_listed_axis(device: Device) -> None:
    kernel = claimed("[]", **LISTED)
    assert kernel.entries == ("tree<32>", "tree<64>", "tree<256>")
    case = case_of("row_sum", {"x": np.ones((3, 64), np.float32)})
    assert not run_trial(kernel, case, {}, device, Probe()).errors


def test_only_the_instances_that_conditions_allow_are_compiled() -> None:
    both = {
        **LISTED,
        "tune": "{ threads = [32, 64, 256] }",
        "block": "threads",
        "entry": "tree<({cols} + {threads}) / 2>",
    }
    assert len(claimed("[]", **both).entries) == 9
    assert len(claimed('["cols == threads"]', **both).entries) == 3


def test_a_hole_of_an_axis_of_a_range_is_refused() -> None:
    with pytest.raises(
        ClaimError,
        match=r"'\{rows\}' has more than 16 values, and each is compiled; .*listed sizes .this claim has cols.",
    ):
        claimed("[]", **(LISTED | {"entry": "tree<{rows}>"}))


DROPPED = ROW_SUM.replace("half; half /= 2", "half > 1; half /= 2")
"""The last halving is left out: wrong wherever there is a second thread."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "smallest"),
    [
        pytest.param('["cols == threads"]', {"rows": 1, "cols": 32, "threads": 32}, marks=pytest.mark.soak),
        ('["is_pow2(cols)", "threads <= cols"]', {"rows": 1, "cols": 32, "threads": 32}),
        ('["rows == cols", "cols % 8 == 0"]', {"rows": 8, "cols": 8, "threads": 32}),
    ],
)
def test_a_case_is_made_smaller_within_the_condition(where: str, smallest: dict[str, int]) -> None:
    kernel, device = claimed(where, source=DROPPED), CpuDevice()
    sizes = kernel.where.near({"rows": 256, "cols": 256, "threads": 256}, ("rows", "cols", "threads"))
    assert sizes is not None
    x = np.tile(np.float32(np.arange(sizes["cols"]) % 7 + 1), (sizes["rows"], 1))  # no part adds up to what is left out
    case, tune = case_of("row_sum", {"x": x}), {"threads": sizes["threads"]}
    with device:
        trial = run_trial(kernel, case, tune, device, Probe())
        failure = Failure(subject_of(kernel, case, tune, False, 0), trial.errors[0], 3)
        found = minimize(failure, device).failure.subject
    assert {**kernel.axes_of(found.case.arrays), **found.tune} == smallest


def test_a_case_is_replayed_with_launches_that_it_may_have(cpu: CpuDevice) -> None:
    kernel = claimed('["cols == threads"]')
    one = replay(Record(case_of("row_sum", {"x": np.ones((2, 256), np.float32)})), kernel, cpu)
    other = replay(Record(case_of("row_sum", {"x": np.ones((2, 257), np.float32)})), kernel, cpu)
    assert (one.status, one.broken_runs) == ("kept", 0)
    assert (other.status, other.reason) == ("not claimed", "rows=2 cols=257; it claims cols == threads")


def test_a_launch_that_the_condition_excludes_is_not_bound() -> None:
    with pytest.raises(ValueError, match="cols=2 threads=32: mine claims cols == threads"):
        claimed('["cols == threads"]').bind({"x": np.ones((1, 2), np.float32)}, {"threads": 32})


PARTS = {
    "axes": '{ n = "1..100000" }',
    "tune": "{ threads = [32, 256] }",
    "more": 'let = { blocks = "min(ceil_div(n, threads), 1024)" }',
    "arrays": '{ x = "f32[n] -> x", y = "f32[1 of blocks + 1] <- y" }',
    "grid": "1",
    "entry": "in_parts",
    "args": '["y", "x", "blocks", "n"]',
    "source": """
__global__ void in_parts(float *y, const float *x, int blocks, int n) {
  for (int b = threadIdx.x; b < blocks; b += blockDim.x) {
    float sum = 0;
    for (int i = b; i < n; i += blocks) sum += x[i];
    y[b + 1] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int b = 0; b < blocks; b++) sum += y[b + 1];
    y[0] = sum;
  }
}
""",
}


@pytest.mark.parametrize("check", [False, True])
def test_element_0_of_a_longer_array_may_be_the_output(device: Device, check: bool) -> None:
    kernel = claimed("[]", **PARTS)
    case = case_of("row_sum", {"x": np.ones(1000, np.float32)})
    trial = run_trial(kernel, case, {"threads": 32}, device, Probe(check=check))
    assert (trial.errors, trial.elements) == ((), 1)


def test_the_rest_of_a_longer_array_need_not_be_written_but_element_0_must(device: Device) -> None:
    case = case_of("row_sum", {"x": np.ones(1000, np.float32)})
    rest = PARTS | {"arrays": PARTS["arrays"].replace("blocks + 1", "4 * blocks")}
    assert not run_trial(claimed("[]", **rest), case, {"threads": 32}, device, Probe()).errors
    nothing = PARTS | {"source": PARTS["source"].replace("y[0] = sum;", "")}
    kinds = [
        defect.kind for defect in run_trial(claimed("[]", **nothing), case, {"threads": 32}, device, Probe()).errors
    ]
    assert kinds == ["unwritten"]


def test_a_part_is_an_outputs_and_no_larger_than_the_whole() -> None:
    with pytest.raises(ClaimError, match="'of' is for an output that is the beginning of a longer array"):
        claimed("[]", **(PARTS | {"arrays": '{ x = "f32[n of n + 1] -> x", y = "f32[1] <- y" }'}))
    with pytest.raises(ClaimError, match=r"1 of 0 at n=1 .*; a part is no larger than the whole"):
        claimed("[]", **(PARTS | {"arrays": PARTS["arrays"].replace("blocks + 1", "blocks - 1")}))
    assert str(claimed("[]", **PARTS).arrays["y"]) == "f32[1 of blocks + 1] <- y"
