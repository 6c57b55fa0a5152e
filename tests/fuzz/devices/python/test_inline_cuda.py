"""CUDA in the strings of Python files: read without running them, and run whole if torch is installed.

Each submission is as people write it; its wrong twins differ in a word or a line, and are found at that line.
"""

import importlib.util
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from forked import run_forked
from paths import DATA

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.plans.large import large_size
from kfuzz.cases.plans.scale import Large
from kfuzz.claims.kernel import Kernel, load
from kfuzz.claims.language.keys import WrittenHost
from kfuzz.common.text.cuda_in_python import END, cuda_of, has_cuda, list_cuda_calls
from kfuzz.common.text.cuda_text import blank_non_code
from kfuzz.devices import ClaimError, Device, Job, Outcome, Probe, Refusal, UnsupportedError
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.cpu.questions import CpuQuestion
from kfuzz.devices.memory.repeats import Fault
from kfuzz.devices.python.built_texts import build_extension
from kfuzz.devices.python.device import PythonDevice
from kfuzz.devices.python.extensions import DeviceCalls, Extension, RefusedByExtensionError, keeps_state
from kfuzz.devices.python.handing import Tensor
from kfuzz.devices.worker.worker import BUILDING
from kfuzz.measure.mutants.mutate import mutants
from kfuzz.measure.roundings.guess_host import FunctionWords, host_claims
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.ui.targets.project import others_below, sources_below

FOLDER = DATA / "inline_cuda"
TRIALS, MOST = 6, 40
"""Trials of a right one; and as many of a wrong one until it is found: every sixth checks each access."""
READS_ANY_AS_CONTIGUOUS = ("softmax_model_new", "gelu_half")
"""Their functions read a transposed tensor as if it were contiguous, of which kfuzz warns."""
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


@dataclass(frozen=True)
class Twin:
    """A bug: what stands in its place in the right file, and as what it is found."""

    file: str
    right: str
    wrong: str
    kind: str
    has_line: bool = True
    """It is an access that is seen; else the answer alone is wrong."""


OPS = {
    "softmax_model_new": ("softmax", "softmax_cuda"),
    "rms_norm_two_kernels": ("rms_norm", ""),
    "row_sum_f_string": ("row_sum", ""),
    "silu_bound_by_name": ("silu", "forward"),
    "gelu_half": ("gelu", "gelu_half"),
    "row_max_of_views": ("row_max", ""),
}
"""The op of each, and the function in its CUDA that computes it by itself."""
TWINS = (
    Twin("softmax_model_new", "m = buf[0];\n    __syncthreads();", "m = buf[0];", "race"),
    Twin("softmax_model_new", "i < cols; i += blockDim.x) t +=", "i <= cols; i += blockDim.x) t +=", "out-of-bounds"),
    Twin("softmax_model_new", "= expf(in[i] - m) / t", "= expf(in[i] - m) / (t + 1e-3f)", "numeric", has_line=False),
    Twin("rms_norm_two_kernels", "if (i < rows * n) y[i]", "if (i <= rows * n) y[i]", "out-of-bounds"),
    Twin("rms_norm_two_kernels", "rsqrtf(s / n + eps)", "rsqrtf(s / (n + 1) + eps)", "numeric", has_line=False),
    Twin("row_sum_f_string", "s[threadIdx.x] = t;\n    __syncthreads();", "s[threadIdx.x] = t;\n", "race"),
    Twin("row_sum_f_string", "for (int i = threadIdx.x;", "for (int i = threadIdx.x + 1;", "numeric", has_line=False),
    Twin("silu_bound_by_name", "if (i < n) {", "if (i <= n) {", "out-of-bounds"),
    Twin("silu_bound_by_name", "v / (1.0f + expf(-v))", "v / (1.001f + expf(-v))", "numeric", has_line=False),
    Twin("gelu_half", "i < n; i +=", "i <= n; i +=", "out-of-bounds"),
    Twin("gelu_half", "i < n; i +=", "i < n - 1; i +=", "unwritten", has_line=False),
    Twin("row_max_of_views", "if (r >= rows) return;", "if (r > rows) return;", "out-of-bounds"),
    Twin("row_max_of_views", "float m = -INFINITY;", "float m = 0.0f;", "numeric", has_line=False),
)
IN_THE_SUITE = ("gelu_half",)
"""The others are run by make soak."""


