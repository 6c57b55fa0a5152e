// The greatest of logits plus Gumbel numbers, from given uniform numbers, 0 among them.
//
// /// kernel
// op      = "gumbel_max"
// axes    = { rows = "1..1024", cols = "1..1024" }
// arrays  = { x = "f16[rows, cols] -> logits", u = "f32[rows, cols] -> u", token = "i32[rows] <- token" }
// scalars = { temperature = 0.5 }
// values  = { finite = true }
//
// [[launch]]
// grid  = "ceil_div(rows, 32)"
// block = "32"
// args  = ["token", "x", "u", "rows", "cols", "temperature"]
// ///
#include <cuda_fp16.h>

__global__ void greatest(int *token, const __half *x, const float *u, int rows, int cols, float temperature) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float best = -INFINITY;
  int at = 0;
  for (int i = 0; i < cols; i++) {
    const size_t place = (size_t)row * cols + i;
    const float gumbel = -logf(-logf(u[place]));
    const float value = __half2float(x[place]) / temperature + gumbel;
    if (value > best) {
      best = value;
      at = i;
    }
  }
  token[row] = at;
}
