"""Files without a claim: the command line and the text of the file make a claim."""

import json
import random
import re
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pytest
from forked import run_forked
from paths import DATA
from wrong_twins import kinds_of, list_extensions, words_of

from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.plans.plan import plan
from kfuzz.claims.kernel import Kernel, load
from kfuzz.claims.language.front_matter import CLOSES, OPENS, text_of
from kfuzz.devices import ClaimError, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.measure.roundings.guess import guessed
from kfuzz.measure.roundings.guess_call import claim_by_reference
from kfuzz.measure.roundings.guess_host import FunctionWords, host_claims, untold
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.measure.roundings.slack import width
from kfuzz.measure.roundings.text import commented
from kfuzz.oracle.numbers.elements import I64

pytestmark = pytest.mark.slow

EXTENSIONS = DATA / "extensions"
TWO = """\
#include <torch/extension.h>
__global__ void k(float *y, const float *x, int cols, float by) {}
torch::Tensor slow(torch::Tensor x) { return x; }
torch::Tensor fast(torch::Tensor x, int64_t dim, int threads) { return x; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("slow", &slow);
  m.def("fast", &fast, py::arg("x"), py::arg("dim") = 1, py::arg("threads") = 128);
}
"""


def bare(name: str, folder: Path) -> Path:
    """An extension of ours without its claim."""
    path = folder / f"{name}.cu"
    text = text_of(EXTENSIONS / f"{name}.cu")
    path.write_text(re.sub(r"// /// kernel.*?// ///\n", "", text, flags=re.DOTALL))
    return path


def kernel_of(path: Path, unclaimed: Unclaimed) -> Kernel:
    return kernel_with(path, unclaimed)