def name_of(twin: Twin) -> str:
    return f"{twin.file}-{twin.kind}"


def those(every: tuple[Twin, ...]) -> list[object]:
    """Twins, marked soak unless every run of the tests looks at them."""
    return [
        pytest.param(one, id=name_of(one), marks=() if one.file in IN_THE_SUITE else pytest.mark.soak) for one in every
    ]


def files(names: Iterator[str]) -> list[object]:
    return [pytest.param(one, marks=() if one in IN_THE_SUITE else pytest.mark.soak) for one in names]


def text_of(file: str) -> str:
    return (FOLDER / f"{file}.py").read_text()


def with_twin(twin: Twin, folder: Path) -> Path:
    text = text_of(twin.file)
    assert text.count(twin.right) == 1
    path = folder / f"{twin.file}.py"
    path.write_text(text.replace(twin.right, twin.wrong))
    return path


def by_itself(path: Path, op: str, entry: str) -> Kernel:
    """The kernel that its CUDA is, claimed in the file or beside it."""
    text = path.read_text()
    if "/// kernel" not in text:
        return kernel_with(path, Unclaimed(op, FunctionWords(entry)))
    path.write_text(
        text.replace("# ///\n", f'#\n# [host]\n# entry = "{entry}"\n# args = ["x", 0.7071067811865476]\n# ///\n')
    )
    return load(path)


def whole(path: Path, op: str) -> Kernel:
    """The kernel that the file is, with all its Python."""
    return kernel_with(path, Unclaimed(op))


def trials(kernel: Kernel, device: Device, count: int) -> Iterator[Trial]:
    for index in range(count):
        attempt = attempt_of(kernel, 7, index)
        yield run_trial(kernel, attempt.case, attempt.tune, device, probe_of(kernel, 7, index, 3, 3.0))


def check_right(kernel: Kernel, device: Device, warned_of: frozenset[str] = frozenset()) -> None:
    done = list(trials(kernel, device, TRIALS))
    assert [(one.axes, found) for one in done for found in one.defects if found.kind not in warned_of] == []
    assert warned_of == {found.kind for one in done for found in one.defects}
    assert sum(one.elements for one in done) > 40


def check_found(kernel: Kernel, device: Device, twin: Twin, path: Path) -> None:
    wanted = path.read_text()[: path.read_text().index(twin.wrong)].count("\n") + 1
    found = []
    for trial in trials(kernel, device, MOST):
        found += [(one.kind, one.line) for one in trial.errors]
        lines = [line for kind, line in found if kind == twin.kind]
        if lines:
            assert not twin.has_line or any(abs((line or 0) - wanted) <= 3 for line in lines), (wanted, found)
            return
    pytest.fail(f"{twin.kind} wanted, found {found or 'nothing'}")


@pytest.fixture(scope="module")
def python() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


@pytest.mark.slow
@pytest.mark.parametrize("file", files(file for file, (_, entry) in OPS.items() if entry))
def test_the_cuda_of_a_right_submission_is_kept(file: str, cpu: CpuDevice, tmp_path: Path) -> None:
    path = tmp_path / f"{file}.py"
    path.write_text(text_of(file))
    check_right(by_itself(path, *OPS[file]), cpu, frozenset({"strides"} if file in READS_ANY_AS_CONTIGUOUS else ()))


@pytest.mark.slow
@pytest.mark.parametrize("twin", those(tuple(one for one in TWINS if OPS[one.file][1])))
def test_a_bug_in_the_cuda_of_a_submission_is_found_at_its_line(twin: Twin, cpu: CpuDevice, tmp_path: Path) -> None:
    path = with_twin(twin, tmp_path)
    check_found(by_itself(path, *OPS[twin.file]), cpu, twin, path)


@needs_torch
@pytest.mark.slow
@pytest.mark.parametrize("file", files(iter(OPS)))
def test_a_right_submission_is_run_whole_and_kept(file: str, python: PythonDevice) -> None:
    check_right(whole(FOLDER / f"{file}.py", OPS[file][0]), python)


