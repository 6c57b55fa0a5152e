"""Whole programs through nvcc: right ones have no finding and print as a GPU does, wrong ones are found by lines."""

from functools import partial
from pathlib import Path

import pytest
from paths import DATA
from program_runs import built, check_program
from with_nvcc import needs_nvcc

from kfuzz.devices import ClaimError
from kfuzz.devices.cpu.programs.through_nvcc import REGISTER, number_lines, own_name

PROGRAM = """\
#include <cstdio>
__constant__ float weights[4];
__device__ int counter;
__managed__ int flag;
template <int N> __global__ void scaled(float *to, const float *from, int n) {
  extern __shared__ float tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? from[i] : 0;
  __syncthreads();
  if (i < n) to[i] = tile[threadIdx.x] * weights[i % N];
  if (i == 0) flag = atomicAdd(&counter, 1) + 7;
}
int main() {
  const int n = 300;
  float *a, *b, h[n], w[4] = {1, 2, 3, 4};
  for (int i = 0; i < n; i++) h[i] = float(i);
  cudaMalloc(&a, n * sizeof *a);
  cudaMalloc(&b, n * sizeof *b);
  cudaMemcpyToSymbol(weights, w, sizeof w);
  cudaMemcpy(a, h, n * sizeof *a, cudaMemcpyHostToDevice);
  scaled<4><<<3, 128, 128 * sizeof(float)>>>(b, a, n);
  cudaMemcpy(h, b, n * sizeof *b, cudaMemcpyDeviceToHost);
  int count = 0;
  cudaMemcpyFromSymbol(&count, counter, sizeof count);
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  printf("%g %d %d %d\\n", h[299], count, flag, p.warpSize);
  cudaFree(a);
  return 0;
}
"""
BUGS = {
    "race": ("  __syncthreads();\n", "", "tile[threadIdx.x] *", "tile[127 - threadIdx.x] *"),
    "out-of-bounds": ("i < n ? from[i]", "i <= n ? from[i]"),
    "uninitialised": ("  cudaMemcpy(a, h, n * sizeof *a, cudaMemcpyHostToDevice);\n", "\n"),
    "use-after-free": ("  scaled<4>", "  cudaFree(a); scaled<4>"),
    "illegal-address": ("  return 0;", "  return int(b[0]);"),
}
EACH_TIME = ("race", "out-of-bounds")
"""The others are run by make soak."""
PLACES = {
    "race": "tile[threadIdx.x] = i",
    "out-of-bounds": "from[i]",
    "uninitialised": "from[i]",
    "use-after-free": "from[i]",
    "illegal-address": "return int(b[0])",
}


def changed(kind: str) -> str:
    """The program with a bug of this kind."""
    text, words = PROGRAM, BUGS[kind]
    for old, new in zip(words[::2], words[1::2], strict=True):
        assert old in text
        text = text.replace(old, new, 1)
    return text


def build_text(folder: Path, text: str, *words: str) -> Path:
    (folder / "own.cu").write_text(text)
    return built(folder, str(folder / "own.cu"), *words, through_nvcc=True)


@needs_nvcc
@pytest.mark.slow
def test_a_right_program_has_no_finding_and_prints_what_a_gpu_prints(tmp_path: Path) -> None:
    right, findings = check_program(build_text(tmp_path, PROGRAM))
    assert findings == []
    assert {one.output for one in right.printed} == {"1196 1 7 32\n"}
    assert {one.exit_code for one in right.printed} == {0}


@needs_nvcc
@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(one, marks=() if one in EACH_TIME else pytest.mark.soak) for one in BUGS]
)
def test_a_bug_is_found_on_its_line(tmp_path: Path, kind: str) -> None:
    text = changed(kind)
    _, findings = check_program(build_text(tmp_path, text))
    lines = {one.line for one in findings if (one.kind, one.severity) == (kind, "error")}
    wanted = next(number for number, line in enumerate(text.split("\n"), 1) if PLACES[kind] in line)
    assert wanted in lines or wanted + 1 in lines, findings


