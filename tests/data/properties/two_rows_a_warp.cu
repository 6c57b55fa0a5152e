// Row sums by half a warp each: a row's neighbour in the warp, or that there is none, changes nothing.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..65535", cols = "1..2048" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// claims = { batch_invariant = true }
// launch = [{ entry = "sums", grid = "ceil_div(rows, 2)", block = "32" }]
// ///
__global__ void sums(float *y, const float *x, int rows, int cols) {
  const int row = 2 * blockIdx.x + threadIdx.x / 16, lane = threadIdx.x % 16;
  float sum = 0;
  for (int i = lane; i < cols && row < rows; i += 16) sum += x[(size_t)row * cols + i];
  for (int mask = 8; mask; mask /= 2) sum += __shfl_xor_sync(~0u, sum, mask);
  if (lane == 0 && row < rows) y[row] = sum;
}
