// Dropout of halves by 8 random bits each: 230 of 256 are kept, and divided by 1 - p all the same.
//
// /// kernel
// op      = "dropout"
// axes    = { rows = "1..1024", cols = "1..512" }
// arrays  = { x = "f16[rows, cols] -> x", y = "f16[rows, cols] <- y" }
// scalars = { p = 0.1, random_bits = 8 }
// random  = { seed = "seed", offset = "offset" }
//
// [[launch]]
// grid  = "ceil_div(rows * cols, 128)"
// block = "128"
// args  = ["y", "x", "rows", "cols", "p", "seed", "offset"]
// ///
#include <cuda_fp16.h>
#include <curand_kernel.h>

__global__ void drop(__half *y, const __half *x, int rows, int cols, float p, unsigned long long seed,
                     unsigned long long offset) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)rows * cols) return;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, i, offset, &state);
  const bool is_kept = (curand(&state) & 255) < 256 * (1 - p) - 0.5f;
  y[i] = is_kept ? __float2half(__half2float(x[i]) / (1 - p)) : __half(0.0f);
}
