"""Classes of false positives: correct files of each are not accused, and the same files with a bug are found.

| class                              | a right file beside a wrong one                                            |
|------------------------------------|-----------------------------------------------------------------------------|
| lanes that never meet              | pairs/lanes_*: an error only where the answer depends on what they give      |
| races inside one warp              | pairs/warp_*: the race is named, not the sum that comes of it                |
| what g++ takes and nvcc refuses    | REFUSED and TAKEN, both tried with nvcc itself where there is one            |
| the shim is not torch              | pairs/*_of_a_view, sums_*, and REFUSED_BY_THE_SHIM beside what it does       |
| functions that a kernel may call   | pairs/marked_by_a_macro                                                      |
| what outlives a call               | pairs/workspace_*, known_by_its_place, result_of_its_own, set_up_once        |
| torch's own operations             | pairs/ops_*, kernel_beside_a_guard, number_read_too_early                    |
"""

import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import DATA

from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.campaign.trials.unjudged import unjudged_text
from kfuzz.cases.plans.plan import plan
from kfuzz.common.text.headers import SourceFile
from kfuzz.devices import ClaimError, DeviceError, Probe, nvcc
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.cpu.translate import translate
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

PAIRS = sorted((DATA / "extensions" / "pairs").glob("*.cu"))
TRIALS, MOST = 30, 40


def said_in(text: str, what: str) -> set[str]:
    """The words behind `// what: ` at the top of a file."""
    found = re.search(rf"^// {what}: (.*)$", text, re.MULTILINE)
    return set(found[1].split()) if found else set()


def trials(path: Path, cpu: CpuDevice, count: int) -> Iterator[Trial]:
    kernel = kernel_with(path, Unclaimed(next(iter(said_in(path.read_text(), "op")))))
    for seed in range(count):
        attempt = plan(kernel, random.Random(seed).randint, budget=1 << 12)  # noqa: S311  sizes, nothing secret
        yield run_trial(kernel, attempt.case, attempt.tune, cpu, Probe(check=seed % 3 == 2))


@pytest.mark.soak
@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.stem)
def test_a_right_file_is_not_accused_and_the_same_with_a_bug_is_found(
    path: Path, cpu: CpuDevice, tmp_path: Path
) -> None:
    text = path.read_text()
    done = list(trials(path, cpu, TRIALS))
    assert [one.errors for one in done if one.errors] == []
    assert {defect.kind for one in done for defect in one.defects} == said_in(text, "told")
    assert sum(one.elements for one in done) > 100
    wrong = tmp_path / path.name
    wrong.write_text(f"#define BUG\n{text}")
    kinds = said_in(text, "bug")
    assert any({defect.kind for defect in one.errors} & kinds for one in trials(wrong, cpu, MOST))


KERNEL = "__global__ void k(float *y, int n) {{ {} }}\nvoid run(float *y) {{ k<<<1, 32>>>(y, 3); }}\n"
ASKED = "float asked(float x) { return 2 * x; }\n"
REFUSED = {
    "a value of shared memory": (KERNEL.format("__shared__ float a = 0; y[0] = a;"), "cannot have an initial value"),
    "a constant that is written": ("__constant__ float c;\n" + KERNEL.format("c = n; y[0] = c;"), "c is __constant__"),
    "a constant that is counted up": ("__constant__ int c;\n" + KERNEL.format("y[0] = n; ++c;"), "c is __constant__"),
    "a function of the host": (ASKED + KERNEL.format("y[n] = asked(y[n]);"), "calls asked(), which is a host function"),
}
TAKEN = {
    "an array of so many": "constexpr int c = 2;\n"
    + KERNEL.format("__shared__ float a[c == 2 ? 4 : 8]; a[n] = 1; y[0] = a[n];"),
    "a constant that is compared": "__constant__ int c;\n"
    + KERNEL.format("if (c == n) y[0] = c; else if (c <= 2) y[1] = c;"),
    "a local of a constant's name": "__constant__ float c;\n" + KERNEL.format("float c = 1; c = c + n; y[0] = c;"),
    "a member of a constant's name": "struct S { float c; };\n__constant__ float c;\n"
    + KERNEL.format("S s; s.c = c; y[0] = s.c;"),
    "an element of a constant": "__constant__ float c[4];\n" + KERNEL.format("c[n] = 1; y[0] = c[0];"),
    "the host writes no constant": "__constant__ float c;\n"
    + KERNEL.format("y[0] = c;")
    + "void set(float c) { c = 2; }\n",
    "a function that is constexpr": "constexpr "
    + ASKED
    + KERNEL.format("y[n] = asked(2);").replace("asked(2)", "asked(y[n])"),
    "a function for both": "#define HD __host__ __device__\nHD " + ASKED + KERNEL.format("y[n] = asked(y[n]);"),
    "one for each": f"__device__ double asked(double x) {{ return x; }}\n{ASKED}" + KERNEL.format("y[n] = asked(1.0);"),
    "a lambda of that name": ASKED + KERNEL.format("auto asked = [](float x) { return x; }; y[n] = asked(y[n]);"),
    "a method of that name": "struct S { __device__ float asked(float x) { return x; } };\n"
    + ASKED
    + KERNEL.format("S s; y[n] = s.asked(1);"),
    "a macro of that name": "#define asked(x) (2 * (x))\n" + KERNEL.format("y[n] = asked(y[n]);"),
}


