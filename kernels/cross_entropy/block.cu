// Cross-entropy of each row and its label, one block a row: the logarithm of the sum of exps, minus the label's x.
//
// For long rows, such as those of a vocabulary. The maximum and the sum are block reductions with a shared array each.
//
// /// kernel
// op     = "cross_entropy"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 256, 1024] }
// arrays = { x = "f32[rows, cols] -> x", labels = "i32[rows] -> labels", loss = "f32[rows] <- loss" }
// launch = [{ grid = "rows", block = "threads" }]
//
// [accuracy]
// form      = "lse - x"
// adds      = "ceil_div(cols, threads) - 1 + ceil_log2(min(cols, threads))"  # a share, then halvings
// rescales  = 0
// exp       = "expf"
// functions = { log = "logf" }
// ///

#include "../warp_and_block.cuh"

__global__ void cross_entropy_block(float *loss, const float *x, const int *labels, int cols) {
    // loss is (rows), x is (rows, cols), labels is (rows) in [0, cols); a block a row
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
    if (threadIdx.x == 0) {
        loss[row] = (max + logf(sum)) - x[labels[row]];
    }
}
