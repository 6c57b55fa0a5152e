// transpose/naive, which checks its rows but not its columns.
//
// The grid is rounded up to whole blocks, so there are threads beyond the last column. They read the next row and write
// behind the end of Y. Right for every width that is a multiple of 32.
//
// /// kernel
// op     = "transpose"
// axes   = { rows = "1..524280", cols = "1..1073741824" }  # grid y: 65535 blocks of 8 rows
// tune   = { height = [8, 16, 32] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[cols, rows] <- y" }
//
// [broken]
// kind = "out-of-bounds"
// why  = "threads beyond the last column write behind the array"
//
// [[launch]]
// entry = "transpose_naive"
// grid  = "ceil_div(cols, 32), ceil_div(rows, height)"
// block = "32, height"
// args  = ["y", "x", "rows", "cols"]
// ///

__global__ void transpose_naive(float *y, const float *x, int rows, int cols) {
    // y is (cols, rows), x is (rows, cols)
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // of x; may pass cols - 1
    const int row = blockIdx.y * blockDim.y + threadIdx.y;  // of x; may pass rows - 1
    if (row >= rows) {
        return;
    }
    y[static_cast<size_t>(col) * rows + row] = x[static_cast<size_t>(row) * cols + col];
}
