// Min-p: a token is kept if its logit is at most log(min_p) below the greatest, in the order from the right.
//
// /// kernel
// op       = "min_p_sampling"
// axes     = { rows = "1..1024", cols = "1..256" }
// arrays   = { x = "bf16[rows, cols] -> logits", token = "i32[rows] <- token" }
// scalars  = { min_p = 0.2 }
// random   = { seed = "seed", offset = "offset" }
// accuracy = { form = "by cumulated sum" }
//
// [[launch]]
// grid  = "ceil_div(rows, 32)"
// block = "32"
// args  = ["token", "x", "rows", "cols", "min_p", "seed", "offset"]
// ///
#include <cuda_bf16.h>
#include <curand_kernel.h>

__global__ void sample(int *token, const __nv_bfloat16 *x, int rows, int cols, float min_p, unsigned long long seed,
                       unsigned long long offset) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += (size_t)row * cols;
  float top = -INFINITY, total = 0, sum = 0;
  for (int i = 0; i < cols; i++) top = fmaxf(top, __bfloat162float(x[i]));
  const float edge = top + logf(min_p);
  for (int i = 0; i < cols; i++)
    if (__bfloat162float(x[i]) >= edge) total += expf(__bfloat162float(x[i]) - top);
  curandStatePhilox4_32_10_t state;
  curand_init(seed, row, offset, &state);
  const float target = (1.0f - curand_uniform(&state)) * total;
  int last = -1;
  for (int i = cols - 1; i >= 0 && sum <= target; i--) {
    if (__bfloat162float(x[i]) < edge) continue;
    const float weight = expf(__bfloat162float(x[i]) - top);
    sum += weight;
    if (weight > 0) last = i;
  }
  token[row] = last;
}
