// Draws among all tokens that are no less than the k-th greatest, which may be more than k.
//
// /// kernel
// op      = "top_k_sampling"
// axes    = { rows = "1..1024", cols = "1..64" }
// tune    = { k = [1, 3, 10] }
// arrays  = { x = "f32[rows, cols] -> logits", token = "i32[rows] <- token" }
// scalars = { k = "k" }
// random  = { seed = "seed", offset = "offset" }
// launch  = [{ entry = "sample", grid = "ceil_div(rows, 32)", block = "32" }]
// ///
#include <curand_kernel.h>

__device__ bool is_kept(const float *x, int cols, int i, int k) {
  int above = 0;
  for (int j = 0; j < cols; j++) above += x[j] > x[i];
  return above < k;
}

__global__ void sample(int *token, const float *x, int rows, int cols, int k, unsigned long long seed,
                       unsigned long long offset) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += (size_t)row * cols;
  float top = -INFINITY, total = 0, sum = 0;
  for (int i = 0; i < cols; i++) top = fmaxf(top, x[i]);
  for (int i = 0; i < cols; i++)
    if (is_kept(x, cols, i, k)) total += expf(x[i] - top);
  curandStatePhilox4_32_10_t state;
  curand_init(seed, row, offset, &state);
  const float target = (1.0f - curand_uniform(&state)) * total;
  int last = -1;
  for (int i = 0; i < cols && sum <= target; i++) {
    if (!is_kept(x, cols, i, k)) continue;
    const float weight = expf(x[i] - top);
    sum += weight;
    if (weight > 0) last = i;
  }
  token[row] = last;
}
