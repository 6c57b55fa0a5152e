"""Files without a claim whose arrays are not the op's own: transposed, of more dimensions, without optional inputs."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases import case_file
from kfuzz.cases.case import Record
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import ClaimError, Device
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.guess_host import FunctionWords
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

SOFTMAX = """import numpy as np
def forward(x, dim):
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)
"""
LAYER_NORM = """import numpy as np
def forward(x, {more}eps=1e-5):
    off = x - x.mean(-1, keepdims=True)
    return off / np.sqrt((off * off).mean(-1, keepdims=True) + np.float32(eps)){then}
"""
PRODUCT = "def forward(a, b):\n    return a @ b\n"
LINEAR = "def forward(x, weight):\n    return x @ weight.T\n"
MATRIX_BY_VECTOR = "def forward(A, x):\n    return A @ x\n"
ATTENTION = """import numpy as np
def forward(q, k, v, mask):
    s = q @ k.swapaxes(-1, -2) / np.sqrt(np.float32(q.shape[-1])) + mask
    top = s.max(-1, keepdims=True)
    e = np.exp(s - np.where(top == -np.inf, np.float32(0), top))
    d = e.sum(-1, keepdims=True)
    return (e / np.where(d == 0, np.float32(1), d)) @ v
"""
SUM = "def forward(x):\n    return x.sum(1)\n"
NORM = LAYER_NORM.format(more="", then="")
BATCHES = "softmax(x[batch, cols, inner])"


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


def kernel_of(folder: Path, text: str, op: str, **arguments: str) -> Kernel:
    path = folder / "mine.py"
    path.write_text(text)
    said = FunctionWords(arguments={name: (value,) for name, value in arguments.items()})
    return kernel_with(path, Unclaimed(op, said))


def trials(kernel: Kernel, device: Device, count: int = 6) -> list[Trial]:
    attempts = [attempt_of(kernel, 3, index) for index in range(count)]
    return [run_trial(kernel, one.case, one.tune, device, probe_of(kernel, 3, 0, 2, 5.0)) for one in attempts]


@pytest.mark.parametrize(
    ("text", "op", "arguments", "name"),
    [
        (SOFTMAX, "softmax", {}, "softmax"),
        (SOFTMAX, "softmax", {"dim": "1"}, "softmax"),
        (SOFTMAX, "softmax", {"dim": "0"}, "softmax(x[cols, rows])"),
        (SOFTMAX, "softmax", {"dim": "-2"}, "softmax(x[rows, cols, inner])"),
        (SOFTMAX, BATCHES, {}, BATCHES),
        (SUM, "row_sum(x[b, cols, s])", {}, "row_sum(x[b, cols, s])"),
        (PRODUCT, "gemm", {}, "gemm(a[m, k], b)"),
        (PRODUCT, "bmm", {}, "gemm(a, b)"),
        (MATRIX_BY_VECTOR, "gemv", {}, "gemv(a, x)"),
        (PRODUCT, "sgemm(a[batch, m, k], b)", {}, "sgemm(a[batch, m, k], b)"),
        (LINEAR, "linear", {}, "gemm(a[m, k], b[n, k])"),
        (LINEAR, "sgemm(a, b.T)", {}, "sgemm(a, b[n, k])"),
        (NORM, "layer_norm", {}, "layer_norm(x)"),
        (LAYER_NORM.format(more="w, ", then=" * w"), "layer_norm", {}, "layer_norm(x, w)"),
        (LAYER_NORM.format(more="w, b=None, ", then=" * w + b"), "layer_norm", {}, "layer_norm"),
    ],
)
def test_a_right_function_is_kept_over_its_own_arrays(
    tmp_path: Path, device: PythonDevice, text: str, op: str, arguments: dict[str, str], name: str
) -> None:
    kernel = kernel_of(tmp_path, text, op, **arguments)
    assert kernel.op == name
    done = trials(kernel, device)
    assert not [defect for trial in done for defect in trial.errors]
    assert sum(trial.elements for trial in done)


@pytest.mark.parametrize(
    ("text", "op", "arguments"),
    [
        (SOFTMAX, BATCHES, {"dim": "2"}),
        (SOFTMAX.replace("e.sum(dim", "e.sum(-1"), "softmax", {"dim": "0"}),
        (SUM, "row_sum(x[b, s, cols])", {}),
        (PRODUCT, "sgemm(a, b.T)", {}),
        (PRODUCT.replace("b\n", "(1.001 * b)\n"), "gemm", {}),
        (MATRIX_BY_VECTOR.replace("A @", "1.001 * A @"), "gemv", {}),
        (LINEAR.replace("weight.T", "(1.001 * weight.T)"), "linear", {}),
        (NORM, "rms_norm", {}),
    ],
)
def test_a_wrong_function_is_found_over_its_own_arrays(
    tmp_path: Path, device: PythonDevice, text: str, op: str, arguments: dict[str, str]
) -> None:
    done = trials(kernel_of(tmp_path, text, op, **arguments), device)
    assert [defect for trial in done for defect in trial.errors]


def test_a_dimension_is_handed_over_where_the_op_works_along_it(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, SOFTMAX, BATCHES)
    assert kernel.launches[0].called
    assert kernel.launches[0].called.arguments == ("x", "dim=dim")
    assert kernel.tune == {"dim": (-2, 1)}


def test_a_case_of_a_spelled_op_is_kept_and_read_back(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, SOFTMAX, BATCHES)
    case = attempt_of(kernel, 3, 0).case
    case_file.write(tmp_path / "case.json", Record(case))
    again = case_file.read(tmp_path / "case.json").case
    assert again == case
    assert (again.op, again.folder) == (BATCHES, "softmax")
    assert kernel.computes(again.op, again.dimensions)


def test_an_op_that_does_not_fit_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ClaimError, match=r"mine.py: op='softmax\(x\[a, b, c\]\)': .* may be rows or cols; name one"):
        kernel_of(tmp_path, SOFTMAX, "softmax(x[a, b, c])")


RMS = """// /// kernel
// op     = "rms_norm"
// axes   = { n = "1..64", c = "1..256" }
// arrays = { x = "f32[n, c] -> x", y = "f32[n, c] <- y" }
//
// [[launch]]
// entry = "rms"
// grid  = "n"
// block = "32"
// args  = ["y", "x", "c"]
// ///
__global__ void rms(float *y, const float *x, int c) {
  float s = 0;
  for (int i = 0; i < c; i++) s += x[blockIdx.x * c + i] * x[blockIdx.x * c + i];
  for (int i = threadIdx.x; i < c; i += 32) y[blockIdx.x * c + i] = x[blockIdx.x * c + i] * rsqrtf(s / c + 1e-6f);
}
"""


def test_a_claim_may_leave_out_optional_arrays_and_the_batch(tmp_path: Path) -> None:
    path = tmp_path / "rms.cu"
    path.write_text(RMS)
    assert load(path).op == "rms_norm(x)"
    product = RMS.replace("rms_norm", "gemm").replace('"1..256" }', '"1..256", k = "1..9" }')
    arrays = 'a = "f32[n, k] -> a", b = "f32[k, c] -> b", y = "f32[n, c] <- c"'
    path.write_text(
        product.replace('x = "f32[n, c] -> x", y = "f32[n, c] <- y"', arrays)
        .replace('"y", "x"', '"y", "a", "b"')
        .replace("const float *x", "const float *a, const float *b")
    )
    assert load(path).op == "gemm(a[m, k], b)"
    missing = RMS.replace('x = "f32[n, c] -> x", ', 'x = "f32[c] -> w", ')  # x is no optional input
    path.write_text(missing)
    with pytest.raises(ClaimError, match="no array has the role '-> x'"):
        load(path)


EXTENSION = """#include <torch/extension.h>
__global__ void k(const float *x, float *y, int cols, int inner) {
  int s = threadIdx.x, b = blockIdx.x;
  const float *in = x + b * cols * inner + s;
  float m = -INFINITY, d = 0;
  for (int i = 0; i < cols; i++) m = fmaxf(m, in[i * inner]);
  for (int i = 0; i < cols; i++) d += expf(in[i * inner] - m);
  for (int i = 0; i < cols; i++) y[b * cols * inner + i * inner + s] = expf(in[i * inner] - m) / d;
}
torch::Tensor forward(torch::Tensor x, int64_t dim) {
  TORCH_CHECK(dim == 1 && x.size(2) <= 1024);
  auto y = torch::empty_like(x);
  k<<<x.size(0), x.size(2)>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1), x.size(2));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


