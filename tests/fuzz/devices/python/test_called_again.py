"""Host functions that are called several times in a run: leftovers of a call must not change a later answer.

Pairs of a right file and the same with a bug stand in extensions/pairs, under the class "what outlives a call".
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from paths import DATA

from kfuzz.campaign.trials.earlier_calls import earlier_cases
from kfuzz.campaign.trials.trial import Trial, prepare, run_trial
from kfuzz.cases.case import case_of
from kfuzz.claims.kernel import Kernel, load
from kfuzz.claims.language.axes import Axis
from kfuzz.common.text.remembering import has_lasting_variables
from kfuzz.devices import Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

EXTENSIONS = DATA / "extensions"
CLEARED = EXTENSIONS / "pairs" / "workspace_that_is_cleared.cu"
X = np.arange(24, dtype=np.float32).reshape(4, 6)


def kernel(path: Path = CLEARED) -> Kernel:
    return kernel_with(path, Unclaimed("row_sum"))


def test_earlier_calls_are_of_half_the_sizes_of_twice_and_of_the_same() -> None:
    found = list(earlier_cases(kernel(), case_of("row_sum", {"x": X}), {}))
    assert [one.arrays["x"].shape for one in found] == [(2, 3), (8, 12), (4, 6)]
    assert (found[0].arrays["x"] == X[:2, :3]).all()
    assert (found[1].arrays["x"] == np.tile(X, (2, 2))).all()
    assert (found[2].arrays["x"].ravel() == X.ravel()[::-1]).all()


def test_earlier_calls_have_only_sizes_that_are_claimed() -> None:
    claimed = replace(kernel(), axes={"rows": Axis(1, 4), "cols": Axis(6, 6)})
    assert [one.arrays["x"].shape for one in earlier_cases(claimed, case_of("row_sum", {"x": X}), {})] == [
        (2, 6),
        (4, 6),
    ]


def test_where_nothing_outlives_a_call_only_some_trials_call_again_and_else_some_call_many_times() -> None:
    plain, kept = kernel(EXTENSIONS / "bare" / "row_sum_atomics.cu"), kernel()
    probes = [Probe(seed=seed) for seed in range(2, 5)]

    def counts(of: Kernel, x: NDArray[np.float32]) -> list[int]:
        return [len(prepare(of, case_of("row_sum", {"x": x}), {}, probe).job.earlier) for probe in probes]

    assert counts(plain, X) == [0, 3, 0]
    assert counts(kept, X) == [27, 3, 3]
    assert counts(kept, np.zeros((32, 33), np.float32)) == [3, 3, 3]


COUNTS = """
#include <torch/extension.h>
__global__ void add_up(float *y, const float *x, int cols) {
  float sum = 0;
  for (int i = 0; i < cols; ++i) sum += x[blockIdx.x * cols + i];
  y[blockIdx.x] = sum;
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  add_up<<<x.size(0), 1>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(1));
  static int calls = 0;
  if (++calls > 20) y.zero_();
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "kinds"), [(0, ["stateful"]), (3, [])], ids=["after many calls", "after three"])
def test_a_function_that_is_right_for_20_calls_is_found_in_some_trials(
    seed: int, kinds: list[str], tmp_path: Path, cpu: CpuDevice
) -> None:
    (tmp_path / "counts.cu").write_text(COUNTS)
    found = run_trial(kernel(tmp_path / "counts.cu"), case_of("row_sum", {"x": X + 1}), {}, cpu, Probe(seed=seed))
    assert [one.kind for one in found.errors] == kinds


@pytest.mark.parametrize(
    "text",
    [
        "void f() { static float *room; }",
        "void f() { static std::map<int, at::Tensor> known = {}; }",
        "__device__ int count;",
        "thread_local int n = 1;",
        "torch::Tensor cache;",
        "float *room = nullptr;",
        "static torch::Tensor w = torch::empty({4});",
    ],
)
def test_what_outlives_a_call_is_seen_in_the_text(text: str) -> None:
    assert has_lasting_variables(f"#include <map>\n{text}\n")


@pytest.mark.parametrize(
    "text",
    [
        "static void f(int n) { int m = n; }",
        "static __device__ float f(float x) { return x; }",
        "using namespace std;",
        "// static int n;",
        "void f() {\n  int n = 3;\n}",
        'static_assert(sizeof(int) == 4, "as everywhere");',
    ],
)
def test_a_text_whose_variables_end_with_a_call_has_no_lasting_ones(text: str) -> None:
    assert not has_lasting_variables(f"#include <map>\n{text}\n")


@pytest.mark.slow
def test_a_workspace_that_is_not_cleared_is_found_and_one_that_is_cleared_is_not_accused(
    tmp_path: Path, cpu: CpuDevice
) -> None:
    wrong = tmp_path / "not_cleared.cu"
    wrong.write_text(f"#define BUG\n{CLEARED.read_text()}")
    right, found = (called(kernel(path), cpu) for path in (CLEARED, wrong))
    assert right.defects == ()
    assert [(one.kind, one.severity) for one in found.defects] == [("stateful", "error")]
    assert "after other calls" in found.defects[0].message


def called(kernel: Kernel, cpu: CpuDevice) -> Trial:
    return run_trial(kernel, case_of("row_sum", {"x": X + 1}), {}, cpu, Probe())


@pytest.mark.parametrize(("seed", "kinds"), [(0, ["stateful"]), (1, [])], ids=["after other sizes", "alone"])
def test_a_callable_is_called_with_other_sizes_before_in_one_trial_of_three(seed: int, kinds: list[str]) -> None:
    wrong, device = load(DATA / "callables" / "wrong_workspace_grown.py"), PythonDevice()
    trial = run_trial(wrong, case_of("row_sum", {"x": X + 1}), {}, device, Probe(seed=seed))
    device.close()
    assert [one.kind for one in trial.errors] == kinds
    assert all("after other calls" in one.message for one in trial.errors)
