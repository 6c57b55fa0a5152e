// Rows of a table, two in each block: an index out of range gives a row of zeros.
//
// /// kernel
// op     = "embedding"
// axes   = { n = "1..65535", rows = "1..65535", cols = "1..1024" }
// tune   = { threads = [32, 64] }
// arrays = { index = "i32[n] -> index", w = "f32[rows, cols] -> w", y = "f32[n, cols] <- y" }
// claims = { checks_indices = true }
// launch = [{ entry = "rows_of_a_table", grid = "ceil_div(n, 2)", block = "threads" }]
// ///
__global__ void rows_of_a_table(float *y, const int *index, const float *w, int n, int rows, int cols) {
  // y is (n, cols), index is (n) of any integers, w is (rows, cols)
  for (int i = 2 * blockIdx.x; i < min(n, 2 * static_cast<int>(blockIdx.x) + 2); i++) {
    const int row = index[i];
    const bool is_inside = row >= 0 && row < rows;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
      y[static_cast<size_t>(i) * cols + col] = is_inside ? w[static_cast<size_t>(row) * cols + col] : 0.0f;
    }
  }
}