@pytest.mark.slow
def test_an_extension_works_along_a_dimension_in_the_middle(tmp_path: Path, cpu: CpuDevice) -> None:
    path = tmp_path / "middle.cu"
    path.write_text(EXTENSION)
    kept = trials(kernel_with(path, Unclaimed(BATCHES)), cpu)
    path.write_text(EXTENSION.replace("d += expf", "d += 1.001f * expf"))
    broken = trials(kernel_with(path, Unclaimed(BATCHES)), cpu)
    assert sum(trial.elements for trial in kept)
    assert not [defect for trial in kept for defect in trial.errors]
    assert [defect for trial in broken for defect in trial.errors]


def test_an_attention_that_gives_0_for_a_row_without_keys_is_kept(tmp_path: Path, device: PythonDevice) -> None:
    """It was called stale: nearly the same input had another answer."""
    done = trials(kernel_of(tmp_path, ATTENTION, "masked_attention"), device, 30)
    assert not [defect for trial in done for defect in trial.defects]
    assert [trial for trial in done if (trial.case.arrays["mask"] == -np.inf).all(1).any()]


@pytest.mark.slow
def test_kernels_without_optional_arrays_are_guessed(tmp_path: Path) -> None:
    path = tmp_path / "gemv.cu"
    path.write_text("""__global__ void gemv(const float *A, const float *x, float *y, int m, int k) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  if (row < m) {
    for (int i = 0; i < k; i++) s += A[row * k + i] * x[i];
    y[row] = s;
  }
}
""")
    assert kernel_with(path, Unclaimed("gemv")).op == "gemv(a, x)"


