// int8 of each row, rounded at random by 24 bits of Philox; one thread does a row.
//
// /// kernel
// op       = "group_quantize"
// axes     = { rows = "1..1024", cols = "1..512" }
// arrays   = { x = "f32[rows, cols] -> x", q = "i8[rows, cols] <- q", scale = "f32[rows, 1] <- scale" }
// scalars  = { group = "cols" }
// random   = { seed = "seed", offset = "offset" }
// accuracy = { divide = "ieee" }
// quantize = { scale = "amax / max", apply = "divide", round = "stochastic", symmetric = true, zeros = "eps" }
// launch   = [{ entry = "quantize", grid = "ceil_div(rows, 32)", block = "32" }]
// ///
#include <curand_kernel.h>

__global__ void quantize(int8_t *q, float *scale, const float *x, int rows, int cols, unsigned long long seed,
                         unsigned long long offset) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const size_t first = (size_t)row * cols;
  float amax = 0;
  for (int i = 0; i < cols; i++) amax = fmaxf(amax, fabsf(x[first + i]));
  const float by = fmaxf(amax, 1e-10f) / 127.0f;
  scale[row] = by;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, row, offset, &state);
  for (int i = 0; i < cols; i++) {
    const float t = x[first + i] / by, below = floorf(t);
    const float u = (curand(&state) >> 8) * 0x1p-24f;
    const float up = u < t - below ? 1.0f : 0.0f;
    q[first + i] = (int8_t)fminf(fmaxf(below + up, -127.0f), 127.0f);
  }
}
