"""What the threads of a warp, or of a warpgroup, do by one instruction: ldmatrix, and setmaxnreg."""

import numpy as np
import pytest
from planted_jobs import job_of

from kfuzz.devices import Probe
from kfuzz.devices.cpu.device import CpuDevice

IN_PLACE = """\
__global__ void in_place(unsigned *y, const unsigned *x) {
  __shared__ alignas(16) unsigned s[32];
  int t = threadIdx.x;
  if (t < 32) s[t] = x[t];
  BEFORE;
  unsigned read = 0;
  if (t < 32) READ;
  if (t / 32 == WRITER) s[31 - t % 32] = read + 1;
  __syncthreads();
  if (t < 32) y[t] = s[t];
}
"""
AS_MATRIX = """asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(read)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(s + t % 8 * 4))) : "memory")"""
BY_LANES = "read = s[t]"


@pytest.mark.parametrize(
    ("before", "read", "writer", "kinds"),
    [
        ("__syncthreads()", AS_MATRIX, 0, set()),
        ("__syncthreads()", BY_LANES, 0, {"race"}),
        ("__syncthreads()", AS_MATRIX, 1, {"race"}),
        ("", AS_MATRIX, 0, {"race"}),
    ],
    ids=["read together", "read by each", "written by another warp", "written before without a barrier"],
)
def test_no_lane_writes_before_all_have_read_by_one_instruction(
    before: str, read: str, writer: int, kinds: set[str], device: CpuDevice
) -> None:
    text = IN_PLACE.replace("BEFORE", before).replace("READ", read).replace("WRITER", str(writer))
    x = np.arange(32, dtype=np.uint32)
    outcome = device.run(job_of(text, ("in_place",), "in_place", {"y": "u32[32]", "x": x}, block=64), Probe(check=True))
    assert {one.kind for one in outcome.findings if one.severity == "error"} == kinds
    if not kinds:
        np.testing.assert_array_equal(outcome.runs[0].outputs["y"], x[::-1] + 1)


REGISTERS = """\
__global__ void share_out(unsigned *y) {
  if (threadIdx.x < 128) asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  else asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  y[threadIdx.x] = threadIdx.x;
}
"""


@pytest.mark.parametrize("threads", [160, 192, 256])
def test_the_warps_that_there_are_of_a_warpgroup_share_out_their_registers(threads: int, device: CpuDevice) -> None:
    """A GEMM for GPUs without wgmma has one warp that copies, behind warps that multiply."""
    job = job_of(REGISTERS, ("share_out",), "share_out", {"y": f"u32[{threads}]"}, block=threads)
    outcome = device.run(job, Probe(check=True))
    assert outcome.findings == ()
    np.testing.assert_array_equal(outcome.runs[0].outputs["y"], np.arange(threads))
