// Draws one token of each row as the greatest of logits plus Gumbel numbers; 32 threads do a row.
//
// /// kernel
// op      = "categorical"
// axes    = { rows = "1..1024", cols = "1..256" }
// arrays  = { x = "f32[rows, cols] -> logits", token = "i32[rows] <- token" }
// random  = { seed = "seed" }
//
// [[launch]]
// grid  = "rows"
// block = "32"
// args  = ["token", "x", "cols", "seed"]
// ///
#include <curand_kernel.h>

__global__ void sample(int *token, const float *x, int cols, unsigned long long seed) {
  x += (size_t)blockIdx.x * cols;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, (size_t)blockIdx.x * 32 + threadIdx.x, 0, &state);
  float best = -INFINITY;
  int at = 0;
  for (int i = threadIdx.x; i < cols; i += 32) {
    const float u = 1.0f - curand_uniform(&state) * 0.99999994f;
    const float value = x[i] - logf(-logf(u));
    if (value > best) {
      best = value;
      at = i;
    }
  }
  for (int far = 16; far; far /= 2) {
    const float other = __shfl_down_sync(~0u, best, far);
    const int place = __shfl_down_sync(~0u, at, far);
    if (other > best) {
      best = other;
      at = place;
    }
  }
  if (threadIdx.x == 0) token[blockIdx.x] = at;
}
