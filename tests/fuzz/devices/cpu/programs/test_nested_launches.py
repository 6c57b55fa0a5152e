"""Kernels that kernels launch: right ones are silent, wrong ones are found, and the rest is refused in one line."""

from pathlib import Path

import pytest
from program_runs import built, check_program
from program_runs import check_text as check
from seldom import one_in

NESTED = """\
__global__ void add(int *a, int n, int one) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] += one; }
__global__ void deeper(int *a, int n, int depth) {
  if (threadIdx.x == 0 && depth) deeper<<<1, 2>>>(a, n, depth - 1);
  if (threadIdx.x == 1) a[n + depth] = depth;
}
__global__ void last(int *a, int n, int *sum) {
  *sum = 0;
  for (int i = 0; i < n + 4; i++) *sum += a[i];
}
__global__ void parent(int *a, int n, int *sum) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = i;
  __syncthreads();
  if (threadIdx.x) return;
  last<<<1, 1, 0, cudaStreamTailLaunch>>>(a, n, sum);
  add<<<(n + 31) / 32, 32>>>(a, n, 1);
  cudaStream_t mine;
  if (cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking)) return;
  deeper<<<1, 2, 0, mine>>>(a, n, 3);
  cudaStreamDestroy(mine);
  add<<<(n + 31) / 32, 32, 0, cudaStreamFireAndForget>>>(a, n, 2);
  int *own = 0;
  cudaMalloc((void **)&own, 16);
  own[3] = 1;
  cudaFree(own);
}
int main() {
  int *a, *sum, s, n = 100;
  cudaMalloc(&a, (n + 4) * sizeof(int));
  cudaMalloc(&sum, sizeof(int));
  for (int i = 0; i < 2; i++) parent<<<1, 32>>>(a, n, sum);
  cudaMemcpy(&s, sum, sizeof(int), cudaMemcpyDeviceToHost);
  return s != 99 * 50 + 3 * 100 + 6;
}
"""
ADD = 1
"""The line of the child in which each of these defects shows."""
WRONG = {
    "the child writes beyond": ("out-of-bounds", "if (i < n) a[i] += one", "if (i <= n + 3) a[i + 1] += one"),
    "two threads of the child": ("race", "a[i] += one", "a[i / 2] += one"),
    "the parent leaves one out": (
        "uninitialised",
        "for (int i = threadIdx.x; i < n;",
        "for (int i = threadIdx.x + 1; i < n;",
    ),
    "the child comes after the end": ("out-of-bounds", "cudaFree(own);", "cudaFree(own); add<<<1, 1>>>(own, 1, 1);"),
}
REFUSED = {
    "cudaDeviceSynchronize()": "cudaStreamDestroy(mine); cudaDeviceSynchronize();",
    "a function that copies memory": "cudaMemcpyAsync(sum, a, 4, cudaMemcpyDeviceToDevice, mine);",
    "a function that waits for a stream": "cudaStreamSynchronize(mine);",
}


@pytest.mark.slow
def test_kernels_run_behind_their_parents_and_right_ones_are_silent(tmp_path: Path) -> None:
    one, findings = check(tmp_path, NESTED)
    assert not findings
    assert not one.refusal
    assert {end.exit_code for end in one.printed} == {0}


@pytest.mark.slow
@pytest.mark.parametrize("defect", one_in(2, WRONG))
def test_a_wrong_child_is_found_with_its_line(defect: str, tmp_path: Path) -> None:
    kind, before, after = WRONG[defect]
    assert NESTED.count(before) == 1
    _, findings = check(tmp_path, NESTED.replace(before, after))
    assert {one.line for one in findings if one.kind == kind} == {ADD}


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One program for all of these functions: the number of its words chooses the one that its kernel calls."""
    calls = "".join(f"  if (n == {100 + number}) {{ {REFUSED[one]} }}\n" for number, one in enumerate(REFUSED))
    text = NESTED.replace("  cudaStreamDestroy(mine);\n", calls)
    text = text.replace("int main() {", "int main(int words, char **) {").replace("n = 100;", "n = 99 + words;")
    folder = tmp_path_factory.mktemp("refused")
    (folder / "own.cu").write_text(text)
    return built(folder, str(folder / "own.cu"))


@pytest.mark.slow
@pytest.mark.parametrize("function", REFUSED)
def test_functions_that_kernels_do_not_have_end_the_run(function: str, refused: Path) -> None:
    one, findings = check_program(refused, *["word"] * list(REFUSED).index(function))
    assert not findings
    assert f"a kernel calls {function}, which the cpu device does not have in kernels" in one.refusal