def reason_of(text: str) -> str:
    """Why a file is refused as nvcc would; empty where it is not."""
    try:
        translate([SourceFile(Path("mine.cu"), text, ())], ["mine.cu"], None, with_host=True)
    except ClaimError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", REFUSED)
def test_text_that_nvcc_refuses_is_reported_with_its_line(name: str) -> None:
    text, why = REFUSED[name]
    assert re.match(r"mine\.cu:\d+: nvcc would refuse this: ", reason_of(text))
    assert why in reason_of(text)


@pytest.mark.parametrize("name", TAKEN)
def test_what_nvcc_takes_is_not_refused(name: str) -> None:
    assert reason_of(TAKEN[name]) == ""


def is_taken_by_nvcc(text: str, folder: Path) -> bool:
    path = folder / "mine.cu"
    path.write_text(text)
    command = [nvcc.find_nvcc(), "-c", "-w", "--expt-relaxed-constexpr", str(path), "-o", str(folder / "mine.o")]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.soak
def test_nvcc_itself_takes_and_refuses_these(tmp_path: Path) -> None:
    try:
        nvcc.find_nvcc()
    except DeviceError as error:
        pytest.skip(str(error))
    assert [name for name, (text, _) in REFUSED.items() if is_taken_by_nvcc(text, tmp_path)] == []
    assert [name for name, text in TAKEN.items() if not is_taken_by_nvcc(text, tmp_path)] == []


FORWARD = """\
// op: row_sum
#include <torch/extension.h>
torch::Tensor forward(torch::Tensor x) {{ {} }}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("forward", &forward); }}
"""
REFUSED_BY_THE_SHIM = {
    "types that differ": ("return x + x.to(torch::kDouble);", "kfuzz does not promote types: Float and Double"),
    "a sum of integers": ("return x.to(torch::kInt).sum(1);", "kfuzz does not promote types: a sum of Int"),
    "half of an integer": ("return x.to(torch::kLong) / 2;", "kfuzz does not promote types: arithmetic with a number"),
    "layouts that differ": (
        "auto y = x.expand({2, x.size(0), x.size(1)}); return y.transpose(0, 2) + y.transpose(0, 1).contiguous();",
        r"do not go together|how torch lays out",
    ),
    "a copy of a view with gaps": (
        "return torch::empty_like(x.t().slice(0, 0, -1, 2).slice(1, 0, -1, 2));",
        "lays out|wrong-shape",
    ),
}
LACKS = {
    "an order of dimensions": "return x.contiguous(torch::MemoryFormat::ChannelsLast).sum(1);",
    "an op of torch's": "return torch::logcumsumexp(x, 1).sum(1);",
    "an op along a dimension": "return std::get<0>(x.max(1));",
}


def forward(body: str, folder: Path) -> Path:
    path = folder / "mine.cu"
    path.write_text(FORWARD.format(body))
    return path


@pytest.mark.soak
@pytest.mark.parametrize("name", REFUSED_BY_THE_SHIM)
def test_where_the_shim_is_not_torch_it_refuses_and_says_so(name: str, cpu: CpuDevice, tmp_path: Path) -> None:
    body, why = REFUSED_BY_THE_SHIM[name]
    done = list(trials(forward(body, tmp_path), cpu, 12))
    reasons = {unjudged_text(reason) for one in done for reason in one.reasons} | {
        d.kind for one in done for d in one.defects
    }
    assert any(re.search(why, reason) for reason in reasons), reasons


@pytest.mark.soak
@pytest.mark.parametrize("name", LACKS)
def test_what_the_shim_lacks_does_not_compile(name: str, cpu: CpuDevice, tmp_path: Path) -> None:
    with pytest.raises(ClaimError, match=r"mine\.cu:3"):
        list(trials(forward(LACKS[name], tmp_path), cpu, 1))
