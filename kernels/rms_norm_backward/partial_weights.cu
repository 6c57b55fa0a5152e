// The gradients of an RMS norm from its saved rstd: each block takes every so many-th row and keeps a sum for dw of its own.
//
// A row is read for dx and for dw at once. The sums of the blocks lie in a scratch array, one row a block, and a second
// launch adds them: no atomics, and two runs give the same bits.
//
// /// kernel
// op     = "rms_norm_backward"
// axes   = { rows = "1..16777216", cols = "1..65536" }
// tune   = { threads = [32, 128, 512], blocks = [1, 2, 7] }
// claims = { deterministic = true }
//
// [arrays]
// x     = "f32[rows, cols] -> x"
// rstd  = "f32[rows] -> rstd"
// w     = "f32[cols] -> w"
// g     = "f32[rows, cols] -> g"
// dx    = "f32[rows, cols] <- dx"
// dw    = "f32[cols] <- dw"
// parts = "f32[blocks, cols]"
//
// [accuracy]
// form = "means"
// adds = { dw = "ceil_div(rows, blocks) - 1 + min(rows, blocks) - 1", "*" = "ceil_div(cols, threads) - 1 + ceil_log2(min(cols, threads))" }
//
// [[launch]]
// entry = "rms_norm_backward_rows"
// grid  = "blocks"
// block = "threads"
//
// [[launch]]
// entry = "rms_norm_backward_weights"
// grid  = "ceil_div(cols, threads)"
// block = "threads"
// ///

#include "../warp_and_block.cuh"

__global__ void rms_norm_backward_rows(float *dx, float *parts, const float *x, const float *rstd, const float *w,
                                       const float *g, int rows, int cols) {
    // dx, x and g are (rows, cols), parts is (blocks, cols), rstd is (rows), w is (cols); a block every blocks-th row
    __shared__ float of_warp[32];
    parts += static_cast<size_t>(blockIdx.x) * cols;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {  // each thread those that it adds to
        parts[col] = 0.0f;
    }
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const size_t first = static_cast<size_t>(row) * cols;
        const float r = rstd[row];
        float sum = 0.0f;
        for (int col = threadIdx.x; col < cols; col += blockDim.x) {
            const float normed = x[first + col] * r;
            sum += g[first + col] * w[col] * normed;
            parts[col] += g[first + col] * normed;
        }
        const float mean = block_sum(sum, of_warp) / cols;
        for (int col = threadIdx.x; col < cols; col += blockDim.x) {
            dx[first + col] = (g[first + col] * w[col] - x[first + col] * r * mean) * r;
        }
        __syncthreads();  // the sums of the warps have been read
    }
}

__global__ void rms_norm_backward_weights(float *dw, const float *parts, int blocks, int cols) {
    // dw is (cols), parts is (blocks, cols); a thread a column
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1
    if (col >= cols) {
        return;
    }
    float sum = 0.0f;
    for (int block = 0; block < blocks; ++block) {
        sum += parts[static_cast<size_t>(block) * cols + col];
    }
    dw[col] = sum;
}
