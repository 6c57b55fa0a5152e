// The states of a generator are set up by a launch of their own, from a seed that lies in memory.
//
// /// kernel
// op     = "categorical"
// axes   = { rows = "1..512", cols = "1..64" }
// arrays = { x = "f32[rows, cols] -> logits", token = "i32[rows] <- token", states = "u32[rows, 12]", seeds = "i64[1] = seed" }
// random = { seed = "seed" }
// align  = 16
// launch = [
//   { call = "set_up((curandState *)states, seeds, rows)", grid = "ceil_div(rows, 32)", block = "32" },
//   { call = "sample(token, x, (curandState *)states, rows, cols)", grid = "ceil_div(rows, 32)", block = "32" },
// ]
// ///
#include <curand_kernel.h>

__global__ void set_up(curandState *states, const int64_t *seeds, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) curand_init(seeds[0], row, 0, &states[row]);
}

__global__ void sample(int *token, const float *x, curandState *states, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += (size_t)row * cols;
  curandState state = states[row];
  float top = -INFINITY, total = 0, sum = 0;
  for (int i = 0; i < cols; i++) top = fmaxf(top, x[i]);
  for (int i = cols - 1; i >= 0; i--) total += expf(x[i] - top);
  const float target = (1.0f - curand_uniform(&state)) * total;
  states[row] = state;
  int last = -1;
  for (int i = cols - 1; i >= 0 && sum <= target; i--) {
    const float weight = expf(x[i] - top);
    sum += weight;
    if (weight > 0) last = i;
  }
  token[row] = last;
}