@pytest.mark.soak
@needs_nvcc
@pytest.mark.slow
def test_an_array_has_its_name_and_a_finding_the_calls_that_lead_to_it(tmp_path: Path) -> None:
    _, findings = check_program(build_text(tmp_path, changed("out-of-bounds")))
    (one,) = findings
    assert (one.array, one.index) == ("a", 300)
    assert "a has 300 floats (cudaMalloc, own.cu:17)" in one.message
    assert any(call.startswith("main (line 21)") for call in one.calls)


@needs_nvcc
@pytest.mark.slow
def test_files_keep_their_own_variables_and_kernels_of_one_name(tmp_path: Path) -> None:
    text = "{}__device__ int seen = {}; {}__global__ void k(int *p) {{ *p = seen; }}\n"
    call = "{ int *p, h; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost); return h; }"
    (tmp_path / "a.cu").write_text(
        f"{text.format('', 3, '')}int of_b();\nint main() {call[:-11]} return h - of_b(); }}\n"
    )
    (tmp_path / "b.cu").write_text(f"{text.format('static ', 5, 'static ')}int of_b() {call}\n")
    program = built(tmp_path, str(tmp_path / "a.cu"), str(tmp_path / "b.cu"), through_nvcc=True)
    ran, findings = check_program(program)
    assert findings == []
    assert {one.exit_code for one in ran.printed} == {-2}


@needs_nvcc
@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words", "why"),
    [
        ("int main() { return wrong; }", (), r"own.cu:1: nvcc: identifier \"wrong\" is undefined"),
        pytest.param("__global__ void k() {}", (), r"none of these files has a main\(\)", marks=pytest.mark.soak),
        (
            "int main() { cudaGraphicsUnregisterResource(0); }",
            (),
            "cudaGraphicsUnregisterResource: .* leave out --through",
        ),
        ("thread_local int own; int main() { return own; }", (), "own.cu: own is thread_local"),
        ("int main() {}", ("-rdc=true",), "-rdc=true: kfuzz links no device code of several files"),
    ],
)
def test_what_is_not_taken_is_one_line(tmp_path: Path, text: str, words: tuple[str, ...], why: str) -> None:
    with pytest.raises(ClaimError, match=why) as refused:
        build_text(tmp_path, text, *words)
    assert "\n" not in str(refused.value)


@needs_nvcc
@pytest.mark.soak
@pytest.mark.parametrize(
    "name", ["last_block_adds_up", "histogram_in_shared", "freed_too_early", "functors_and_lambdas"]
)
def test_right_programs_have_no_finding_and_the_same_with_a_bug_have_one(name: str, tmp_path: Path) -> None:
    source = str(DATA / "programs" / f"{name}.cu")
    build = partial(built, tmp_path, source, "--extended-lambda", through_nvcc=True)
    assert check_program(build())[1] == []
    assert [one for one in check_program(build("-DBUG"))[1] if one.severity == "error"]


def test_lines_of_the_author_have_numbers_and_wrappers_of_the_api_no_places() -> None:
    of_cuda = '# 31895 "/cuda/include/cuda_runtime.h"\nstatic inline cudaError_t f();\n'
    host = f'# 7 "a.cu"\nint x;\n{of_cuda}# 1 "o.h"\nint y;\n'
    made = "".join(number_lines(host, {Path("a.cu").resolve(): 3}))
    assert '# 3000007 "kernel.cu"\nint x;' in made
    assert "static inline __attribute__((always_inline)) cudaError_t f();" in made
    assert '# 1 "o.h"\nint y;' in made


def test_functions_of_cuda_get_our_names_unless_they_take_the_same_parameters() -> None:
    path = Path("a.cu")
    names = {one: own_name(one, path) for one in ("cudaFree", "cudaMalloc_ptds", "cudaDeviceSynchronize", REGISTER)}
    assert names["cudaFree"] == "kfuzz_nvcc_cudaFree"
    assert names["cudaMalloc_ptds"] == "kfuzz_nvcc_cudaMalloc"
    assert names["cudaDeviceSynchronize"] == "cudaDeviceSynchronize"
    assert names[REGISTER] != own_name(REGISTER, Path("b.cu"))
