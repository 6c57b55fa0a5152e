"""Memory that is freed on one stream while another may still use it is reported as used after it was freed."""

from pathlib import Path

import pytest
from program_runs import check_text

PROGRAM = """__global__ void fill(int *a) { a[threadIdx.x] = 1; }
int main(int argc, char **) {
  int *a;
  cudaStream_t one, other;
  cudaStreamCreate(&one);
  cudaStreamCreate(&other);
  cudaMallocAsync(&a, 128, one);
  cudaStreamSynchronize(one);
  fill<<<1, 32, 0, other>>>(a);
  if (argc == 1) cudaStreamSynchronize(other);
  cudaFreeAsync(a, one);
  return cudaDeviceSynchronize();
}
"""


@pytest.mark.slow
def test_a_free_that_does_not_wait_for_another_stream_is_a_use_after_free(tmp_path: Path) -> None:
    for arguments, kinds in (((), []), (("wrong",), ["use-after-free"])):
        assert [each.kind for each in check_text(tmp_path, PROGRAM, *arguments)[1]] == kinds
