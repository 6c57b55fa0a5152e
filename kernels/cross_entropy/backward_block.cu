// The gradient of a cross-entropy, one block a row: the softmax of the row, less 1 at the label, times the loss's gradient.
//
// Nothing is saved but x: the maximum and the sum are worked out again, as for the loss.
//
// /// kernel
// op     = "backward of cross_entropy"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 256, 1024] }
// arrays = { x = "f32[rows, cols] -> x", labels = "i32[rows] -> labels", g = "f32[rows] -> g_loss", dx = "f32[rows, cols] <- d_x" }
// launch = [{ grid = "rows", block = "threads" }]
//
// [accuracy]
// adds     = "ceil_div(cols, threads) - 1 + ceil_log2(min(cols, threads))"  # a share, then halvings
// rescales = 0
// exp      = "expf"
// divide   = "ieee"
// ///

#include "../warp_and_block.cuh"

__global__ void cross_entropy_backward(float *dx, const float *x, const int *labels, const float *g, int cols) {
    // dx and x are (rows, cols), labels is (rows) in [0, cols), g is (rows); a block a row
    const size_t row = blockIdx.x;
    x += row * cols;
    float max = -INFINITY;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        max = fmaxf(max, x[col]);
    }
    max = block_max(max);
    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        sum += expf(x[col] - max);
    }
    sum = block_sum(sum);
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        const float share = expf(x[col] - max) / sum;
        dx[row * cols + col] = (col == labels[row] ? share - 1.0f : share) * g[row];
    }
}
