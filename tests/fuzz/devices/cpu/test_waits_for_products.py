"""What `wgmma.wait_group N` waits for: all groups but the last N that are committed, whatever the N."""

import numpy as np
import pytest
from planted_jobs import job_of

from kfuzz.devices import Probe
from kfuzz.devices.cpu.device import CpuDevice

TURNS = 4
LINE_OF_PRODUCT, LINE_OF_WRITE = 4, 16
TEXT = """\
#include <cuda_fp16.h>
#include <stdint.h>
__device__ void product(float (&d)[4], const uint32_t (&a)[4], uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b) : "memory");
}
__global__ void sums_of_products(float *y, const float *x, int turns) {
  __shared__ alignas(128) __half b[BUFFERS][128];
  float d[4] = {};
  uint32_t a[4];
  for (uint32_t &word : a) word = 0x3c003c00;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int turn = 0; turn < turns; turn++) {
    __half *buffer = b[turn % BUFFERS];
    buffer[threadIdx.x] = __float2half(x[turn]);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    uint64_t place = __cvta_generic_to_shared(buffer), of_b = (place & 0x3ffff) >> 4 | 8ull << 16 | 8ull << 32;
    product(d, a, of_b);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned LEFT;" ::: "memory");
    __syncthreads();
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
}
"""
ENOUGH = {(1, 0): True, (1, 1): False, (2, 1): True, (2, 2): False, (3, 2): True, (1, 4): False}
"""Whether the products of the buffer that is written next are over, by how many buffers there are, and groups left."""


@pytest.mark.slow
@pytest.mark.parametrize("buffers_and_left", ENOUGH)
def test_a_buffer_may_be_written_when_no_group_that_is_left_reads_it(
    buffers_and_left: tuple[int, int], device: CpuDevice
) -> None:
    buffers, left = buffers_and_left
    text = TEXT.replace("BUFFERS", str(buffers)).replace("LEFT", str(left))
    x = np.arange(1, TURNS + 1, dtype=np.float32)
    job = job_of(text, ("sums_of_products",), "sums_of_products", {"y": "f32[512]", "x": x, "turns": TURNS}, block=128)
    outcome = device.run(job, Probe(check=True, timeout=30.0))
    found = {(one.severity, one.kind, *sorted((one.line, one.other_line))) for one in outcome.findings}
    early = {("error", "product-in-flight", LINE_OF_PRODUCT, LINE_OF_WRITE)}
    assert found == (set() if ENOUGH[buffers_and_left] else early)
    if ENOUGH[buffers_and_left]:
        np.testing.assert_array_equal(outcome.runs[0].outputs["y"], np.full(512, 16 * x.sum()))
