// Y = X transposed, one thread an element, with the place in Y in an int.
//
// The source index is computed in 64 bits; the target index, col * rows +
// row, in 32. Both are correct up to 2^31 elements, which are 8 GB an array.
//
// /// kernel
// op     = "transpose"
// axes   = { rows = "1..524280", cols = "1..524280" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[cols, rows] <- y" }
//
// [broken]
// kind = "illegal-address"
// why  = "col * rows + row is held in an int, which is negative from 2^31 elements on."
//
// [[launch]]
// grid  = "ceil_div(cols, 32), ceil_div(rows, 8)"
// block = "32, 8"
// ///

__global__ void transpose_int_place(float *y, const float *x, int rows, int cols) {
    // x is [rows, cols], y is [cols, rows]; a thread an element
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    if (row < rows && col < cols) {
        y[col * rows + row] = x[static_cast<long long>(row) * cols + col];  // BUG: an int is too small for the place in y
    }
}