@needs_torch
@pytest.mark.slow
@pytest.mark.parametrize("twin", those(TWINS))
def test_a_bug_in_a_submission_that_runs_whole_is_found(twin: Twin, python: PythonDevice, tmp_path: Path) -> None:
    path = with_twin(twin, tmp_path)
    check_found(whole(path, OPS[twin.file][0]), python, twin, path)


BUILDS = 'from torch.utils.cpp_extension import load_inline\n{}\nload_inline("m", "", {}, ["f"])\n'


def cuda(assigned: str, given: str = "src", before: str = "") -> str:
    return cuda_of(before + BUILDS.format(assigned, given), "mine.py", "f")


def line_with(text: str, words: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if words in line)


@pytest.mark.parametrize(
    ("assigned", "given"),
    [
        ('src = """\nint a;\nvoid f(int x) {}\n"""', "src"),
        ("src = r'''\nint a;\nvoid f(int x) {} // \\n\n'''", "src"),
        ('src = ("int a;\\n"\n       "int b;\\n"\n       "void f(int x) {}\\n")', "src"),
        ('src = """\\\nint a;\nvoid f(int x) { printf("\\\\n"); }\n"""', "src"),
        ('A = """\nint a;\n"""\nB = """\nvoid f(int x) {}"""', "[A, B]"),
        ('A = """\nint a;\n"""\nsrc = A + """\nvoid f(int x) {}"""', "src"),
        ('class S:\n    src = """\nvoid f(int x) {}"""', "S.src"),
        ('class S:\n    src = """\nvoid f(int x) {}"""\n    m = load_inline("m", src)', "S.src"),
        ('src = """\n"""\nsrc += """\nvoid f(int x) {}"""', "src"),
        ('import textwrap\nsrc = textwrap.dedent("""\n   void f(int x) {}""").strip()', "src"),
        ('src = f"""\n\nvoid f(int x) {{}}"""', "src"),
    ],
)
def test_each_line_of_the_cuda_stays_where_it_is(assigned: str, given: str) -> None:
    text = BUILDS.format(assigned, given)
    made = cuda(assigned, given)
    assert line_with(made, "void f(int x)") == line_with(text, "void f(int x)")
    assert not any(word in made for word in ("import", "load_inline", '"""'))


def test_escapes_are_as_python_reads_them() -> None:
    assert '#define A 1 \\\n  + 2\nvoid f() { g("\\n\\x41"); }' in cuda(
        'src = """\n#define A 1 \\\\\n  + 2\nvoid f() { g("\\\\n\\\\x41"); }\n"""'
    )


@pytest.mark.parametrize(
    ("assigned", "given", "reported"),
    [
        ('N = 4\nsrc = f"""void f() {{ g({N}); }}"""', "src", r"mine\.py:3: the CUDA text is an f-string: it is there"),
        ('src = "void f() {}".replace("f", "g")', "src", r"mine\.py:2: the CUDA text is `'void f\(\) {}'\.replace"),
        ("src = open('k.cu').read()", "src", r"mine\.py:2: the CUDA text is `open\('k\.cu'\)\.read\(\)`"),
        ("", "src", r"mine\.py:3: the CUDA text is `src`"),
        ("import sys\nif sys.argv:\n    src = 'a()'\nelse:\n    src = 'b()'", "src", "which may have several values"),
    ],
)
def test_a_text_that_only_a_run_would_make_is_reported_with_its_line(assigned: str, given: str, reported: str) -> None:
    with pytest.raises(ClaimError, match=reported) as caught:
        cuda(assigned, given)
    assert "\n" not in str(caught.value)


def test_a_text_that_a_function_is_handed_is_that_of_its_one_call() -> None:
    text = "def build(src, names):\n    return load_inline('m', '', src, names)\n\n\n"
    text += "SRC = 'void f() {}'\nbuild(SRC, ['f'])\n"
    assert cuda_of(text, "mine.py", "f").split("\n")[4] == "void f() {}"
    with pytest.raises(ClaimError, match=r"mine\.py:2: the CUDA text is `src`, an argument of build\(\)"):
        cuda_of(f"{text}build('', [])\n", "mine.py", "f")