def kfuzz(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_forked("kfuzz", *words, cwd=cwd)


def test_a_function_of_tensors_has_its_claim_by_its_text(tmp_path: Path) -> None:
    path = bare("softmax_rows", tmp_path)
    kernel = kernel_of(path, Unclaimed("softmax", FunctionWords(home=(16, 16384))))
    assert (kernel.source, kernel.front.said) == (path.read_text(), "--op softmax --home 16x16384")
    assert [str(one) for one in kernel.entries] == ["softmax_forward(input, -1)"]
    assert kernel.home == {"rows": 16, "cols": 16384}
    assert (kernel.axes["rows"].hi, kernel.axes["cols"].hi) == (4096, 16384)
    only = kernel_of(path, Unclaimed("softmax", FunctionWords(home=(16, 128), only_home=True), "home"))
    assert [axis.listed for axis in only.axes.values()] == [(16,), (128,)]


@pytest.mark.soak
def test_a_function_that_is_handed_its_output_is_not_accused_of_the_order_of_its_arrays(tmp_path: Path) -> None:
    path = bare("out_row_sum", tmp_path)
    with CpuDevice() as cpu:
        kernel = kernel_of(path, Unclaimed("row_sum"))
        attempt = plan(kernel, random.Random(1).randint, budget=1 << 8)  # noqa: S311  sizes, nothing secret
        assert run_trial(kernel, attempt.case, attempt.tune, cpu, Probe()).errors == ()


def test_other_arguments_of_a_function_come_from_options_or_from_the_module(tmp_path: Path) -> None:
    path = tmp_path / "two.cu"
    path.write_text(TWO)
    fast = kernel_of(path, Unclaimed("softmax", FunctionWords("fast")))
    assert [str(one) for one in fast.entries] == ["fast(x, -1, 128)"]
    several = kernel_of(path, Unclaimed("softmax", FunctionWords("fast", arguments={"threads": ("64", "256")})))
    assert several.tune == {"threads": (64, 256)}


@pytest.mark.parametrize(
    ("unclaimed", "reported"),
    [
        (Unclaimed("softmax"), "it has slow, fast: say which computes softmax: --entry slow"),
        (Unclaimed("softmux"), "op='softmux': unknown op, did you mean softmax?"),
        (Unclaimed("softmax", FunctionWords("nix")), "no function nix; there are slow, fast"),
        (
            Unclaimed("softmax", FunctionWords("fast", home=(3,))),
            "--home: softmax has the sizes rows x cols; 1 are given",
        ),
        (Unclaimed("softmax", FunctionWords("fast", only_home=True)), "--shapes home: say which"),
    ],
)
def test_missing_information_is_asked_for_in_one_line(unclaimed: Unclaimed, reported: str, tmp_path: Path) -> None:
    path = tmp_path / "two.cu"
    path.write_text(TWO)
    with pytest.raises(ClaimError) as error:
        kernel_of(path, unclaimed)
    assert reported in str(error.value)
    assert "\n" not in str(error.value)


RAW = "__global__ void k(float *y, const float *x, int n) {}\nvoid f(%s) { k<<<1, 1>>>(out, in, n); }\n"


@pytest.mark.parametrize(
    ("parameters", "axes", "args"),
    [
        ("float *out, const float *in, int N, int C, int block_size", "rows cols", "out in rows cols 256"),
        ("float *out, const float *in, int cols, int rows", "rows cols", "out in cols rows"),
        ("float *out, const float *in, int N, const int block_size", "cols", "out in cols 256"),
    ],
)
def test_sizes_of_a_function_of_pointers_are_known_by_name_or_order(parameters: str, axes: str, args: str) -> None:
    *_, last = map(tomllib.loads, host_claims("softmax", RAW % parameters, FunctionWords("f")))
    assert list(last["axes"]) == axes.split()
    assert [str(one) for one in last["host"]["args"]] == args.split()


def test_a_function_that_takes_a_stream_gets_the_default_one() -> None:
    parameters = "float *out, const float *in, int rows, int cols, cudaStream_t stream"
    *_, last = map(tomllib.loads, host_claims("softmax", RAW % parameters, FunctionWords("f")))
    assert [str(one) for one in last["host"]["args"]] == ["out", "in", "rows", "cols", "nullptr"]


def test_an_argument_of_unknown_meaning_is_asked_for() -> None:
    parameters = "float *out, const float *in, int N, int C, int tile"
    reported = untold("softmax", RAW % parameters, FunctionWords("f"))
    assert reported.startswith("f: the names do not say what C, tile means: say --arg NAME=VALUE")
    of_tensors = "torch::Tensor forward(torch::Tensor x, int threads) {}"
    assert "threads" in untold("softmax", of_tensors, FunctionWords("forward"))  # nobody tries it before


def test_the_only_function_of_a_file_without_kernels_of_its_own_is_named_by_what_it_lacks(tmp_path: Path) -> None:
    source = '#include "kernels.cuh"\ntorch::Tensor gated(torch::Tensor both) {}\n'
    with pytest.raises(ClaimError, match="gated: it takes one array; swiglu has -> a, -> b, <- y: write its claim"):
        guessed(tmp_path / "mine.cu", source, "swiglu")


def test_how_much_a_claim_allows_is_known_of_a_single_row(tmp_path: Path) -> None:
    source = RAW % "float *out, const float *in, int N, const int block_size"
    *_, last = host_claims("softmax", source, FunctionWords("f"))
    claim = commented(last)
    (tmp_path / "row.cu").write_text(f"{OPENS}\n{claim}\n{CLOSES}\n{source}")
    kernel, row = load(tmp_path / "row.cu"), np.arange(5, dtype=np.float32)
    accuracy = kernel.bind({"x": row}, {}).accuracy
    assert 0 < width(kernel, {"x": row}, accuracy) == width(kernel, {"x": row[None]}, accuracy)


def test_a_long_name_of_a_function_or_a_path_is_whole_in_its_claim() -> None:
    """It was cut as messages cut a long value, and the claim was no TOML then."""
    name, path = f"dequantize_{'with_a_scale_' * 6}reference", f"/{'folder/' * 12}problem.py"
    claim = tomllib.loads(claim_by_reference(FunctionWords(name, arguments={"mode": (name,)}), Path(f"{path}:{name}")))
    assert claim["call"] == {"reference": f"{path}:{name}", "entry": name, "given": {"mode": name}}


def test_a_file_with_a_claim_of_its_own_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "own.cu"
    path.write_text((EXTENSIONS / "accessor_row_sum.cu").read_text())
    assert kernel_of(path, Unclaimed("softmax")).op == "row_sum"


def test_a_claim_for_many_files_says_what_they_have_in_common(tmp_path: Path) -> None:
    claim = tmp_path / "softmax.toml"
    claim.write_text('op = "softmax"\nhome = { rows = 4, cols = 32 }\n\n[values]\nnan = "row"\n')
    kernel = kernel_of(bare("softmax_rows", tmp_path), Unclaimed(claim=claim))
    assert (kernel.home, kernel.op) == ({"rows": 4, "cols": 32}, "softmax")
    assert '[values]\nnan = "row"' in kernel.front.toml
    claim.write_text('op = "softmax"\nlaunches = 3\n')
    with pytest.raises(ClaimError, match="launches: a claim for many files may have op, entry"):
        kernel_of(bare("softmax_rows", tmp_path), Unclaimed(claim=claim))


@pytest.mark.soak
def test_a_folder_of_answers_is_fuzzed_and_what_does_not_compile_is_counted(tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    answers.mkdir()
    bare("softmax_rows", answers)
    bare("wrong_missing_barrier", answers)
    (answers / "half_written.cu").write_text("__global__ void k( {\n")
    right = (answers / "softmax_rows.cu").read_text()
    (answers / "unknown_word.cu").write_text(right.replace("empty_like", "emptied_like"))
    fixed = ("--op", "softmax", "--device", "cpu", "--jobs", "1", "--seed", "1", "--json", "j.json")
    found = kfuzz("fuzz", "answers", *fixed, "--max-cases", "18", "--out", "state", cwd=tmp_path)
    assert found.returncode == 1, found.stderr
    report = json.loads((tmp_path / "j.json").read_text())
    by_name = {one["name"]: one for one in report["kernels"]}
    assert by_name["wrong_missing_barrier"]["findings"]
    assert not by_name["softmax_rows"]["findings"]
    assert "emptied_like" in by_name["unknown_word"]["error"]
    assert "half_written" in report["unusable"][0]
    replay = next(line.split()[1:] for line in found.stdout.splitlines() if line.startswith("  replay "))
    assert replay[-4:] == ["--kernel", "answers/wrong_missing_barrier.cu", "--op", "softmax"]
    again = kfuzz(*replay[1:], "--device", "cpu", cwd=tmp_path)
    assert (again.returncode, again.stdout[:6]) == (1, "broken"), again.stderr
    (answers / "wrong_missing_barrier.cu").unlink()
    goes_on = kfuzz("fuzz", "answers", *fixed, "--max-cases", "19", "--out", "state", cwd=tmp_path)
    assert goes_on.returncode == 0, goes_on.stderr


@pytest.mark.soak
def test_a_refusal_is_reported_in_one_line(tmp_path: Path) -> None:
    path = bare("softmax_rows", tmp_path)
    path.write_text(path.read_text().replace("CHECK_INPUT(input);", 'TORCH_CHECK(input.size(1) < 3, "few columns");'))
    found = kfuzz(
        "fuzz", path.name, "--op", "softmax", "--device", "cpu", "--max-cases", "6", "--seed", "1", cwd=tmp_path
    )
    line = next(number for number, one in enumerate(path.read_text().splitlines(), 1) if "few columns" in one)
    assert f"softmax_rows: some arguments are refused: line {line}: few columns" in found.stdout


BARE = list_extensions(EXTENSIONS / "bare")
IN_THE_SUITE = ("bias_gelu_fused", "wrong_bias_of_the_row")
TRIALS, MOST = 40, 60


@pytest.mark.parametrize(
    "path", [pytest.param(one, id=one.stem, marks=() if one.stem in IN_THE_SUITE else pytest.mark.soak) for one in BARE]
)
def test_an_extension_without_a_claim_is_kept_or_found(path: Path, cpu: CpuDevice) -> None:
    kernel, kinds = kernel_of(path, Unclaimed(words_of(path, "op")[0])), kinds_of(path)
    reported = re.search(r"^// told: (.*)$", text_of(path), re.MULTILINE)
    seen: set[str] = set()
    judged = 0
    for seed in range(MOST if kinds else TRIALS):
        attempt = plan(kernel, random.Random(seed).randint, budget=1 << 12)  # noqa: S311  sizes, nothing secret
        trial = run_trial(kernel, attempt.case, attempt.tune, cpu, Probe(check=seed % 3 == 2))
        seen |= {defect.kind for defect in trial.errors}
        judged += trial.elements
        if seen & kinds and (not reported or any(re.search(reported[1], defect.message) for defect in trial.errors)):
            return
    assert (seen, judged > 100) == (set(), True)
    assert not kinds


OF_INTEGERS = """\
#include <torch/extension.h>
__global__ void k(float *y, const int *q, const float *s, const int *z, int n, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaf((float)q[i], s[i / cols], -(float)z[i / cols] * s[i / cols]);
}
torch::Tensor forward(torch::Tensor q, torch::Tensor scale, torch::Tensor zero) {
  auto y = torch::empty({q.size(0), q.size(1)}, scale.options());
  int n = q.numel();
  k<<<(n + 255) / 256, 256>>>(y.data_ptr<float>(), q.data_ptr<int>(), scale.data_ptr<float>(), zero.data_ptr<int>(), n,
                              q.size(1));
  return y;
}
"""


def test_arrays_of_an_op_are_of_its_types_and_sizes_as_its_rules_have_them(tmp_path: Path, cpu: CpuDevice) -> None:
    file = tmp_path / "scales.cu"
    file.write_text(OF_INTEGERS)
    kernel = kernel_of(file, Unclaimed(op="dequantize"))
    assert {name: str(array.element) for name, array in kernel.arrays.items()} == {
        "q": "i32", "scale": "f32", "zero": "i32", "result_y": "f32"
    }  # fmt: skip
    for seed in range(20):
        attempt = plan(kernel, random.Random(seed).randint, budget=1 << 12)  # noqa: S311  sizes, nothing secret
        assert run_trial(kernel, attempt.case, attempt.tune, cpu, Probe()).errors == ()
    turned = tmp_path / "turned.cu"
    turned.write_text(
        "#include <torch/extension.h>\n"
        "torch::Tensor forward(torch::Tensor x, torch::Tensor cos, torch::Tensor sin) { return x; }"
    )
    assert [rule.text for rule in kernel_of(turned, Unclaimed(op="rotary")).where.conditions] == ["d == 2 * half"]


PLACES = """\
#include <torch/extension.h>
__global__ void k(int64_t *y, const float *x, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x, best = 0;
  if (r >= rows) return;
  for (int j = 1; j < cols; j++) best = x[r * cols + j] > x[r * cols + best] ? j : best;
  y[r] = best;
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options().dtype(torch::kLong));
  k<<<(x.size(0) + 63) / 64, 64>>>(y.data_ptr<int64_t>(), x.data_ptr<float>(), x.size(0), x.size(1));
  return y;
}
"""


@pytest.mark.parametrize(
    ("was", "becomes", "kinds"), [("", "", set()), pytest.param("> x", "< x", {"numeric"}, marks=pytest.mark.soak)]
)
def test_places_of_64_bits_are_taken_as_torch_has_them(
    was: str, becomes: str, kinds: set[str], tmp_path: Path, cpu: CpuDevice
) -> None:
    file = tmp_path / "places.cu"
    file.write_text(PLACES.replace(was, becomes))
    kernel = kernel_of(file, Unclaimed(op="argmax"))
    assert kernel.arrays["result_index"].element is I64
    seen: set[str] = set()
    for seed in range(12):
        attempt = plan(kernel, random.Random(seed).randint, budget=1 << 12)  # noqa: S311  sizes, nothing secret
        seen |= {found.kind for found in run_trial(kernel, attempt.case, attempt.tune, cpu, Probe()).errors}
    assert seen == kinds
