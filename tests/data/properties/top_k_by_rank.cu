// Draws among the k greatest of each row, of equal ones the first; one thread does a row.
//
// /// kernel
// op      = "top_k_sampling"
// axes    = { rows = "1..1024", cols = "1..64" }
// tune    = { k = [1, 2, 5, 20] }
// arrays  = { x = "f16[rows, cols] -> logits", token = "i64[rows] <- token" }
// scalars = { k = "k" }
// random  = { seed = "seed", offset = "offset" }
// launch  = [{ entry = "sample", grid = "ceil_div(rows, 32)", block = "32" }]
// ///
#include <cuda_fp16.h>
#include <curand_kernel.h>

__device__ bool is_kept(const __half *x, int cols, int i, int k) {
  const float mine = __half2float(x[i]);
  int before = 0;
  for (int j = 0; j < cols; j++) {
    const float other = __half2float(x[j]);
    before += other > mine || (other == mine && j < i);
  }
  return before < k;
}

__global__ void sample(long long *token, const __half *x, int rows, int cols, int k, unsigned long long seed,
                       unsigned long long offset) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += (size_t)row * cols;
  float top = -INFINITY, total = 0, sum = 0;
  for (int i = 0; i < cols; i++) top = fmaxf(top, __half2float(x[i]));
  for (int i = 0; i < cols; i++)
    if (is_kept(x, cols, i, k)) total += expf(__half2float(x[i]) - top);
  curandStatePhilox4_32_10_t state;
  curand_init(seed, row, offset, &state);
  const float target = (1.0f - curand_uniform(&state)) * total;
  int last = -1;
  for (int i = 0; i < cols && sum <= target; i++) {
    if (!is_kept(x, cols, i, k)) continue;
    const float weight = expf(__half2float(x[i]) - top);
    sum += weight;
    if (weight > 0) last = i;
  }
  token[row] = last;
}
