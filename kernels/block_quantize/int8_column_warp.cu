// int8 with a scale for each column, a channel: a warp reads 32 columns side by side, a lane one of them from top to bottom.
//
// /// kernel
// op       = "block_quantize"
// axes     = { rows = "1..1048576", cols = "1..1048576" }
// tune     = { threads = [32, 128] }
// arrays   = { x = "f32[rows, cols] -> x", q = "i8[rows, cols] <- q", scale = "f32[1, cols] <- scale" }
// scalars  = { height = "rows", width = 1 }
// accuracy = { divide = "ieee" }
// quantize = { scale = "amax / max", apply = "divide", symmetric = true, zeros = "eps" }
// launch   = [{ grid = "ceil_div(cols, threads)", block = "threads" }]
// ///

#include <cstdint>

__global__ void int8_column_warp(int8_t *q, float *scale, const float *x, int rows, int cols) {
    // q and x are (rows, cols), scale is (cols); a thread a column
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1
    if (col >= cols) {
        return;
    }
    float amax = 0.0f;
    for (int row = 0; row < rows; ++row) {
        amax = fmaxf(amax, fabsf(x[static_cast<size_t>(row) * cols + col]));
    }
    const float by = fmaxf(amax, 1e-10f) / 127.0f;
    scale[col] = by;
    for (int row = 0; row < rows; ++row) {
        const size_t i = static_cast<size_t>(row) * cols + col;
        q[i] = static_cast<int8_t>(rintf(x[i] / by));
    }
}