def test_what_is_found_is_the_text_that_has_the_function() -> None:
    text = 'load_inline("a", "", "void a() {}", ["a"])\nload_inline("b", "", "void b() {}", ["b"])\n'
    assert [one.functions for one in list_cuda_calls(text, "mine.py")] == [("a",), ("b",)]
    assert "void a()" not in cuda_of(text, "mine.py", "b")


def test_options_of_the_compiler_come_along() -> None:
    text = 'load_inline("a", "", """\n\nvoid f() {}""", ["f"], extra_cuda_cflags=["--use_fast_math", "-DN=4"])\n'
    made = cuda_of(text, "mine.py", "f")
    assert made.startswith("#include <torch/extension.h>\n#define N 4\n")
    assert "// nvcc --use_fast_math" in made


def test_cupys_kernels_are_found_and_torch_is_not_put_in_front() -> None:
    text = "import cupy as cp\nk = cp.RawKernel(r'''\nextern \"C\" __global__ void k(float *y) {}\n''', 'k')\n"
    made = cuda_of(text, "mine.py", "k")
    assert has_cuda(text)
    assert made.split("\n")[2] == 'extern "C" __global__ void k(float *y) {}'
    assert "torch" not in made


def test_a_file_without_cuda_in_its_strings_is_reported() -> None:
    with pytest.raises(ClaimError, match=r"mine\.py: no CUDA in its strings"):
        cuda_of("x = 1\n", "mine.py", "f")
    assert not has_cuda("# load_inline\n")


def test_what_was_made_stays_as_it_is() -> None:
    made = cuda('src = "void f() {}"')
    assert made.rstrip().endswith(END)
    assert cuda_of(made, "mine.py", "f") == made


CLAIMED = """\
# Sums, one after the other.
# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..64" }
# arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
#
# [host]
# entry = "sums"
# args  = ["x"]
# ///
from torch.utils.cpp_extension import load_inline

ext = load_inline("sums", "", '''
__global__ void add(const float *x, float *y, int cols) {
  float s = 0;
  for (int i = 0; i < cols; i++) s += x[blockIdx.x * cols + i];
  y[blockIdx.x] = s;
}
torch::Tensor sums(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  add<<<x.size(0), 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
''', functions=["sums"])
"""


def test_a_claim_of_a_host_function_in_a_python_file_is_of_its_cuda(tmp_path: Path) -> None:
    path = tmp_path / "sums.py"
    path.write_text(CLAIMED)
    kernel = load(path)
    lines = CLAIMED.split("\n")
    assert kernel.front.language.name == "cuda"
    assert kernel.source.split("\n")[15] == lines[15]
    assert kernel.source.split("\n")[2] == '// op     = "row_sum"'
    assert kernel.front.prose == "Sums, one after the other."
    assert all("load_inline" not in one.source for one in mutants(kernel))
    path.write_text(CLAIMED.replace('"sums"\n', '"sum"\n'))
    with pytest.raises(ClaimError, match=r'sums\.py:8: host\.entry = "sum": no such function'):
        load(path)


@pytest.mark.soak
def test_a_finding_in_a_python_file_is_replayed_made_smaller_and_carried_by_a_script(tmp_path: Path) -> None:
    def kfuzz(*words: str) -> subprocess.CompletedProcess[str]:
        return run_forked("kfuzz", *words, cwd=tmp_path)

    (tmp_path / "sums.py").write_text(CLAIMED.replace("i < cols", "i <= cols"))
    found = kfuzz("fuzz", "sums.py", "--device", "cpu", "--max-cases", "12", "--seed", "1", "--corpus", "kept")
    assert found.returncode == 1
    assert "sums.py:16" in found.stdout
    (case,) = (one for one in (tmp_path / "kept" / "row_sum").iterdir() if "out-of-bounds" in one.name)
    assert kfuzz("replay", str(case), "--device", "cpu").returncode == 1
    assert kfuzz("minimize", str(case), "--device", "cpu").returncode == 0
    (script,) = tmp_path.glob("repro-*.py")
    done = subprocess.run([sys.executable, script, "cpu"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, "out-of-bounds" in done.stdout) == (1, True), done.stderr


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="torch is installed")
def test_without_torch_the_cuda_is_what_is_meant() -> None:
    kernel = whole(FOLDER / "softmax_model_new.py", "softmax")
    assert kernel.written.host == WrittenHost(entry="softmax_cuda", args=("x",))
    with pytest.raises(ClaimError, match=r"row_sum_f_string\.py:6: .* an f-string: .*with torch the file is run"):
        whole(FOLDER / "row_sum_f_string.py", "row_sum")


