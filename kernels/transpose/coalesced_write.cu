// Y = X transposed, one thread an element, writing along the rows of Y.
//
// The reverse of naive: the writes are coalesced and the scattered reads go through
// the read-only cache (__ldg), which tolerates them better than memory tolerates
// scattered writes. Which of the two is faster depends on the GPU; tiled beats both.
//
// /// kernel
// op     = "transpose"
// axes   = { rows = "1..1073741824", cols = "1..524280" }  # grid y: 65535 blocks of 8 rows of y
// tune   = { height = [8, 16, 32] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[cols, rows] <- y" }
// launch = [{ grid = "ceil_div(rows, 32), ceil_div(cols, height)", block = "32, height" }]
// ///

__global__ void transpose_coalesced_write(float *y, const float *x, int rows, int cols) {
    // y is (cols, rows), x is (rows, cols)
    const int row = blockIdx.x * blockDim.x + threadIdx.x;  // of x; may pass rows - 1
    const int col = blockIdx.y * blockDim.y + threadIdx.y;  // of x; may pass cols - 1
    if (row >= rows || col >= cols) {
        return;
    }
    y[static_cast<size_t>(col) * rows + row] = __ldg(x + static_cast<size_t>(row) * cols + col);
}
