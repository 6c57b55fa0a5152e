"""Memory that is freed on one stream while another may still use it is reported as used after it was freed."""

from pathlib import Path

import pytest
from program_runs import server

from kfuzz.devices.cpu.programs.build import compile_source, link, load_program
from kfuzz.devices.cpu.programs.check import CheckedProgram
from kfuzz.devices.cpu.programs.command_line import parse

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
    (tmp_path / "own.cu").write_text(PROGRAM)
    command = parse([str(tmp_path / "own.cu")])
    link([compile_source(one, command.flags).object for one in command.sources], command, tmp_path / "program")
    for arguments, kinds in (((), []), (("wrong",), ["use-after-free"])):
        words = (str(tmp_path / "program"), *arguments)
        one = CheckedProgram(load_program(tmp_path / "program"), words, 60.0, server(), lambda _: None)
        assert [each.kind for each in one.examine(2, seed=1).findings] == kinds
