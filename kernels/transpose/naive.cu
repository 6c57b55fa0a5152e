// Y = X transposed, one thread an element, reading along the rows of X.
//
// The reads are coalesced, the writes are not: neighbouring threads write addresses
// a whole column of X apart. coalesced_write does the reverse; tiled coalesces both.
//
// /// kernel
// op     = "transpose"
// axes   = { rows = "1..524280", cols = "1..1073741824" }  # grid y: 65535 blocks of 8 rows
// tune   = { height = [8, 16, 32] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[cols, rows] <- y" }
// launch = [{ grid = "ceil_div(cols, 32), ceil_div(rows, height)", block = "32, height" }]
// ///

__global__ void transpose_naive(float *y, const float *x, int rows, int cols) {
    // y is (cols, rows), x is (rows, cols)
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // of x; may pass cols - 1
    const int row = blockIdx.y * blockDim.y + threadIdx.y;  // of x; may pass rows - 1
    if (row >= rows || col >= cols) {
        return;
    }
    y[static_cast<size_t>(col) * rows + row] = x[static_cast<size_t>(row) * cols + col];
}
