// Dropout of four elements with one call of the generator.
//
// /// kernel
// op      = "dropout"
// axes    = { rows = "1..1024", cols = "1..1024" }
// arrays  = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// scalars = { p = 0.1 }
// random  = { seed = "seed", offset = "offset" }
// claims  = { deterministic = true }
//
// [[launch]]
// grid  = "ceil_div(rows * cols, 128)"
// block = "32"
// args  = ["y", "x", "rows", "cols", "p", "seed", "offset"]
// ///
#include <curand_kernel.h>

__global__ void drop(float *y, const float *x, int rows, int cols, float p, unsigned long long seed,
                     unsigned long long offset) {
  const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, thread, offset, &state);
  const uint4 words = curand4(&state);
  const unsigned int each[4] = {words.x, words.y, words.z, words.w};
  const float scale = 1.0f / (1.0f - p);
  for (int k = 0; k < 4; k++) {
    const long long i = 4 * thread + k;
    if (i >= (long long)rows * cols) break;
    const float u = (each[k] >> 8) * 0x1p-24f;
    y[i] = u >= p ? x[i] * scale : 0.0f;
  }
}
