// The gradient of an embedding, one block a row of the table: it looks for the row in all indices, in their order.
//
// No atomics: the same input gives the same bits. It reads all indices once for each row, which is little beside g where
// rows are long and the table is small.
//
// /// kernel
// op     = "backward of embedding"
// axes   = { n = "1..16777216", rows = "1..16777216", cols = "1..65536" }
// tune   = { threads = [32, 128] }
// arrays = { index = "i32[n] -> index", w = "f32[rows, cols] -> w", g = "f32[n, cols] -> g_y", dw = "f32[rows, cols] <- d_w" }
// claims = { deterministic = true }
// launch = [{ grid = "rows", block = "threads" }]
// ///

__global__ void embedding_backward_rows(float *dw, const int *index, const float *g, int n, int cols) {
    // dw is (rows, cols), index is (n) in [0, rows), g is (n, cols); a block a row of dw
    const int row = blockIdx.x;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        float sum = 0.0f;
        for (int i = 0; i < n; ++i) {
            if (index[i] == row) {
                sum += g[static_cast<size_t>(i) * cols + col];
            }
        }
        dw[static_cast<size_t>(row) * cols + col] = sum;
    }
}
