"""Definitions that no entry reaches are not compiled, and may use features that the cpu device lacks."""

from pathlib import Path
from time import process_time

import numpy as np
import pytest
from our_kernels import every_kernel
from planted_jobs import floats, job_of

from kfuzz.common.text.cuda_text import blank_non_code
from kfuzz.common.text.headers import SourceFile
from kfuzz.devices import ClaimError, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.cpu.programs.build import compile_source
from kfuzz.devices.cpu.programs.command_line import NvccSource
from kfuzz.devices.cpu.reach import blank_out, find_unreached
from kfuzz.devices.cpu.translate import translate

pytestmark = pytest.mark.slow

DOUBLES = "__global__ void k(float *y, const float *x) { y[threadIdx.x] = 2.0f * x[threadIdx.x]; }\n"

BESIDE = {
    "a kernel with inline PTX": '__global__ void other(float *y) { asm volatile("tld4;"); }',
    "one that is declared first": '__global__ void other(float *y);\n__global__ void other(float *y) { asm("tld4;"); }',
    "a template that is instantiated": "template <int N> __global__ void other(float *y) { wmma::fill(y, N); }\n"
    "template __global__ void other<3>(float *);",
    "a host function that launches": "void run(float *y) { k<<<1, 32>>>(y, y); }\nint main() { run(0); }",
    "a host function with the runtime's calls": "void run() { CHECK(cudaDeviceSynchronize()); undeclared_there(); }",
    "a macro with PTX": '#define PTX(x) asm volatile(x)\n__device__ void other() { PTX("tld4;"); }',
    "headers of the toolkit": "#include <thrust/sort.h>\n#include <mma.h>\nusing namespace nvcuda;\n"
    "void sort(float *y) { thrust::sort(y, y); }",
    "extern C": 'extern "C" { __global__ void other(float *y) { tex1D<float>(y); } }',
    "a namespace": "namespace a { namespace { __device__ float f(float x) { return __no_such_intrinsic(x); } } }",
    "launch bounds and attributes": "__global__ void __launch_bounds__(4 * (8)) __attribute__((hot)) o()"
    ' { asm("tld4;"); }',
    "a constructor with braces": 'struct S { float a; S(float x); };\nS::S(float x) : a{x} { asm("tld4;"); }',
}


@pytest.mark.parametrize("names", [[*BESIDE], *(pytest.param([name], marks=pytest.mark.soak) for name in BESIDE)])
def test_definitions_that_no_entry_reaches_do_no_harm(names: list[str]) -> None:
    beside = "".join(f"{BESIDE[name]}\n" for name in names)
    for text in (beside + DOUBLES, DOUBLES + beside):
        with CpuDevice() as device:
            outcome = device.run(job_of(text, ("k",), "k", {"y": "f32[4]", "x": floats(4)}, block=4), Probe())
        assert outcome.runs[0].outputs["y"].tolist() == [2, 4, 6, 8]


@pytest.mark.parametrize(
    "text",
    [
        '__device__ float twice(float x) { asm("tld4;"); return 2.0f * x; }\n' + DOUBLES.replace("2.0f *", "twice"),
        '#define TWICE(x) two(x)\n__device__ float two(float x) { asm("tld4;"); return 2.0f * x; }\n'
        + DOUBLES.replace("2.0f * x[threadIdx.x]", "TWICE(x[threadIdx.x])"),
        'struct S { __device__ static float of(float x) { asm("tld4;"); return x; } };\n'
        + DOUBLES.replace("x[threadIdx.x]", "S::of(x[threadIdx.x])"),
    ],
)
def test_an_unsupported_feature_that_an_entry_reaches_is_refused_with_its_line(text: str) -> None:
    with (
        pytest.raises(ClaimError, match=r"^planted\.cu:\d: the cpu device does not have the PTX instruction tld4"),
        CpuDevice() as device,
    ):
        device.run(job_of(text, ("k",), "k", {"y": "f32[4]", "x": floats(4)}, block=4), Probe())


def test_a_refused_program_gets_the_line_and_no_advice_of_a_gpu(tmp_path: Path) -> None:
    path = tmp_path / "graph.cu"
    path.write_text(
        "int main() {\n  cudaGraphNode_t node;\n  return cudaGraphAddBatchMemOpNode(&node, 0, 0, 0, 0);\n}\n"
    )
    with pytest.raises(ClaimError) as error:
        compile_source(NvccSource(path, "cu"), ())
    assert str(error.value) == f"{path}:3: the cpu device does not have this part of CUDA graphs"


