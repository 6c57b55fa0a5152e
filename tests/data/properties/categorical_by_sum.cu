// Draws one token of each row by the cumulated sum of its weights; one thread does a row.
//
// /// kernel
// op      = "categorical"
// axes    = { rows = "1..1024", cols = "1..256" }
// arrays  = { x = "f32[rows, cols] -> logits", token = "i32[rows] <- token" }
// scalars = { temperature = 0.8 }
// random  = { seed = "seed", offset = "offset" }
// claims  = { deterministic = true }
//
// [[launch]]
// grid  = "ceil_div(rows, 32)"
// block = "32"
// args  = ["token", "x", "rows", "cols", "temperature", "seed", "offset"]
// ///
#include <curand_kernel.h>

__global__ void sample(int *token, const float *x, int rows, int cols, float temperature, unsigned long long seed,
                       unsigned long long offset) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += (size_t)row * cols;
  float top = -INFINITY, total = 0;
  for (int i = 0; i < cols; i++) top = fmaxf(top, x[i] / temperature);
  for (int i = 0; i < cols; i++) total += expf(x[i] / temperature - top);
  curandStatePhilox4_32_10_t state;
  curand_init(seed, row, offset, &state);
  const float target = (1.0f - curand_uniform(&state)) * total;
  float sum = 0;
  int last = -1;
  for (int i = 0; i < cols && sum <= target; i++) {
    const float weight = expf(x[i] / temperature - top);
    sum += weight;
    if (weight > 0) last = i;
  }
  token[row] = last;
}
