"""Headers of CuTe and CUTLASS, which a user has: only inline PTX and macros that are directives are replaced."""

import os
from pathlib import Path

import pytest
from program_runs import built

from kfuzz.common.text.headers import SourceFile, sources
from kfuzz.devices import UnsupportedError
from kfuzz.devices.cpu.library_headers import is_of_library, translate_header
from kfuzz.devices.cpu.translate import translate

HEADER = """\
#define CUTE_UNROLL #pragma unroll
struct Fence { static void fma(float &d) {
  asm volatile("wgmma.fence.sync.aligned;\\n"
               ::: "memory");
  asm volatile("tcgen05.shift.cta_group::1.down;");
} };
"""


def test_a_header_of_a_library_keeps_its_lines_and_refuses_at_run_time() -> None:
    lines = translate_header(HEADER, Path("include/cute/arch/fence.hpp")).splitlines()
    assert lines[0] == "#define CUTE_UNROLL"
    assert "cuda_on_cpu_wgmma_fence()" in lines[2]
    refusal = "fence.hpp:5: the cpu device does not have the PTX instruction tcgen05.shift.cta_group::1.down"
    assert f'::cuda_on_cpu::ptx_refused("{refusal}, which runs on the GPU alone");' in lines[4]
    assert len(lines) == len(HEADER.splitlines())


def test_a_launch_in_a_header_of_a_library_is_one_if_there_is_a_host() -> None:
    text = "template <class K> void run(dim3 grid) {\n  device_kernel<K><<<grid, 32>>>(1);\n}\n"
    path = Path("include/cutlass/kernel_launch.h")
    assert translate_header(text, path) == text
    assert "::cuda_on_cpu::Launch(__LINE__, grid, 32)" in translate_header(text, path, with_host=True).splitlines()[1]


@pytest.mark.parametrize(
    ("path", "is_so"), [("a/cute/tensor.hpp", True), ("a/cutlass/arch/x.h", True), ("a/cute.h", False)]
)
def test_a_header_belongs_to_a_library_by_its_folder(path: str, is_so: bool) -> None:
    assert is_of_library(Path(path)) == is_so


def test_a_file_may_name_cute_where_its_headers_are_and_nowhere_else(tmp_path: Path) -> None:
    header = tmp_path / "include" / "cute" / "tensor.hpp"
    header.parent.mkdir(parents=True)
    header.write_text("namespace cute { struct Int {}; }\n", encoding="utf-8")
    text = "#include <cute/tensor.hpp>\n__global__ void k(float *y) { cute::Int one; y[0] = sizeof one; }\n"
    files = sources(tmp_path / "k.cu", text, (f"-I{tmp_path / 'include'}",))
    made = translate(files, ("kernel.cu", "headers/1.h"), ("k",))
    assert '#include "headers/1.h"' in made.texts[0]
    with pytest.raises(UnsupportedError, match=r"k\.cu:2: the cpu device does not have CUTLASS"):
        translate((SourceFile(tmp_path / "k.cu", text),), ("kernel.cu",), ("k",))


def test_an_instruction_in_a_header_of_a_program_refuses_at_run_time_and_in_its_source_at_once(tmp_path: Path) -> None:
    lines = '__device__ void f() {\n  asm volatile("tcgen05.shift.cta_group::1.down;");\n}\n'
    (tmp_path / "f.cuh").write_text(lines, encoding="utf-8")
    files = sources(tmp_path / "p.cu", '#include "f.cuh"\nint main() {}\n', ())
    made = translate(files, ("kernel.cu", "headers/1.h"), with_host=True)
    assert 'ptx_refused("f.cuh:2: the cpu device does not have' in made.texts[1]
    with pytest.raises(UnsupportedError, match=r"p\.cu:2: .* tcgen05\.shift\.cta_group::1\.down"):
        translate((SourceFile(tmp_path / "p.cu", lines),), ("kernel.cu",), with_host=True)


def test_an_instruction_in_a_macro_of_a_program_refuses_where_the_macro_is_used(tmp_path: Path) -> None:
    text = '#define SHIFT \\\n  asm volatile("tcgen05.shift.cta_group::1.down;" \\\n    ::)\nint main() {}\n'
    (made,) = translate((SourceFile(tmp_path / "p.cu", text),), ("kernel.cu",), with_host=True).texts
    assert 'ptx_refused("p.cu:2: the cpu device does not have' in made
    assert (made.count("\\\n"), made.count("\n")) == (2, text.count("\n"))


@pytest.mark.soak
@pytest.mark.skipif("CUTLASS_PATH" not in os.environ, reason="CUTLASS_PATH names no checkout of NVIDIA/cutlass")
def test_a_program_includes_cute_as_the_user_has_it(tmp_path: Path) -> None:
    program = tmp_path / "cute.cu"
    program.write_text(
        "#include <cute/tensor.hpp>\nusing namespace cute;\n__global__ void k(float *y) {\n"
        "  auto t = make_tensor(make_gmem_ptr(y), make_shape(Int<4>{}, 8), GenRowMajor{});\n"
        "  t(threadIdx.x % 4, threadIdx.x / 4) = threadIdx.x;\n}\n"
        "int main() {\n  float *y;\n  cudaMalloc(&y, 128);\n  k<<<1, 32>>>(y);\n  cudaDeviceSynchronize();\n}\n",
        encoding="utf-8",
    )
    assert built(tmp_path, f"-I{os.environ['CUTLASS_PATH']}/include", str(program)).exists()


def test_dynamic_shared_memory_of_a_header_is_that_of_the_running_block() -> None:
    text = "template <class T> __global__ void k() {\n  extern __shared__ char smem[];\n  T()(smem);\n}\n"
    made = translate_header(text, Path("device_kernel.h"))
    assert "  static char *const &smem = reinterpret_cast<char *const &>(::cuda_on_cpu_dynamic_shared);\n" in made
    assert made.count("\n") == text.count("\n")