@needs_torch
def test_with_torch_the_python_around_it_is_meant_unless_a_function_of_the_cuda_is_named() -> None:
    path = FOLDER / "softmax_model_new.py"
    assert whole(path, "softmax").front.language.name == "python"
    assert kernel_with(path, Unclaimed("softmax", FunctionWords("softmax_cuda"))).front.language.name == "cuda"
    assert kernel_with(path, Unclaimed("softmax", FunctionWords("ModelNew"))).front.language.name == "python"


def test_what_cuda_in_strings_says_of_its_rounding_is_read_off(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    plain = '# /// kernel\n# op = "softmax"\n# ///\nimport torch\n\nSRC = """\n'
    plain += '__global__ void k() { %s(0); }\n"""\ndef forward(x): ...\n'
    path.write_text(plain % "__expf")
    said = {one.key: (one.value, one.line) for one in load(path).rounding.read_off}
    assert said == {"exp": ("__expf", 7)}
    path.write_text(plain % "expf")
    assert not load(path).rounding.read_off
    path.write_text(plain % "expf" + 'BUILT = ["--use_fast_math"]\n')
    assert load(path).rounding.flags == ("-use_fast_math",)


# What an extension's functions take and give, by numpy's arrays.

EXTENSION = """
#include <torch/extension.h>
__global__ void scale(const float *x, float *y, int n, float by) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) y[i] = by * x[i];
}
torch::Tensor scaled(torch::Tensor x, double by = 2.0) {
  TORCH_CHECK(x.numel() > 0, "nothing to scale");
  auto y = torch::empty(x.sizes(), x.options());
  auto dense = x.contiguous();
  scale<<<(x.numel() + 63) / 64, 64>>>(dense.data_ptr<float>(), y.data_ptr<float>(), x.numel(), by);
  return y;
}
void scale_into(torch::Tensor out, torch::Tensor x) {
  scale<<<(x.numel() + 63) / 64, 64>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.numel(), 3.0f);
}
std::tuple<torch::Tensor, torch::Tensor> two(torch::Tensor x, c10::optional<torch::Tensor> w, bool third) {
  return {scaled(x, third ? 3.0 : 2.0), x};
}
std::vector<torch::Tensor> list(std::vector<torch::Tensor> many, std::vector<int64_t> by) {
  std::vector<torch::Tensor> made;
  for (size_t i = 0; i < many.size(); i++) made.push_back(scaled(many[i], by[i]));
  return made;
}
torch::Tensor counted(int64_t n) {
  return torch::full({n}, 7.0f, torch::dtype(torch::kFloat32).device(torch::kCUDA));
}
torch::Tensor of_bytes(torch::Tensor mask, torch::Tensor h) {
  TORCH_CHECK(mask.scalar_type() == torch::kBool && h.scalar_type() == torch::kHalf && mask.numel() == 5);
  return h.to(torch::kFloat32);
}
__global__ void clamp(const c10::Half *x, c10::Half *y) {
  c10::Half low(1.5f), high(2.5f);
  if (low == high || low != low || !(low < high) || low >= high || low > 2 || high <= 2.0f || 2.0 < low) return;
  __half kept = max(low, min(x[threadIdx.x], high));  // to CUDA's type and back
  static_assert(sizeof(c10::BFloat16(nv_bfloat16{})) == 2);
  y[threadIdx.x] = kept;
}
torch::Tensor clamped(torch::Tensor h) {
  auto y = torch::empty_like(h);
  clamp<<<1, h.numel()>>>(h.data_ptr<c10::Half>(), y.data_ptr<c10::Half>());
  return y.to(torch::kFloat32);
}
torch::Tensor beyond(torch::Tensor x) {
  auto y = torch::empty_like(x);
  scale<<<1, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), 1 << 30, 1.0f);
  return y;
}
torch::Tensor part(torch::Tensor x) {
  auto y = torch::empty_like(x);
  scale<<<1, 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), 1, 1.0f);
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("by_name", &scaled, py::arg("x"), py::arg("by") = 4.0);
  m.def("lambda", [](torch::Tensor x) { return x; });
}
"""


@pytest.fixture(scope="module")
def extension() -> Extension:
    return Extension(Path("mine.py"), EXTENSION, (), {})


@pytest.fixture(scope="module")
def calls() -> Iterator[DeviceCalls]:
    made = DeviceCalls()
    yield made
    made.device.close()


def tensor(*values: float) -> Tensor:
    held = np.array(values, np.float32)
    return Tensor("float32", held, held.shape, (1,), is_dense=True)


@pytest.mark.slow
def test_a_function_takes_and_gives_what_python_would_hand_over(extension: Extension, calls: DeviceCalls) -> None:
    def call(name: str, *args: object, **named: object) -> list[list[float]]:
        with calls.watch(Probe(), 0x7FBADBAD, 0) as findings:
            returned = extension.call(name, args, named, calls)  # type: ignore[arg-type]  # as they are
        assert findings == []
        assert [dtype for dtype, _ in returned.arrays] == ["float32"] * len(returned.arrays)
        return [array.tolist() for _, array in returned.arrays]

    assert call("scaled", tensor(1, 2)) == [[2, 4]]
    assert call("scaled", tensor(1, 2), 0.5) == [[0.5, 1]]
    assert call("by_name", x=tensor(1, 2)) == [[4, 8]]
    assert call("two", tensor(1), None, True) == [[3], [1]]
    assert call("list", [tensor(1), tensor(2, 3)], [5, 7]) == [[5], [14, 21]]
    assert call("counted", 3) == [[7, 7, 7]]
    out = tensor(0, 0)
    assert call("scale_into", out, tensor(1, 2)) == []
    assert out.held.tolist() == [3, 6]
    every_second = Tensor("float32", np.arange(5, dtype=np.float32), (3,), (2,), is_dense=False)
    assert call("scaled", every_second) == [[0, 4, 8]]
    mask = Tensor("bool", np.ones(5, np.bool_), (5,), (1,), is_dense=True)
    assert call("of_bytes", mask, Tensor("float16", np.ones(2, np.float16), (2,), (1,), is_dense=True)) == [[1, 1]]
    halves = Tensor("float16", np.arange(4, dtype=np.float16), (4,), (1,), is_dense=True)
    assert call("clamped", halves) == [[1.5, 1.5, 2, 2.5]]
    assert [extension.definition(one).how for one in ("scaled", "scale_into", "two", "list")] == [
        "one",
        "nothing",
        "tuple",
        "list",
    ]


@pytest.mark.slow
def test_a_call_raises_what_the_function_refuses_and_reports_no_finding(
    extension: Extension, calls: DeviceCalls
) -> None:
    with calls.watch(Probe(check=True), 0x7FBADBAD, 0) as findings:
        line = line_with(EXTENSION, "nothing to scale")
        with pytest.raises(RefusedByExtensionError, match=rf"{extension.path.name}:{line}: nothing to scale"):
            extension.call("scaled", [tensor()], {}, calls)
        calls.file = extension.path
        with pytest.raises(RefusedByExtensionError, match=r"^nothing to scale") as refused:
            extension.call("scaled", [tensor()], {}, calls)
        assert refused.value.line == line
        assert findings == []
        with pytest.raises(TypeError, match="x is missing"):
            extension.call("scaled", [], {}, calls)
        with pytest.raises(TypeError, match="no parameter z"):
            extension.call("scaled", [tensor(1)], {"z": 1}, calls)
        with pytest.raises(UnsupportedError, match="lambda is bound to a lambda"):
            extension.call("lambda", [tensor(1)], {}, calls)
        with pytest.raises(UnsupportedError, match="nowhere is not a function of the CUDA text"):
            extension.call("nowhere", [tensor(1)], {}, calls)
        extension.call("beyond", [tensor(1, 2)], {}, calls)
        assert {one.kind for one in findings} == {"out-of-bounds"}
        assert {one.line for one in findings} == {line_with(EXTENSION, "by * x[i]")}


@pytest.mark.slow
def test_memory_without_a_write_is_handed_on_as_poison(extension: Extension, calls: DeviceCalls) -> None:
    with calls.watch(Probe(), 0x12345678, 0) as findings:
        ((_, array),) = extension.call("part", [tensor(1, 2)], {}, calls).arrays
    assert findings == []  # the Python around it may leave it out, or write it
    assert [hex(one) for one in array.view(np.uint32)] == ["0x3f800000", "0x12345678"]


class EndsUnchecked:
    """A device on which a call reaches its end only if its accesses are checked."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def run(self, job: Job, probe: Probe) -> Outcome:
        if probe.option(CpuQuestion).returned:
            return Outcome(returned=(("f32", (2,)),) if probe.check else None)
        self.jobs.append(job)
        return Outcome(refusal=Refusal("seen"))


def test_a_call_that_ends_its_process_is_checked_first(extension: Extension) -> None:
    calls = DeviceCalls()
    calls._device = device = EndsUnchecked()  # type: ignore[assignment]  # as much of one as a call needs
    with pytest.raises(RefusedByExtensionError, match="seen"):
        extension.call("scaled", [tensor(1, 2)], {}, calls)
    assert [one.name for one in device.jobs[0].buffers if one.is_returned] == ["result"]


def test_the_time_in_which_a_call_is_compiled_is_not_the_callables(extension: Extension) -> None:
    """A machine with more processes than processors compiled a right submission for a minute: it was said to hang."""
    calls, parts = DeviceCalls(), list[str]()
    calls._device = EndsUnchecked()  # type: ignore[assignment]  # as much of one as a call needs
    with calls.watch(Probe(), 1, 0, parts.append), pytest.raises(RefusedByExtensionError):
        extension.call("scaled", [tensor(3, 4)], {}, calls)
    assert parts[:2] == [BUILDING, "running"]
    assert parts[-1] == "running"


@pytest.mark.slow
def test_a_call_that_ends_its_process_is_a_fault_and_the_next_is_made(calls: DeviceCalls) -> None:
    text = EXTENSION.replace("by * x[i];", "by * x[i];\n  if (by == 9.0f) abort();")
    mine = Extension(Path("mine.py"), text.replace("abort()", "__trap()"), (), {})
    with calls.watch(Probe(), 0x7FBADBAD, 0) as findings:
        with pytest.raises(Fault):
            mine.call("scaled", [tensor(1), 9.0], {}, calls)
        assert [one.kind for one in findings] == ["trap"]
        assert mine.call("scaled", [tensor(1), 8.0], {}, calls).arrays[0][1].tolist() == [8]


@needs_torch
def test_load_inline_fails_where_the_cpp_texts_do_not_declare_a_function() -> None:
    """Torch writes the bindings beside these texts. A file that caught this error was called impossible to run."""
    load_inline = pytest.importorskip("kfuzz.devices.python.torch.inline_extensions").load_inline
    words = {"cuda_sources": "void twice(float *x) {}", "functions": ["twice"]}
    with pytest.raises(RuntimeError, match="twice is not declared in cpp_sources"):
        load_inline(Path("mine.py"), "mine", cpp_sources="// twice", **words)
    assert load_inline(Path("mine.py"), "mine", cpp_sources="void twice(float *x);", **words).twice


@pytest.mark.parametrize(
    ("option", "is_refused"), [("-std=c++14", True), ("--std=gnu++11", True), ("-std=c++17", False)]
)
def test_a_standard_before_c17_fails_as_with_torchs_own_headers(option: str, is_refused: bool) -> None:
    """Answers that ask for C++14 were kept, and do not build with any torch since 2.1."""
    check = pytest.importorskip("kfuzz.devices.python.torch.inline_extensions").check_standard
    with pytest.raises(RuntimeError, match=r"C\+\+17 or later") if is_refused else nullcontext():
        check("one", ["-O3", option])


def test_a_text_that_a_run_has_made_keeps_the_lines_that_the_file_has() -> None:
    file = 'import torch\nN = 4\nSRC = f"""\nvoid f() {{\n  g({N});\n  h();\n}}"""\n'
    made = build_extension(
        Path("mine.py"),
        file,
        ["\nvoid f() {\n  g(4);\n  h();\n}"],
        ["-DN=4", "--use_fast_math"],
        {"f": "f"},
        is_inline=True,
    )
    assert made.flags == ("-use_fast_math",)
    assert "#define N 4" in made.source
    assert line_with(made.source, "h();") == 6
    assert re.search(r"g\(4\)", made.source.split("\n")[4])


@pytest.mark.parametrize(
    "text",
    [
        "__constant__ float weights[16];\nvoid set(int n) { g(n); }",
        "static float *kept = nullptr;",
        "namespace mine { torch::Tensor kept; }",
        "int f() { static int count = 0; return ++count; }",
        "std::vector<int> seen;",
        "__device__ unsigned int ticket = 0;",
    ],
)
def test_a_text_that_keeps_something_from_call_to_call_is_known(text: str) -> None:
    assert keeps_state(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        EXTENSION,
        "constexpr int N = 4;\nconst float k = 1.0f;\nstatic const int M = 3;",
        "static inline __device__ float f(float x) { return x;}\n__global__ void k(float *x) { __shared__ float s[4];}",
        "template <int N>\nstruct A { int x; };\nusing B = A<4>;\ntypedef int C;\nenum E { a, b };",
        "#define N 4 \\\n  + 3\ntorch::Tensor f(torch::Tensor x);\nnamespace mine { int g() { int a = 3; return a; } }",
        "static void f(int a) {}\nstatic_assert(1 + 1 == 2);",
        f"void {'a::' * 40}f(int n) {{}}",
    ],
)
def test_a_text_that_keeps_nothing_is_known(text: str) -> None:
    assert not keeps_state(blank_non_code(text))


STATEFUL = """
#include <torch/extension.h>
static float by = 1.0f;
void set(double value) { by = value; }
torch::Tensor scaled(torch::Tensor x) { return x * by; }
"""


@pytest.mark.slow
def test_functions_that_share_what_they_keep_are_refused_by_name(calls: DeviceCalls) -> None:
    mine = Extension(Path("mine.py"), STATEFUL, (), {})
    with calls.watch(Probe(), 0x7FBADBAD, 0):
        mine.call("set", [2.0], {}, calls)
        with pytest.raises(UnsupportedError, match=r"mine\.py: scaled and set: its variables outlive a call"):
            mine.call("scaled", [tensor(1)], {}, calls)


def test_what_python_calls_none_is_left_out_of_a_claim(tmp_path: Path) -> None:
    path = tmp_path / "row_max.py"
    path.write_text((FOLDER / "row_max_of_views.py").read_text())
    made = cuda_of(path.read_text(), "row_max.py", "row_max")
    claims = [tomllib.loads(one)["host"]["args"] for one in host_claims("row_max", made, FunctionWords("row_max"))]
    assert claims[0] == ["x", "out", "c10::nullopt", 64]


@pytest.mark.parametrize("what", ["rows", "elements", "columns", "turns"])
def test_a_kernel_all_of_whose_sizes_are_fixed_has_no_large_case(what: Large, tmp_path: Path) -> None:
    path = tmp_path / "fixed.py"
    path.write_text(
        '# /// kernel\n# op = "row_sum"\n# axes = {}\n# arrays = { x = "f32[4, 8] -> x", y = "f32[4] <- y" }\n# ///\n'
        "def forward(x):\n    return x.sum(-1)\n"
    )
    assert large_size(load(path), what, lambda low, high: low) is None


def test_a_folder_of_answers_is_also_its_submissions_in_python(tmp_path: Path) -> None:
    (tmp_path / "answer.py").write_text(text_of("softmax_model_new"))
    (tmp_path / "cuda.py").write_text("m = load_inline('m', '', 'void f() {}', ['f'])\n")
    (tmp_path / "claimed.py").write_text(text_of("gelu_half"))
    (tmp_path / "plain.cu").write_text("")
    (tmp_path / "task.py").write_text("import torch\n\ndef reference(x): ...\n")
    (tmp_path / "broken.py").write_text("def (\n")
    (tmp_path / "latin.py").write_bytes(b"# caf\xe9\n")
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere")
    readable, faulty = ["answer.py", "claimed.py", "cuda.py", "plain.cu"], ["broken.py", "gone.py", "latin.py"]
    assert [path.name for path in sources_below(tmp_path)] == sorted(readable + faulty)
    assert [path.name for path in others_below(tmp_path)] == ["task.py"]
