// Softmax of each row, one block a row, straight from the formula: exp(x) / sum of exp(x).
//
// The starting point of block-wide softmax: nothing is subtracted before exp. That is correct as long as
// the sum stays below FLT_MAX = 3.4e38 and no term falls below the normal floats. With |x| <= 80 a term
// lies between 1.8e-35 and 5.6e34, and the sum of a row of 6000 still fits. Beyond that use safe_block.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..6000" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// values = { range = [-80, 80] }
// launch = [{ grid = "rows", block = "threads" }]
//
// [accuracy]  # a thread's share, then the halvings that meet more than zeros
// adds   = "ceil_div(cols, threads) - 1 + ceil_log2(min(cols, threads))"
// shift  = "zero"
// exp    = "expf"
// divide = "ieee"
// ///

__device__ float warp_sum(float value) {
    // all 32 lanes take part; every lane ends with the result
    for (int mask = 16; mask > 0; mask /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    }
    return value;
}

__device__ float block_sum(float value) {
    // all threads of the block, whole warps, take part; every thread ends with the same bits
    __shared__ float of_warp[32];
    const int warp = threadIdx.x / 32;  // ranges [0, warps)
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const int warps = blockDim.x / 32;  // ranges [1, 32]
    value = warp_sum(value);
    if (lane == 0) {
        of_warp[warp] = value;
    }
    __syncthreads();
    return warp_sum(lane < warps ? of_warp[lane] : 0.0f);
}

__global__ void softmax_naive_block(float *y, const float *x, int cols) {
    // y and x are (rows, cols); a block a row
    const size_t start = static_cast<size_t>(blockIdx.x) * cols;
    y += start;
    x += start;

    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        sum += expf(x[col]);
    }
    sum = block_sum(sum);
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        y[col] = expf(x[col]) / sum;
    }
}
