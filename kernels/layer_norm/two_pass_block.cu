// Layer norm of each row, one block a row, in two passes: the mean, then the squares of the differences from it.
//
// The second pass reads the row again, but squares small numbers: no digits are lost however large the mean is.
// Two block reductions with a shared array each, so that the second does not overwrite what the first still reads.
//
// /// kernel
// op     = "layer_norm"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", b = "f32[cols] -> b", y = "f32[rows, cols] <- y" }
// launch = [{ grid = "rows", block = "threads" }]
//
// [accuracy]
// form      = "two pass"
// adds      = "ceil_div(cols, threads) - 1 + ceil_log2(min(cols, threads))"  # a share, then halvings
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
// ///

#include "../warp_and_block.cuh"

__global__ void layer_norm_two_pass(float *y, const float *x, const float *w, const float *b, int cols) {
    // y and x are (rows, cols), w and b are (cols); a block a row
    __shared__ float sums[32], squares[32];
    x += static_cast<size_t>(blockIdx.x) * cols;
    y += static_cast<size_t>(blockIdx.x) * cols;

    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        sum += x[col];
    }
    const float mean = block_sum(sum, sums) / cols;

    float square = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        const float off = x[col] - mean;
        square += off * off;
    }
    const float scale = rsqrtf(block_sum(square, squares) / cols + 1e-5f);

    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        y[col] = (x[col] - mean) * scale * w[col] + b[col];
    }
}
