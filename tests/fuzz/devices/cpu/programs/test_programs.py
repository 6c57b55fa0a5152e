"""Unchanged whole programs: no findings in right ones, findings in wrong ones, and builds by make and CMake."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from forked import run_forked
from paths import DATA
from program_runs import built, check_program, server

from kfuzz.cases.plans.graphs import LISTS
from kfuzz.common.errors import TargetError
from kfuzz.devices import ClaimError
from kfuzz.devices.cpu.line_words import LINES_A_FILE
from kfuzz.devices.cpu.programs.build import MOST_FILES, compile_source, load_program, name_file
from kfuzz.devices.cpu.programs.check import CheckedProgram
from kfuzz.devices.cpu.programs.command_line import parse
from kfuzz.devices.cpu.programs.server import Server
from kfuzz.devices.host_compiler import find_compiler
from kfuzz.ui.commands.check import own_end
from kfuzz.ui.commands.inputs import FileReader, generate_files

PROGRAMS = DATA / "programs"
NAMES = tuple(sorted(one.stem for one in PROGRAMS.glob("*.cu")))
IN_THE_SUITE = ("host_touches_device",)
EVERY = [pytest.param(name, marks=[] if name in IN_THE_SUITE else pytest.mark.soak) for name in NAMES]
KFUZZ = (sys.executable, "-m", "kfuzz")

Check = Callable[..., CheckedProgram]


def words_after(name: str, what: str) -> list[str]:
    """The words after `// what: ` at the top of a program."""
    found = re.search(rf"^// {what}: (.*)$", (PROGRAMS / f"{name}.cu").read_text(), re.MULTILINE)
    return found[1].split() if found else []


run_program = partial(check_program, runs=3)


def kfuzz(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_forked("kfuzz", *words, cwd=cwd)


def test_there_are_enough_programs() -> None:
    assert len(NAMES) >= 20
    assert all(words_after(name, "bug") for name in NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_a_right_program_has_no_finding_and_the_same_with_a_bug_has_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROGRAMS)
    right, findings = run_program(built(tmp_path, f"{name}.cu"), *words_after(name, "arguments"))
    assert findings == []
    assert {one.exit_code for one in right.printed} == {0}
    assert (right.stopped, len(right.printed), len({one.output for one in right.printed})) == ("", 3, 1)
    _, findings = run_program(built(tmp_path, f"{name}.cu", "-DBUG"), *words_after(name, "arguments"))
    reported = {one.kind for one in findings if one.severity == "error"}
    assert reported & set(words_after(name, "bug")), findings


def test_all_runs_of_a_program_ask_the_compiler_once_who_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty.cu").write_text("int main() {}\n")
    program, compiler, asked = built(tmp_path, str(tmp_path / "empty.cu")), tmp_path / "g++", tmp_path / "asked"
    compiler.write_text(f'#!/bin/sh\necho "$@" >> {asked}\nexec {find_compiler()} "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    with closing(Server()) as own:
        one = CheckedProgram(load_program(program), (str(program),), 60.0, own, lambda _: None)
        assert one.examine(3, seed=1).findings == ()
    assert [run.exit_code for run in one.printed] == [0, 0, 0]
    assert asked.read_text().split() == ["--version", "-dumpmachine"]


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_a_right_program_has_no_finding_in_many_orders(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROGRAMS)
    _, findings = run_program(built(tmp_path, f"{name}.cu"), *words_after(name, "arguments"), runs=60)
    assert findings == []


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of several files, built by its own Makefile with a bug in a header."""
    folder = tmp_path_factory.mktemp("project") / "demo"
    shutil.copytree(PROGRAMS / "project", folder)
    nvcc = f"NVCC={sys.executable} -m kfuzz nvcc"
    done = subprocess.run(
        ["make", "-s", nvcc, f"CXX={nvcc[5:]}", "EXTRA=-DBUG"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "ignored options: -O3" in done.stderr
    return folder


@pytest.mark.soak
@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_cmake_builds_the_same_project_unchanged(tmp_path: Path) -> None:
    nvcc = kfuzz("nvcc", "--path", cwd=tmp_path).stdout.strip()
    compilers = (f"-DCMAKE_CUDA_COMPILER={nvcc}", f"-DCMAKE_CXX_COMPILER={nvcc}", "-DCMAKE_CUDA_FLAGS=-DBUG")
    for command in (["-S", str(PROGRAMS / "project"), "-B", ".", *compilers], ["--build", "."]):
        done = subprocess.run(["cmake", *command], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    found = kfuzz("check", "./demo", "--seed", "1", "--", "10", cwd=tmp_path)
    assert found.returncode == 1, found.stderr
    assert "BROKEN  demo: race, `shared[threadIdx.x] = own;` / `if (threadIdx.x < half)" in found.stdout


@pytest.mark.slow
def test_a_makefile_builds_a_project_that_runs_and_is_checked(project: Path) -> None:
    ran = subprocess.run(["./demo", "10"], cwd=project, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout[:5]) == (0, "sum: ")
    assert "kfuzz check ./demo shows them" in ran.stderr
    found = kfuzz("check", "./demo", "--json", "demo.json", "--seed", "1", "--", "10", cwd=project)
    assert found.returncode == 1, found.stderr
    assert "BROKEN  demo: race, `shared[threadIdx.x] = own;` / `if (threadIdx.x < half)" in found.stdout
    assert "  where     include/sums.cuh:" in found.stdout
    assert "main (line 21) > sum_of (line 13 of sums.cu) > sum (line 6 of sums.cu) > block_sum<128>" in found.stdout
    report = json.loads((project / "demo.json").read_text())
    assert (report["schema"], report["exit_code"]) == ("kfuzz-report/1", 1)
    assert {one["file"] for one in report["kernels"][0]["findings"]} == {"include/sums.cuh"}
    assert "build/sums.o:" in (project / "build/sums.d").read_text()


@pytest.mark.soak
def test_each_file_of_a_folder_is_an_argument(tmp_path: Path) -> None:
    (tmp_path / "count.cu").write_text(
        "#include <cstdio>\n"
        "__global__ void fill(int *a, int n) { if (threadIdx.x < n) a[threadIdx.x] = 1; }\n"
        "int main(int argc, char **argv) {\n"
        '  FILE *f = fopen(argv[1], "r");\n'
        "  int n = 0, *a;\n"
        '  if (!f || fscanf(f, "%d", &n) != 1) return 3;\n'
        "  cudaMalloc(&a, 16);\n"
        "  fill<<<1, 32>>>(a, n);\n"
        "}\n"
    )
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    for name, text in (("a.txt", "4"), ("b.txt", "5"), ("c.txt", "no number")):
        (inputs / name).write_text(text)
    found = kfuzz("check", "count.cu", "-O2", "-I.", "--inputs", "inputs", "--seed", "1", cwd=tmp_path)
    assert found.returncode == 1, found.stderr
    assert "BROKEN  count: out-of-bounds, `__global__ void fill" in found.stdout
    assert "case      count inputs/b.txt" in found.stdout
    assert "seen with 1 of 3 inputs" in found.stdout
    assert "count inputs/c.txt: the program itself ends with exit code 3" in found.stdout
    assert "ignored options: -O2" in found.stderr


HISTOGRAM = """
#include <cstdio>
#include <vector>
__global__ void count(const int *x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) bins[x[i]]++;
}
int main(int argc, char **argv) {
  int n, *x, *bins;
  FILE *f = argc == 3 ? fopen(argv[1], "r") : nullptr;
  if (!f || fscanf(f, "%d", &n) != 1 || n < 1 || n > 4096) return 1;
  std::vector<int> read(n);
  for (int &one : read)
    if (fscanf(f, "%d", &one) != 1 || one < 0 || one >= n) return 1;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&bins, n * sizeof(int));
  cudaMemset(bins, 0, n * sizeof(int));
  cudaMemcpy(x, read.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  count<<<(n + 63) / 64, 64>>>(x, bins, n);
}
"""


@pytest.mark.slow
def test_generated_inputs_have_the_format_that_a_program_reads(tmp_path: Path) -> None:
    (tmp_path / "count.cu").write_text(HISTOGRAM)
    library = load_program(built(tmp_path, str(tmp_path / "count.cu")))
    made = generate_files(FileReader(library, ("count", "{input}", "64"), 5.0, server()))
    assert [one.name for one in made] == [f"{one.name}.counted_numbers.txt" for one in LISTS]
    with pytest.raises(TargetError, match="count reads none of these formats"):
        generate_files(FileReader(library, ("count", "no_file"), 5.0, server()))


@pytest.mark.soak
def test_generated_inputs_make_threads_meet(tmp_path: Path) -> None:
    (tmp_path / "count.cu").write_text(HISTOGRAM)
    command = ("check", "count.cu", "--inputs", "generated", "--runs", "1", "--seed", "1", "--")
    found = kfuzz(*command, "{input}", "64", cwd=tmp_path)
    assert found.returncode == 1, found.stderr
    assert "BROKEN  count: race, `if (i < n) bins[x[i]]++;`" in found.stdout
    assert "all_equal.counted_numbers.txt 64" in found.stdout
    assert "seen with 3 of 6 inputs" in found.stdout  # in the others, no two threads meet in one bin
    assert "again     kfuzz check count.cu --inputs generated --seed 1 -- '{input}' 64" in found.stdout


@pytest.mark.slow
def test_the_exit_of_a_program_is_reported_and_is_not_a_finding(tmp_path: Path) -> None:
    (tmp_path / "own.cu").write_text(
        "#include <cassert>\n#include <chrono>\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n"
        "#include <stdexcept>\n#include <unistd.h>\n"
        "__global__ void spin(int *a) { while (*(volatile int *)a == 0) {} }\n"
        "int main(int argc, char **argv) {\n"
        "  int *a;\n"
        '  const char *what = argc > 1 ? argv[1] : "";\n'
        '  if (!strcmp(what, "exits")) exit(5);\n'
        '  if (!strcmp(what, "counts")) for (volatile int i = 0; i < 1 << 26; i++) {}\n'
        '  if (!strcmp(what, "throws")) throw std::runtime_error("no such file");\n'
        '  if (!strcmp(what, "aborts")) abort();\n'
        '  if (!strcmp(what, "asserts")) assert(argc == 1);\n'
        '  if (!strcmp(what, "leaves")) _exit(6);\n'
        '  if (!strcmp(what, "works")) for (volatile int i = 0;; i++) {}\n'
        "  cudaMalloc(&a, 4);\n"
        "  cudaMemset(a, 0, 4);\n"
        '  if (!strcmp(what, "hangs")) spin<<<1, 1>>>(a);\n'
        '  printf("%lld\\n", (long long)std::chrono::steady_clock::now().time_since_epoch().count());\n'
        "}\n"
    )
    program = built(tmp_path, str(tmp_path / "own.cu"))
    one, findings = run_program(program)
    assert (findings, len(one.printed)) == ([], 4)  # three, and one that shows that it prints a clock
    one, findings = run_program(program, "exits")
    assert ([printed.exit_code for printed in one.printed], findings) == ([5, 5, 5], [])
    one, findings = run_program(program, "throws", runs=1)
    assert ([printed.exit_code for printed in one.printed], findings) == ([134], [])
    assert own_end(one.printed[0].errors, 134) == "by an exception, std::runtime_error: no such file (exit code 134)"
    one, findings = run_program(program, "aborts", runs=1)
    assert ([printed.exit_code for printed in one.printed], findings) == ([134], [])
    one, findings = run_program(program, "asserts", runs=1)
    assert ([printed.exit_code for printed in one.printed], findings) == ([134], [])
    assert own_end(one.printed[0].errors, 134) == "with exit code 134: assertion failed: argc == 1"
    one, findings = run_program(program, "leaves")
    assert ([printed.exit_code for printed in one.printed], findings) == ([6, 6, 6], [])
    by_itself = subprocess.run([program, "counts"], capture_output=True, text=True, check=False)
    assert (by_itself.returncode, by_itself.stderr) == (0, "")
    one, findings = run_program(program, "works", timeout=0.3)
    assert ("a run did not end after 0.3 s" in one.stopped, findings) == (True, [])
    _, findings = run_program(program, "hangs", timeout=0.3)
    assert {each.kind for each in findings} == {"hang"}


def test_options_of_nvcc_are_used_or_named_as_ignored() -> None:
    words = "-O3 -gencode arch=compute_70,code=sm_70 -arch=sm_80 -Iinc -I inc2 -DN=4 -D M -std c++20 -lineinfo"
    command = parse([*words.split(), "-Xcompiler", "-Wall,-DIN", "-lm", "-lmine", "-L.", "a.cu", "b.o", "-o", "out"])
    inc, inc2 = Path("inc").resolve(), Path("inc2").resolve()
    defined = ("-DN=4", "-DM", "-DIN", "-std=c++20", "-D__CUDA_ARCH__=700")
    assert command.flags == (f"-I{inc}", f"-I{inc2}", *defined)
    assert command.linked == ("-lmine", "-L.", "b.o")
    assert command.ignored == ("-O3", "-lineinfo", "-lm", "-Xcompiler -Wall")
    assert [str(one.path) for one in command.sources] == ["a.cu"]
    assert parse(["-x", "cu", "kernel.inc", "-c"]).sources[0].language == "cu"
    assert parse(["-std=c++14", "a.cu"]).flags == ("-std=c++17",)


@pytest.mark.parametrize(
    ("architecture", "defined"),
    [
        ("sm_90", ["ARCH__=900"]),
        ("sm_90a", ["ARCH__=900", "ARCH_SPECIFIC__=900", "ARCH_FAMILY_SPECIFIC__=900", "ARCH_FEAT_SM90_ALL"]),
        ("sm_100f", ["ARCH__=1000", "ARCH_FAMILY_SPECIFIC__=1000"]),
    ],
)
def test_macros_of_an_architecture_are_those_of_nvcc(architecture: str, defined: list[str]) -> None:
    assert parse([f"-arch={architecture}", "a.cu"]).flags == tuple(f"-D__CUDA_{one}" for one in defined)


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["-ptx", "a.cu"], "makes programs for the cpu device, not PTX"),
        (["a.txt"], "neither a source file"),
        (["a.cu", "-o"], "-o: its value is missing"),
    ],
)
def test_anything_but_a_program_is_refused_in_one_line(words: list[str], reported: str) -> None:
    with pytest.raises(ClaimError, match=reported):
        parse(words)


