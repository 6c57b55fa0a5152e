// Nucleus sampling: a token is kept while the sum of those before it is below top_p. One thread does a row.
//
// /// kernel
// op      = "top_p_sampling"
// axes    = { rows = "1..1024", cols = "1..48" }
// arrays  = { x = "f32[rows, cols] -> logits", token = "i32[rows] <- token" }
// scalars = { top_p = 0.8, temperature = 1.25 }
// random  = { seed = "seed", offset = "offset" }
//
// [[launch]]
// grid  = "ceil_div(rows, 32)"
// block = "32"
// args  = ["token", "x", "rows", "cols", "top_p", "temperature", "seed", "offset"]
// ///
#include <curand_kernel.h>

__global__ void sample(int *token, const float *x, int rows, int cols, float top_p, float temperature,
                       unsigned long long seed, unsigned long long offset) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += (size_t)row * cols;
  float top = -INFINITY, total = 0, kept = 0, sum = 0;
  for (int i = 0; i < cols; i++) top = fmaxf(top, x[i]);
  for (int i = 0; i < cols; i++) total += expf((x[i] - top) / temperature);
  bool is_kept[48];
  for (int i = 0; i < cols; i++) {
    float before = 0;
    for (int j = 0; j < cols; j++)
      if (x[j] > x[i] || (x[j] == x[i] && j < i)) before += expf((x[j] - top) / temperature);
    is_kept[i] = before < top_p * total;
    if (is_kept[i]) kept += expf((x[i] - top) / temperature);
  }
  curandStatePhilox4_32_10_t state;
  curand_init(seed, row, offset, &state);
  const float target = (1.0f - curand_uniform(&state)) * kept;
  int last = -1;
  for (int i = 0; i < cols && sum <= target; i++) {
    if (!is_kept[i]) continue;
    const float weight = expf((x[i] - top) / temperature);
    sum += weight;
    if (weight > 0) last = i;
  }
  token[row] = last;
}
