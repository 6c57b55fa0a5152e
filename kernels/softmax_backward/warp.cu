// The gradient of a softmax by its answer y, one warp a row: dx = y (g - sum y g).
//
// /// kernel
// op     = "softmax_backward"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 128, 512] }
// arrays = { y = "f32[rows, cols] -> y", g = "f32[rows, cols] -> g", dx = "f32[rows, cols] <- dx" }
// launch = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
//
// [accuracy]
// form = "y (g - s)"
// adds = "ceil_div(cols, 32) - 1 + ceil_log2(min(cols, 32))"  # a lane's share, then the halvings
// ///

#include "../warp_and_block.cuh"

__global__ void softmax_backward_warp(float *dx, const float *y, const float *g, int rows, int cols) {
    // dx, y and g are (rows, cols); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    if (row >= rows) {
        return;  // the whole warp together, so that no shuffle misses a lane
    }
    y += row * cols;
    g += row * cols;
    float sum = 0.0f;
    for (int col = lane; col < cols; col += 32) {
        sum += y[col] * g[col];
    }
    sum = warp_sum(sum);
    for (int col = lane; col < cols; col += 32) {
        dx[row * cols + col] = y[col] * (g[col] - sum);
    }
}
