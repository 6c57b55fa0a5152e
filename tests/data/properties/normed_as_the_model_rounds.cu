// RMS norm in bfloat16 as models have it: the normalised value is rounded to bfloat16 before the weight multiplies it.
//
// /// kernel
// op       = "rms_norm"
// axes     = { rows = "1..65535", cols = "1..4096" }
// arrays   = { x = "bf16[rows, cols] -> x", w = "bf16[cols] -> w", y = "bf16[rows, cols] <- y" }
// accuracy = { keep = { normed = "bf16" } }
// claims   = { rounds = ["normed"] }
// launch   = [{ entry = "normalise", grid = "rows", block = "32" }]
// ///
#include <cuda_bf16.h>

__global__ void normalise(__nv_bfloat16 *y, const __nv_bfloat16 *x, const __nv_bfloat16 *w, int cols) {
  x += (size_t)blockIdx.x * cols;
  y += (size_t)blockIdx.x * cols;
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32) sum += __bfloat162float(x[i]) * __bfloat162float(x[i]);
  for (int mask = 16; mask; mask /= 2) sum += __shfl_xor_sync(~0u, sum, mask);
  const float scale = rsqrtf(sum / cols + 1e-6f);
  for (int i = threadIdx.x; i < cols; i += 32) {
    const __nv_bfloat16 normed = __float2bfloat16(__bfloat162float(x[i]) * scale);
    y[i] = __float2bfloat16(__bfloat162float(normed) * __bfloat162float(w[i]));
  }
}
