// Row maxima, eight rows a warp: lanes of rows that are not there load and shuffle like the others, in groups of their own.
//
// /// kernel
// op     = "row_max"
// axes   = { rows = "1..64", cols = "1..256" }
// let    = { slots = "8 * ceil_div(rows, 8)" }
// arrays = { x = "f32[rows within slots, cols] -> x", y = "f32[rows within slots] <- y" }
// values = { finite = true }
// launch = [{ entry = "maxima", grid = "slots / 8", block = "32" }]
// ///
__global__ void maxima(float *y, const float *x, int rows, int cols) {
  const int row = blockIdx.x * 8 + threadIdx.x / 4, lane = threadIdx.x % 4;
  float found = -INFINITY;
  for (int i = lane; i < cols; i += 4) found = fmaxf(found, x[(size_t)row * cols + i]);
  for (int mask = 2; mask; mask /= 2) found = fmaxf(found, __shfl_xor_sync(~0u, found, mask));
  if (lane == 0 && row < rows) y[row] = found;
}
