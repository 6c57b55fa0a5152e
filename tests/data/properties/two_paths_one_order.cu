// Row sums by two kernels, one for few rows and one for many, which add up in the same order: no row can tell.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..4096", cols = "1..4096" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// claims = { batch_invariant = true }
// launch = [
//   { entry = "of_block", grid = "rows", block = "32", when = "rows < 32" },
//   { entry = "of_warps", grid = "ceil_div(rows, 4)", block = "128", when = "rows >= 32" },
// ]
// ///
__device__ float of_row(const float *x, int cols, int lane) {
  float sum = 0;
  for (int i = lane; i < cols; i += 32) sum += x[i];
  for (int mask = 16; mask; mask /= 2) sum += __shfl_xor_sync(~0u, sum, mask);
  return sum;
}

__global__ void of_block(float *y, const float *x, int rows, int cols) {
  const float sum = of_row(x + (size_t)blockIdx.x * cols, cols, threadIdx.x);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

__global__ void of_warps(float *y, const float *x, int rows, int cols) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32;
  if (row >= rows) return;
  const float sum = of_row(x + (size_t)row * cols, cols, threadIdx.x % 32);
  if (threadIdx.x % 32 == 0) y[row] = sum;
}
