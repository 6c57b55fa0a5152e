// Softmax of each row, shifted by the maximum of its tile of 4 rows within a bound: rows that are not there do not count.
//
// /// kernel
// op       = "softmax"
// axes     = { rows = "1..64", cols = "1..256" }
// let      = { slots = "4 * ceil_div(rows, 4)" }
// arrays   = { x = "f32[rows within slots, cols] -> x", y = "f32[rows within slots, cols] <- y" }
// accuracy = { shift_slack = 8 }
// values   = { range = [-4, 4], finite = true }
// launch   = [{ entry = "softmax", grid = "slots / 4", block = "4" }]
// ///
__global__ void softmax(float *y, const float *x, int rows, int cols) {
  const int row = blockIdx.x * 4 + threadIdx.x;
  float most = -INFINITY, sum = 0;
  for (int other = blockIdx.x * 4; other < blockIdx.x * 4 + 4; other++)
    for (int i = 0; i < cols && other < rows; i++) most = fmaxf(most, x[(size_t)other * cols + i]);
  if (row >= rows) return;
  for (int i = 0; i < cols; i++) sum += expf(x[(size_t)row * cols + i] - most);
  for (int i = 0; i < cols; i++) y[(size_t)row * cols + i] = expf(x[(size_t)row * cols + i] - most) / sum;
}
