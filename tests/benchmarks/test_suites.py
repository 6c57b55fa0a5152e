"""benchmarks/detection/suites.py on folders of labelled programs: found, missed, accused, could not run."""

import struct
from pathlib import Path

import pytest
from paths import DATA

from benchmarks.detection.labelled import Labelled, gpuverify, hirace, plain
from benchmarks.detection.suites import Told, main, table

MAIN = """
#include <cuda.h>
__global__ void test_kernel(int *sum, const int *numbers, int n);
int main(int argc, char *argv[]) {
  FILE *file = fopen(argv[1], "rb");
  int n = 0, *numbers, *sum;
  if (argc != 4 || !file || fread(&n, 4, 1, file) != 1) exit(-1);
  int *read = (int *)malloc(n * sizeof(int));
  if (fread(read, 4, n, file) != n) exit(-1);
  fclose(file);
  cudaMalloc((void **)&numbers, n * sizeof(int));
  cudaMalloc((void **)&sum, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  cudaMemcpy(numbers, read, n * sizeof(int), cudaMemcpyHostToDevice);
  test_kernel<<<atoi(argv[3]), atoi(argv[2])>>>(sum, numbers, n);
  cudaFree(numbers);
  cudaFree(sum);
  free(read);
  exit(0);
}
"""
KERNEL = """#include "suite_main.h"
__global__ void test_kernel(int *sum, const int *numbers, int n) {{
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n{more}) {add}
}}
"""
SCOPED = """#include <stdio.h>
__device__ int flag = 0, seen = 0;
__global__ void k(volatile unsigned int *data) {{
  if (blockIdx.x == 0) {{ data[0] = 1; {fence}(); atomicExch(&flag, 1); }}
  else {{ while (atomicExch(&flag, 0) == 0) {{}} seen = data[0]; }}
}}
int main() {{
  unsigned int *data;
  cudaMalloc(&data, sizeof(unsigned int));
  k<<<2, 1>>>(data);
  return cudaDeviceSynchronize();
}}
"""
ALONE = """{first}
//--blockDim=[8,4] --gridDim=1{more}
__global__ void k(int *y, const int *x, int n) {{
  __requires(n == 3);
  y[{index}] = threadIdx.x + n;
}}
"""
IN_STEP = """//pass
//--blockDim=64 --gridDim=1 --warp-sync=32
__global__ void k(int *y) {
  __shared__ volatile int s[64];
  s[threadIdx.x] = y[threadIdx.x];
  y[threadIdx.x] = s[threadIdx.x ^ 31];
}
"""


def run_main(capsys: pytest.CaptureFixture[str], *words: str) -> list[list[str]]:
    main(list(words))
    return [line.split() for line in capsys.readouterr().out.splitlines()]


@pytest.mark.slow
def test_whole_programs_that_read_files_are_judged_by_their_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "suite_main.h").write_text(MAIN)
    (tmp_path / "programs").mkdir()
    for name, more, add in (
        ("sum", "", "atomicAdd(sum, numbers[i]);"),
        ("sum_atomicBug_boundsBug", " + 1", "*sum += numbers[i];"),
    ):
        (tmp_path / "programs" / f"{name}.cu").write_text(KERNEL.format(more=more, add=add))
    (tmp_path / "programs" / "broken.cu").write_text(KERNEL.format(more="", add="nonsense;"))
    (tmp_path / "numbers").write_bytes(struct.pack("101i", 100, *range(100)))
    lines = run_main(capsys, "--layout", "hirace", str(tmp_path / "programs"), "--input", str(tmp_path / "numbers"))
    assert ["out-of-bounds", "1", "1", "0", "0"] in lines
    assert ["race", "1", "1", "0", "0"] in lines
    assert ["anything", "wrong", "1", "0", "0"] in lines
    assert [line[:4] for line in lines if "nonsense" in " ".join(line)] == [["not", "run,", "1:", lines[-1][3]]]


@pytest.mark.soak
@pytest.mark.slow
def test_programs_about_scopes_are_judged_by_the_first_word_of_their_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "norace_interblock_fence_raw.cu").write_text(SCOPED.format(fence="__threadfence"))
    (tmp_path / "race_interblock_blkfence_raw.cu").write_text(SCOPED.format(fence="__threadfence_block"))
    lines = run_main(capsys, "--layout", "scor", str(tmp_path))
    assert ["race", "1", "1", "0", "0"] in lines
    assert ["anything", "wrong", "1", "0", "0"] in lines


@pytest.mark.slow
def test_kernels_without_a_main_are_given_arrays_and_what_they_require(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, first, index in (
        ("apart", "//pass", "threadIdx.y * blockDim.x + threadIdx.x"),
        ("meet", "//xfail:BOOGIE_ERROR", "threadIdx.x / 2"),
        ("other", "//xfail:COMMAND_LINE_ERROR", "0"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.cu").write_text(ALONE.format(first=first, more="", index=index))
    (tmp_path / "in_step").mkdir()
    (tmp_path / "in_step" / "kernel.cu").write_text(IN_STEP)
    lines = run_main(capsys, "--layout", "gpuverify", str(tmp_path))
    assert ["any", "error", "1", "1", "0", "0"] in lines
    assert ["anything", "wrong", "2", "0", "1"] in lines  # that lanes go in step is told of by a warning
    assert [line[:3] for line in lines if "COMMAND_LINE_ERROR" in " ".join(line)] == [["not", "run,", "1:"]]


def test_the_planted_pairs_are_a_folder_like_any_other() -> None:
    found = list(plain((DATA / "planted") / "programs", (), ()))
    assert len(found) >= 160
    assert {one.name for one in found if one.wrong} == {f"{one.name} with its bug" for one in found if not one.wrong}


def test_labels_are_read_off_names_and_first_lines(tmp_path: Path) -> None:
    (tmp_path / "push_guardBug_boundsBug.cu").write_text("int main() {}")
    (tmp_path / "pull_last.cu").write_text("int main() {}")
    assert [sorted(one.wrong) for one in hirace(tmp_path, (), ())] == [[], ["out-of-bounds", "race"]]
    (tmp_path / "kernel.cu").write_text(
        "//xfail:BOOGIE_ERROR\n//--blockDim=64 --gridDim=2\n//possible read-write race\n"
    )
    assert [(sorted(one.wrong), one.excluded) for one in gpuverify(tmp_path, (), ())] == [(["race"], "")]


def test_reports_about_a_program_are_compared_with_its_label() -> None:
    def one(name: str, wrong: str, errors: str = "", warnings: str = "") -> Told:
        labelled = Labelled(name, frozenset(wrong.split()), (), lambda: iter(()))
        return Told(labelled, frozenset(errors.split()), frozenset(warnings.split()), (f"{errors} here",), 0.1)

    reported = [
        one("right", ""),
        one("accused", "", "race"),
        one("doubted", "", "", "race"),
        one("found", "race", "race"),
        one("guessed", "race", "", "race"),
        one("missed", "race", "out-of-bounds"),
    ]
    lines = [line.split() for line in table(reported, 1.0)]
    assert ["race", "3", "1", "1", "1"] in lines
    assert ["race", "3", "1", "1"] in lines
    assert ["anything", "wrong", "3", "1", "1"] in lines
    assert ["accused:", "accused:", "race", "here"] in lines
    assert ["missed:", "race", "of", "missed"] in lines


def test_a_missing_folder_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--layout", "plain", "nowhere"])
    assert (ended.value.code, capsys.readouterr().err) == (2, "nowhere: there is no such folder\n")
