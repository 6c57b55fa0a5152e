// Softmax of each row of up to 1024 columns, one block a row, one element a thread: maximum, sum, divide.
//
// The textbook form of a token-wise softmax, and the first that is correct for every finite row:
// the block's maximum is subtracted before exp. The element stays in a register, so the row is read
// once and written once. The block has as many whole warps as the row needs; threads beyond the row
// hold -inf for the maximum and 0 for the sum. Longer rows need a loop: online_block, cached_block.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1024" }
// let    = { threads = "32 * ceil_div(cols, 32)" }
// arrays = { x = "f32[rows, cols] -> x <- y" }
// values = { nan = "row", pos_inf = "row" }
// launch = [{ grid = "rows", block = "threads" }]
//
// [accuracy]
// adds     = "ceil_log2(cols)"  # five halvings in the warp, five between warps; to add the zeros of idle ones is exact
// rescales = 0
// exp      = "expf"
// divide   = "ieee"
// ///

__device__ float warp_max(float value) {
    // all 32 lanes take part; every lane ends with the result
    for (int mask = 16; mask > 0; mask /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, mask));
    }
    return value;
}

__device__ float warp_sum(float value) {
    // all 32 lanes take part; every lane ends with the result
    for (int mask = 16; mask > 0; mask /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    }
    return value;
}

__global__ void softmax_safe_block(float *x, int cols) {
    // x is (rows, cols), cols <= blockDim.x; a block a row
    __shared__ float max_of_warp[32];
    __shared__ float
        sum_of_warp[32];  // an array of its own, so that no barrier is needed before it is written
    const int col = threadIdx.x;  // ranges [0, blockDim.x), may pass cols - 1
    const int warp = threadIdx.x / 32;  // ranges [0, warps)
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const int warps = blockDim.x / 32;  // ranges [1, 32]
    x += static_cast<size_t>(blockIdx.x) * cols;
    const float value = col < cols ? x[col] : -INFINITY;

    float max = warp_max(value);
    if (lane == 0) {
        max_of_warp[warp] = max;
    }
    __syncthreads();
    max = warp_max(lane < warps ? max_of_warp[lane] : -INFINITY);

    // Not expf(-inf - max) for the threads beyond the row: that is NaN where max is -inf or NaN's row.
    const float e = col < cols ? expf(value - max) : 0.0f;
    float sum = warp_sum(e);
    if (lane == 0) {
        sum_of_warp[warp] = sum;
    }
    __syncthreads();
    sum = warp_sum(lane < warps ? sum_of_warp[lane] : 0.0f);

    if (col < cols) {
        x[col] = e / sum;
    }
}