@pytest.mark.soak
def test_macros_and_files_of_the_command_line_come_after_our_headers(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("#define E (B + 1)\n")
    (tmp_path / "one.cu").write_text(
        "__global__ void launched() {}\n"
        "int main() { launched<<<1, 1>>>(); return A + B + E + T(4) - 14; }\n"
        "#ifndef N\n#error N\n#endif\n"
    )
    words = ["check", "-DA", "-DB=2", "-DN", "-DT(x)=(2*x)", "-include", "own.h", "one.cu"]
    done = kfuzz(*words, "--json", "-", cwd=tmp_path)
    assert "exit code" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr


def test_of_files_with_one_number_an_error_of_the_linker_names_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are 2,146 numbers; later files get them once more."""
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path))
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "files").write_text("".join(f"/{n}.cu\n" for n in range(MOST_FILES + 8)))
    named = re.sub(r"kernel\.cu:(\d+)", name_file, f"kernel.cu:{8 * LINES_A_FILE + 2} kernel.cu:{9 * LINES_A_FILE + 2}")
    assert named == f"/{MOST_FILES + 7}.cu:2 /8.cu:2"


@pytest.mark.slow
def test_errors_have_the_compilers_words_and_the_authors_file_names(tmp_path: Path) -> None:
    (tmp_path / "no.cu").write_text("int main() { return missing(); }\n")
    reported = kfuzz("check", "no.cu", cwd=tmp_path)
    assert reported.returncode == 2
    assert re.search(r"no\.cu:1:\d+: error: .*missing", reported.stderr)
    (tmp_path / "no.cu").write_text("__global__ void missing();\nint main() { missing<<<1, 1>>>(); }\n")
    reported = kfuzz("nvcc", "no.cu", "-o", "no", cwd=tmp_path)
    places = re.findall(r"([\w.]+:\d+): undefined reference to `missing\(\)'", reported.stderr)
    assert (reported.returncode, set(places)) == (2, {"no.cu:2"}), reported.stderr
    assert not os.path.exists(tmp_path / "no")
    (tmp_path / "no.cu").write_text("__global__ void kernel(float *y) { y[0] = 0; }\n")
    reported = kfuzz("check", "no.cu", cwd=tmp_path)
    phase, error = reported.stderr.splitlines()
    assert (reported.returncode, error) == (
        2, "none of these files has a main(); kfuzz check runs a whole program, and kfuzz fuzz a kernel"
    )  # fmt: skip
    assert phase.endswith("compiling: no.cu")


@pytest.mark.slow
def test_one_header_may_be_spelled_in_two_ways(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text(
        "#pragma once\n__global__ void set(int *a) { a[threadIdx.x] = 1; }\nint two(int *);\n"
    )
    (tmp_path / "one.cu").write_text(
        '#include "own.h"\nint main() { int *a; cudaMalloc(&a, 128); set<<<1, 32>>>(a); return two(a); }\n'
    )
    (tmp_path / "two.cu").write_text(
        f'#define set other\n#include "{tmp_path}/own.h"\nint two(int *a) {{ set<<<1, 33>>>(a); return 0; }}\n'
    )
    found = kfuzz("check", "one.cu", "two.cu", cwd=tmp_path)
    assert "where     own.h:2" in found.stdout, found.stderr


def test_code_that_nvcc_refuses_and_gcc_accepts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "shared.cu"
    path.write_text(
        "__global__ void k() {\n  __shared__ int count = 0;\n  count++;\n}\nint main() { k<<<1, 1>>>(); }\n"
    )
    with pytest.raises(
        ClaimError, match=r"shared\.cu:2: nvcc would refuse this: a __shared__ variable cannot have an initial"
    ):
        compile_source(parse([str(path)]).sources[0], ())
    path.write_text(
        "constexpr int n = 2;\n__global__ void k() {\n  __shared__ int a[n == 2 ? 4 : 8];\n  int *p = a;\n}\n"
    )
    assert compile_source(parse([str(path)]).sources[0], ()).object.is_file()
