"""Each kernel file is compiled once, by content, and again after damage, a race between processes, or a change."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from doubling import DOUBLES, doubling, is_right
from known_runtime import make_cache
from paths import ROOT, TESTS
from planted_jobs import floats

from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.case import case_of
from kfuzz.common.text.cuda_text import blank_non_code
from kfuzz.common.text.headers import SourceFile
from kfuzz.devices import ClaimError, DeviceError, Probe
from kfuzz.devices.cpu.compiler import permit
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.cpu.launches import address_lambda, call_lambda
from kfuzz.devices.cpu.left_out_keywords import add_keywords
from kfuzz.devices.cpu.translate import translate
from kfuzz.devices.cpu.unit import Unit
from kfuzz.devices.host_compiler import find_compiler
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_cache(tmp_path)
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path))
    return tmp_path


def libraries(folder: Path) -> dict[Path, int]:
    """Kernel libraries in a cache, with their inodes: a file that is written again is another one."""
    return {one: one.stat().st_ino for one in (folder / "cpu").glob("*.so") if not one.name.startswith("runtime-")}


def test_a_kernel_is_compiled_once(folder: Path) -> None:
    assert is_right(doubling())
    before = libraries(folder)
    assert len(before) == 1
    assert is_right(doubling())
    assert libraries(folder) == before


def cpp_library_symbols(binary: Path) -> set[str]:
    """What an object or a library needs of libstdc++."""
    listing = subprocess.run(["nm", "--undefined-only", str(binary)], capture_output=True, text=True, check=True).stdout
    return {
        one for one in listing.split() if one.startswith(("__cxa_", "_ZSt", "_ZNSt", "_ZNKSt")) and "@GLIBC_" not in one
    }


def test_a_kernel_library_needs_no_cpp_library(folder: Path) -> None:
    # Some Pythons have loaded libstdc++ for all to see, others have not: there the library of a kernel does not load.
    assert is_right(doubling())
    (library,) = libraries(folder)
    assert cpp_library_symbols(library) == set()
    guarded = folder / "guarded.cpp"
    guarded.write_text("int one(); int two() { static int known = one(); return known; }")
    subprocess.run(["g++", "-c", "-o", str(folder / "guarded.o"), str(guarded)], check=True)
    assert "__cxa_guard_acquire" in cpp_library_symbols(folder / "guarded.o")


def test_another_source_or_flag_is_another_library(folder: Path) -> None:
    assert is_right(doubling())
    assert is_right(doubling(DOUBLES + "\n"))
    assert is_right(doubling(flags=("-DX",)))
    assert is_right(doubling(flags=("-lineinfo", "--maxrregcount=32")))  # concern only nvcc
    assert len(libraries(folder)) == 3


def test_macros_of_the_author_reach_only_the_authors_text(folder: Path) -> None:
    names = ("-DA", "-DB=2", "-DC=", "-DT(x)=(B*x)", "-DN=4", "-Di=1", "-Dvalue=x", "-DM=1", "-UM")
    body = "#if !defined(M) && A == 1\nC y[threadIdx.x] = T(x[threadIdx.x]);\n#endif\n"
    text = f"__global__ void k(float *y, const float *x) {{\n{body}}}\n"
    before = set((folder / "cpu").glob("front-*"))
    assert is_right(doubling(text, flags=names))
    assert set((folder / "cpu").glob("front-*")) == before  # one precompiled header serves all


@pytest.mark.parametrize(
    "damage", [b"no library at all", *(pytest.param(one, marks=pytest.mark.soak) for one in (b"", None))]
)
def test_a_damaged_library_is_built_again(folder: Path, damage: bytes | None) -> None:
    assert is_right(doubling())
    (path,) = libraries(folder)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    assert is_right(doubling())
    assert libraries(folder).keys() == {path}
    assert len(path.read_bytes()) == len(whole)


def test_damaged_notes_are_made_again(folder: Path) -> None:
    assert is_right(doubling())
    (notes,) = (one for one in (folder / "cpu").glob("*.json") if not one.name.startswith("header-"))
    notes.write_bytes(b"{")
    assert is_right(doubling())


@pytest.mark.parametrize("damage", [b"no header at all", pytest.param(b"", marks=pytest.mark.soak)])
def test_a_damaged_precompiled_header_does_no_harm(folder: Path, damage: bytes) -> None:
    for one in (folder / "cpu").glob("front-*"):
        one.unlink()  # the links into the shared cache: this test damages a header of its own
    assert is_right(doubling())
    for one in (folder / "cpu").glob("front-*/front.h*"):
        one.write_bytes(damage)
    assert is_right(doubling(DOUBLES + " "))


BOTH = """
import sys
sys.path[:0] = {paths!r}
from doubling import doubling, is_right
raise SystemExit(not is_right(doubling()))
"""


def test_two_processes_may_compile_the_same_kernel_at_once(folder: Path) -> None:
    paths = [str(TESTS / "helpers"), str(ROOT)]
    command = [sys.executable, "-c", BOTH.format(paths=paths)]
    processes = [subprocess.Popen(command, env={**os.environ, "KFUZZ_CACHE": str(folder)}) for _ in range(3)]
    assert [one.wait() for one in processes] == [0, 0, 0]
    assert len(libraries(folder)) == 1


def test_a_change_of_an_included_file_compiles_again(folder: Path, tmp_path: Path) -> None:
    header = tmp_path / "factor.cuh"
    text = '#include "factor.cuh"\n' + DOUBLES.replace("2.0f", "FACTOR")
    job = doubling(text, flags=(f"-I{tmp_path}",))
    header.write_text("#define FACTOR 3.0f\n")
    assert not is_right(job)
    header.write_text("#define FACTOR 2.0f\n")
    assert is_right(job)


def test_an_error_has_the_compilers_own_words_and_the_line_of_the_file(folder: Path) -> None:
    with CpuDevice() as device, pytest.raises(ClaimError) as error:
        device.run(doubling("\n\n__global__ void k(float *y, const float *x) { y[0] = x; }"), Probe())
    assert str(error.value).startswith("planted.cu:3:")
    assert str(folder) not in str(error.value)


def test_an_error_shows_none_of_kfuzz_own_headers_and_macros(folder: Path) -> None:
    text = "__global__ void k(float *y, const float *x) { __shared__ float t[4]; atomicAdd(y, t); y[0] = z; }"
    with CpuDevice() as device, pytest.raises(ClaimError) as error:
        device.run(doubling(text), Probe())
    first, *others, last = str(error.value).splitlines()
    assert "no matching function for call to 'atomicAdd(float*&, float [4])'" in first
    assert "  candidate: 'float atomicAdd(float*, float)'" in others
    assert "'z' was not declared" in last
    assert "cuda_on_cpu" not in str(error.value).lower()


def test_a_kernel_that_was_cut_off_has_the_line_of_what_is_open(folder: Path) -> None:
    """The compiler found its mistakes in the lines of kfuzz that follow, and only these were shown."""
    with CpuDevice() as device, pytest.raises(ClaimError) as error:
        device.run(doubling("__global__ void k(float *y, const float *x) {\n  if (y) {\n    y[0] = x[0] +"), Probe())
    (only,) = str(error.value).splitlines()
    assert ":2: this { is never closed: is the end of the file missing?" in only


def test_without_a_compiler_the_message_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(DeviceError, match=r"no g\+\+ on PATH: .*apt-get install g\+\+"):
        CpuDevice()
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(DeviceError, match="CXX=no-such-compiler is no program"):
        CpuDevice()


@pytest.mark.parametrize("libraries_loaded", [16, pytest.param(400, marks=pytest.mark.soak)])
def test_one_process_loads_many_libraries(folder: Path, libraries_loaded: int) -> None:
    """More than the 14 with thread-local arrays that the C library has room for at first; in soak, more than stay."""
    with CpuDevice() as device:
        for number in range(libraries_loaded):
            text = f"""
            __global__ void k(float *y, const float *x) {{
                __shared__ float s[{32 + number}];
                s[threadIdx.x] = {number}.0f * x[threadIdx.x];
                __syncthreads();
                y[threadIdx.x] = s[3 - threadIdx.x];
            }}"""
            outcome = device.run(doubling(text), Probe())
            np.testing.assert_array_equal(outcome.runs[0].outputs["y"], floats(4)[::-1] * number)
            worker = device._worker.pid if number == 0 else worker  # noqa: F821  bound in the first round
        assert device._worker.pid == worker


def test_translation_keeps_every_line_where_it_is() -> None:
    text = 'a // extern __shared__ float x[];\nextern\n__shared__\n  float s[];\n/* two\nlines */ "str\\"ing" b\n'
    done = translate([SourceFile(Path("k.cu"), text)])
    assert done.texts[0].count("\n") == text.count("\n")
    assert done.dynamic_shared == ("s",)
    assert len(blank_non_code(text)) == len(text)
    assert "x[]" not in blank_non_code(text)


def test_a_name_that_changes_its_meaning_is_allowed_unless_more_is_wrong() -> None:
    changed = "k.cu:4:9: error: declaration of 'using R = struct R<T, 1>' changes meaning of 'R' [-fpermissive]\n"
    assert permit(changed) == ("-fpermissive",)
    assert permit(changed + "k.cu:5:1: error: 'x' was not declared in this scope\n") == ()
    assert permit("") == ()


def test_a_left_out_keyword_is_added_only_where_the_compiler_complains() -> None:
    lines = ["f(a.b<c>(1), a.b<d>(2));", "int n = sizeof(T::P) + x.y<3>(z);", "int n = sizeof(T::P) + a::b<c>(3);"]
    unit = Unit((), ("", "\n".join(lines)), "", (), (), ())
    complaint = (
        "kernel.cu:1000001:9: error: expected primary-expression before '>' token\n"
        "kernel.cu:1000002:9: error: 'z' was not declared in this scope\n"
        "kernel.cu:1000003:9: error: dependent-name 'S::P' is parsed as a non-type, but instantiation yields a type\n"
    )
    assert add_keywords(unit, complaint).texts[1].split("\n") == [
        "f(a.template b<c>(1), a.template b<d>(2));", lines[1], "int n = sizeof(typename T::P) + a::b<c>(3);"
    ]  # fmt: skip
    assert add_keywords(unit, "kernel.cu:1000001:9: error: expected ';'") == unit


def test_a_launch_of_which_the_compiler_dies_names_its_kernel_in_another_way() -> None:
    address = "::cuda_on_cpu::kernel_named(cuda_on_cpu_tag, k<N, f(2)>)"
    line = f".of({address_lambda('k<N, f(2)>')}, {call_lambda('k<N, f(2)>')})(y);"
    unit = Unit((), ("", f"{line}\n{line}"), "", (), (), ())
    died = "kernel.cu:1000002:71: internal compiler error: in gimplify_var_or_parm_decl, at gimplify.cc:3058\n"
    first, second = add_keywords(unit, died).texts[1].split("\n")
    assert first == line
    assert f"[&](auto cuda_on_cpu_tag) {{ return {address}; }}" in second


def test_a_header_that_is_missed_is_named_with_its_line(tmp_path: Path) -> None:
    """A missing header alone is no error: the kernel may not need it."""
    from_header = '#include "nowhere.h"\n' + DOUBLES.replace("{", "{ helper();", 1)
    words = r'\.cu:1: "nowhere.h" is not found: put it beside the kernel; without it: .*helper'
    with CpuDevice() as device, pytest.raises(ClaimError, match=words):
        device.run(doubling(from_header), Probe())


AT_DISPATCH = """#include <torch/extension.h>
template <typename scalar_t, int N>
__global__ void sums(scalar_t *y, const scalar_t *x, int cols) {
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += static_cast<float>(x[blockIdx.x * cols + c]);
  y[blockIdx.x] = static_cast<scalar_t>(sum);
}
torch::Tensor row_sum(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  constexpr int n = 2;
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "row_sum", ([&] {
    auto held = x.accessor<scalar_t, 2>();
    sums<scalar_t, n><<<held.size(0), 1>>>(y.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), held.size(1));
  }));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("row_sum", &row_sum); }
"""


@pytest.mark.slow(10)
def test_an_extension_of_whose_launch_the_compiler_dies_is_compiled_all_the_same(
    tmp_path: Path, device: CpuDevice
) -> None:
    """g++ 12 and 13: internal compiler error, in gimplify_var_or_parm_decl."""
    (tmp_path / "mine.cu").write_text(AT_DISPATCH)
    kernel = kernel_with(tmp_path / "mine.cu", Unclaimed("row_sum"))
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert run_trial(kernel, case_of("row_sum", {"x": x}), {}, device, Probe(runs=1)).errors == ()


def test_a_compiler_that_dies_is_not_the_fault_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says its name, and dies of each kernel file."""
    dies = "echo 'kernel.cu:1000001:1: internal compiler error: in fold_convert_loc' >&2; exit 1"
    compiler = tmp_path / "cxx"
    compiler.write_text(f'#!/bin/sh\ncase "$*" in *kernel.cu*) {dies};; esac\nexec {find_compiler()} "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    with CpuDevice() as own, pytest.raises(ClaimError, match="itself failed on this file, which may be right: set CXX"):
        own.run(doubling(f"// for {tmp_path}\n{DOUBLES}"), Probe())
