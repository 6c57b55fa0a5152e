// Stochastic rounding to bf16: 16 random bits are added below the last place, and the sum is cut.
//
// /// kernel
// op     = "stochastic_round"
// axes   = { rows = "1..1024", cols = "1..512" }
// arrays = { x = "f32[rows, cols] -> x", y = "bf16[rows, cols] <- y" }
// random = { seed = "seed", offset = "offset" }
// values = { range = [-1e37, 1e37], finite = true }
// launch = [{ entry = "rounded", grid = "ceil_div(rows * cols, 128)", block = "128" }]
// ///
#include <cuda_bf16.h>
#include <curand_kernel.h>

__global__ void rounded(__nv_bfloat16 *y, const float *x, int rows, int cols, unsigned long long seed,
                        unsigned long long offset) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)rows * cols) return;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, i, offset, &state);
  const unsigned int added = curand(&state) & 0xffff;
  const unsigned int bits = __float_as_uint(x[i]) + added;
  y[i] = __ushort_as_bfloat16((unsigned short)(bits >> 16));
}
