// Cross entropy for all slots: the labels of rows that are not there may be anything, and are not looked at.
//
// /// kernel
// op     = "cross_entropy"
// axes   = { rows = "1..64", cols = "2..256" }
// let    = { slots = "rows + 7" }
// arrays = { x = "f32[rows within slots, cols] -> x", t = "i32[rows within slots] -> labels", y = "f32[rows within slots] <- loss" }
// launch = [{ entry = "losses", grid = "slots", block = "1" }]
// ///
__global__ void losses(float *y, const float *x, const int *t, int rows, int cols) {
  const int row = blockIdx.x;
  if (row >= rows) return;
  const float *mine = x + (size_t)row * cols;
  const float wanted = mine[t[row]];
  float most = -INFINITY, sum = 0;
  for (int i = 0; i < cols; i++) most = fmaxf(most, mine[i]);
  for (int i = 0; i < cols; i++) sum += expf(mine[i] - most);
  if (row < rows) y[row] = logf(sum) - (wanted - most);
}
