// Row sums whose rows are handed out by an atomic counter: which block takes a row varies, what it makes of it does not.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..4096", cols = "1..2048" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y", next = "i32[1] = 0" }
// claims = { batch_invariant = true, deterministic = true }
// launch = [{ entry = "sums", grid = "6", block = "1" }]
// ///
__global__ void sums(float *y, int *next, const float *x, int rows, int cols) {
  for (int row = atomicAdd(next, 1); row < rows; row = atomicAdd(next, 1)) {
    float sum = 0;
    for (int i = 0; i < cols; i++) sum += x[(size_t)row * cols + i];
    y[row] = sum;
  }
}
