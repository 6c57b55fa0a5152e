// softmax/safe_block for rows that are longer than a block, without anything that joins the blocks.
//
// The grid has grown a second dimension, and each block normalises its piece of the row by the piece's own maximum and
// sum. Right as long as the row fits into one block; beyond that every piece adds up to 1. It claims finite values only:
// a piece of nothing but -inf would show the same bug as a NaN.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1048576" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x <- y" }
//
// [accuracy]
// adds     = "ceil_log2(cols)"  # five halvings in the warp, five between warps; to add the zeros of idle ones is exact
// rescales = 0
// exp      = "expf"
// divide   = "ieee"
//
// [values]
// finite = true
//
// [broken]
// kind = "numeric"
// why  = "a row longer than a block is normalised in pieces, each by its own sum"
//
// [[launch]]
// entry = "softmax_safe_block"
// grid  = "rows, ceil_div(cols, threads)"
// block = "threads"
// args  = ["x", "cols"]
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
    // x is (rows, cols); a block a piece of a row, gridDim.y pieces
    __shared__ float max_of_warp[32];
    __shared__ float
        sum_of_warp[32];  // an array of its own, so that no barrier is needed before it is written
    const int col = blockIdx.y * blockDim.x + threadIdx.x;  // may pass cols - 1
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