def test_a_header_may_need_a_definition_that_nothing_else_uses(tmp_path: Path, device: CpuDevice) -> None:
    (tmp_path / "twice.cuh").write_text("__device__ inline float by_header(float x) { return twice(x); }\n")
    text = '__device__ float twice(float x) { return 2.0f * x; }\n#include "twice.cuh"\n' + DOUBLES.replace(
        "2.0f * x[threadIdx.x]", "by_header(x[threadIdx.x])"
    )
    job = job_of(text, ("k",), "k", {"y": "f32[4]", "x": floats(4)}, block=4, flags=(f"-I{tmp_path}",))
    assert device.run(job, Probe()).runs[0].outputs["y"].tolist() == [2, 4, 6, 8]


def test_lines_stay_where_they_are_and_brackets_that_do_not_match_keep_everything() -> None:
    text = "\n".join(BESIDE.values()) + "\n" + DOUBLES
    assert translate([SourceFile(Path("k.cu"), text)], entries=("k",)).texts[0].count("\n") == text.count("\n")
    halves = "#if X\nvoid f(int a) {\n#else\nvoid f(float a) {\n#endif\n}\n" + DOUBLES
    assert find_unreached(blank_non_code(halves), ("k",)) == []


def test_a_kernel_is_reached_by_a_name_that_a_macro_puts_together() -> None:
    kernels = "".join(f"__global__ void twice_{one}_kernel(float *y) {{}}\n" for one in ("f32", "f16"))
    macro = "#define BIND(tag, N)  \\\n  void twice_##tag(float *y) { twice_ ## tag##_kernel<<<1, N>>>(y); }\n"
    text = f"{kernels}__global__ void half_f32(float *y) {{}}\n{macro}BIND(f32, 4)\n"
    assert [one.name for one in find_unreached(blank_non_code(text), ("twice_f32",))] == ["half_f32"]
    unused = text.replace("BIND(f32, 4)", DOUBLES)
    assert {one.name for one in find_unreached(blank_non_code(unused), ("k",))} >= {"BIND", "twice_f32_kernel"}


def test_each_function_of_our_own_kernels_is_reached() -> None:
    found = {
        kernel.name: find_unreached(blank_non_code(kernel.source), map(str, kernel.entries))
        for kernel in every_kernel()
    }
    assert {name: [one.name for one in idle] for name, idle in found.items() if idle} == {}
    assert np.any([find_unreached(blank_non_code(kernel.source), ("nobody",)) for kernel in every_kernel()[:1]])


MANY = """
template <class T, int N = {i}> __device__ T operator+(Box{i}<T> a, Box{i}<T> b) {{ return {{a.x + b.x}}; }}
#define M{i}(x) f{i}(x)
template <class T> struct Box{i} {{ T x; }};
template <class T, int N> __launch_bounds__(32) T f{i}(T x) {{ return f{before}(x) + T{{1}}; }}
"""


def seconds_to_read(count: int) -> float:
    """Processor time for `count` groups of definitions; an entry reaches half of the chain of functions."""
    groups = "".join(MANY.format(i=i, before=i - 1) for i in range(count))
    code = f"{groups}__global__ void k(float *y) {{ y[0] = f{count // 2}(y[0]); }}\n"
    begun = process_time()
    idle = find_unreached(code, ("k",))
    blank_out(code, ((one.start, one.end) for one in idle))
    assert {one.name for one in idle if one.name[0] == "f"} == {f"f{i}" for i in range(count // 2 + 1, count)}
    return process_time() - begun


def test_the_time_is_linear_in_the_text() -> None:
    """Sixteen times the text takes 16 times as long, not 256 times: 64 is between the two."""
    seconds_to_read(20)
    assert seconds_to_read(1600) < 64 * max(seconds_to_read(100), 1e-3)


def test_an_operator_ends_with_its_body() -> None:
    text = "struct S { int x; };\nS operator+(S a, S b) { return {a.x + b.x}; }\nint idle() { return 1; }\n" + DOUBLES
    assert [one.name for one in find_unreached(text, ("k",))] == ["idle"]
    constrained = text.replace("S operator+", "template <class T> requires requires(T t) { t.x; } S operator+")
    assert find_unreached(constrained, ("k",)) == []