@pytest.mark.soak
def test_a_kernel_that_multiplies_two_matrices_is_guessed(tmp_path: Path) -> None:
    path = tmp_path / "product.cu"
    path.write_text("""__global__ void product(const float *A, const float *B, float *C, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float s = 0;
  for (int i = 0; i < k; i++) s += A[row * k + i] * B[i * n + col];
  C[row * n + col] = s;
}
""")
    assert kernel_with(path, Unclaimed("gemm")).op == "gemm(a[m, k], b)"


TWICE = '''"""twice: y = 2 x."""
INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}


def formula(N, x):
    return x * 2.0
'''


def test_an_op_of_your_own_lies_in_your_folder_or_beside_the_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "twice.py").write_text(TWICE)
    (tmp_path / "ops" / "claim.toml").write_text('op = "twice.py"\n')
    path = tmp_path / "mine.py"
    path.write_text("def forward(x):\n    return x + x\n")
    monkeypatch.chdir(tmp_path / "ops")
    for unclaimed in (Unclaimed("./twice.py"), Unclaimed(claim=Path("claim.toml"))):
        assert kernel_with(path, unclaimed).op == str(tmp_path / "ops" / "twice.py")
    monkeypatch.chdir(tmp_path)
    assert kernel_with(path, Unclaimed(claim=Path("ops/claim.toml"))).op == str(tmp_path / "ops" / "twice.py")


def test_several_values_of_a_dimension_are_tried_in_turn(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(SOFTMAX)
    kernel = kernel_with(path, Unclaimed("softmax", FunctionWords(arguments={"dim": ("1", "-1")})))
    assert (kernel.op, kernel.tune) == ("softmax", {"dim": (1, -1)})
    assert {attempt_of(kernel, 3, index).tune["dim"] for index in range(8)} == {1, -1}
