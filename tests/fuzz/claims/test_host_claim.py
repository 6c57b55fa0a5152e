"""A claim whose kernel is a host function: read, bound, run and judged like any other."""

import random
from pathlib import Path

import numpy as np
import pytest

from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.case import case_of
from kfuzz.cases.plans.plan import plan
from kfuzz.claims.kernel import Kernel, read
from kfuzz.claims.language.kernel_file import parse
from kfuzz.common.text.cuda_text import blank_non_code
from kfuzz.devices import Call, ClaimError, Probe, Refusal
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.cpu.launches import translate_launches

CLAIM = """\
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..4096", cols = "1..4096" }
// tune   = { threads = [32, 128] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
//
// [host]
// entry = "row_sums"
// args  = ["y", "x", "rows", "cols", "threads"]
// home  = { rows = 16, cols = 100 }
// ///
#include <vector>
#include <stdexcept>
#include "helpers_that_are_not_here.h"

__global__ void partial(float *part, const float *x, int cols) {
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += x[blockIdx.x * cols + i];
  part[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void total(float *y, const float *part, int parts, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < parts; i++) sum += part[row * parts + i];
  y[row] = sum;
}

static void row_sums(float *y, const float *x, int rows, const int cols, size_t threads) {
  if (cols > 2000) throw std::invalid_argument("takes at most 2000 columns");
  float *part;
  cudaMalloc((void **)&part, rows * threads * sizeof(float));
  partial<<<rows, threads>>>(part, x, cols);
  total<<<(rows + 31) / 32, 32>>>(y, part, threads, rows);
  cudaFree(part);
}

int main() { return unknown_to_everybody(); }
"""


def kernel(*changes: tuple[str, str]) -> Kernel:
    text = CLAIM
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return read(parse(Path("mine.cu"), text))


def trial(cpu: CpuDevice, mine: Kernel, rows: int = 5, cols: int = 77, check: bool = False) -> Trial:
    x = np.random.default_rng(3).normal(size=(rows, cols)).astype(np.float32)
    return run_trial(mine, case_of("row_sum", {"x": x}), {"threads": 32}, cpu, Probe(check=check))


@pytest.mark.parametrize("check", [False, True])
def test_a_host_function_is_judged_by_its_outputs(cpu: CpuDevice, check: bool) -> None:
    done = trial(cpu, kernel(), check=check)
    assert (done.defects, done.elements) == ((), 5)


def test_a_wrong_host_function_is_found(cpu: CpuDevice) -> None:
    done = trial(cpu, kernel(("(rows + 31) / 32, 32>>>", "rows / 32, 32>>>")), rows=33)
    assert [one.kind for one in done.errors] == ["unwritten"]


def test_a_refusal_is_a_reason_not_to_judge(cpu: CpuDevice) -> None:
    done = trial(cpu, kernel(), cols=2001)
    assert (done.defects, done.rows, done.elements) == ((), 0, 0)
    assert done.reasons == (Refusal("takes at most 2000 columns"),)


def test_one_line_of_cxx_may_call_it(cpu: CpuDevice) -> None:
    call = 'call = "row_sums(y + 0, x, (int)rows, cols, 2 * threads)"'
    mine = kernel(('entry = "row_sums"\n// args  = ["y", "x", "rows", "cols", "threads"]', call))
    assert trial(cpu, mine).defects == ()


def test_the_arguments_are_typed_as_the_arrays_are() -> None:
    declared = ("float *y", "float *x", "int rows", "int cols", "long long threads")
    assert kernel().entries == (Call("row_sums", ("y", "x", "rows", "cols", "threads"), declared, on_host=True),)


def test_the_shape_that_it_was_written_for_is_tried_again_and_again() -> None:
    mine = kernel()
    choices = [random.Random(seed).randint for seed in range(100)]  # noqa: S311  sizes, nothing secret
    drawn = [mine.axes_of(plan(mine, choose).case.arrays) for choose in choices]
    assert mine.home == {"rows": 16, "cols": 100}
    assert 4 <= drawn.count(mine.home) <= 40
    assert len({tuple(axes.values()) for axes in drawn}) > 30


WRONG = {
    ('"row_sums"', '"row_summs"'): "no such function with a body in the source; it has row_sums, main",
    (', "cols", "threads"]', ', "cols"]'): "4 given; row_sums takes 5",
    ('["y", "x", "rows"', '["rows", "x", "y"'): "'rows' is a size; the parameter is 'float \\*y'",
    ("rows = 16, cols = 100", "rows = 16"): "a size for each axis is expected, of rows, cols",
    ("rows = 16, cols = 100", "rows = 16, cols = 5000"): "a size of the axis is expected: 1..4096",
    ("// home ", "// hoem "): "unknown key, did you mean 'home'",
    ("// ///\n#", '// [[launch]]\n// entry = "total"\n// ///\n#'): "leave out \\[\\[launch\\]\\], or \\[host\\]",
}


@pytest.mark.parametrize("change", WRONG)
def test_a_mistake_is_reported(change: tuple[str, str]) -> None:
    with pytest.raises(ClaimError, match=WRONG[change]):
        kernel(change)


LAUNCHES = {
    "k<<<1, 2>>>(x);": ("k", "1, 2"),
    "ns::k<T, (1 > 2)><<<dim3(1, 2), f(a, b), s * sizeof(T), stream>>>(x, y);": ("ns::k<T, (1 > 2)>", "dim3(1, 2)"),
    "(*table[i])<<<g, b>>>();": ("(*table[i])", "g, b"),
    "return k<float4>\n  <<<g,\n b>>>\n(x);": ("k<float4>", "g,\n b"),
    "if (a < b) k<<<a << 2, b>>>(x >> 1);": ("k", "a << 2, b"),
    "run(), one.kernel<<<g, b>>>(x);": ("one.kernel", "g, b"),
    "auto y = many[i + 1]->of<4>[j]<<<g, b>>>(x);": ("many[i + 1]->of<4>[j]", "g, b"),
}


@pytest.mark.parametrize("text", LAUNCHES)
def test_a_launch_becomes_a_call_on_the_same_lines(text: str) -> None:
    name, configuration = LAUNCHES[text]
    (start, opened, front), (closed, arguments, middle) = translate_launches(
        blank_non_code(text), text, "mine.cu", blank_non_code(text)
    )
    assert text[start:opened].rstrip("<").strip() == name
    assert text[opened:closed].startswith(configuration)
    assert text[arguments] == "("
    assert f"{{ {' '.join(name.split())}(cuda_on_cpu_given...); }}" in middle
    written = text[:start] + front + text[opened:closed] + middle + text[arguments:]
    assert written.count("\n") == text.count("\n")


def test_a_launch_within_a_macro_keeps_its_line_breaks() -> None:
    text = "#define RUN(n) \\\n  k<<<n, \\\n 2>>> \\\n (x)\n"
    edits = list(translate_launches(blank_non_code(text), text, "mine.cu", blank_non_code(text)))
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    assert [line.endswith("\\") for line in text.splitlines()] == [True, True, True, False]


@pytest.mark.parametrize("text", ["k<<<1, 2>>>;", "<<<1, 2>>>(x)", "k<<<1, 2(x)"])
def test_a_launch_that_is_not_understood_is_reported_with_its_line(text: str) -> None:
    with pytest.raises(ClaimError, match=r"mine.cu:2: kfuzz does not understand this launch"):
        list(translate_launches(f"\n{text}", f"\n{text}", "mine.cu", ""))
