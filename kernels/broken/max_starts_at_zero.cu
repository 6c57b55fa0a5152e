// softmax/safe_block, whose maximum starts at 0.
//
// Subtracting 0 instead of a negative maximum is not wrong as mathematics goes: the exponentials are smaller and so is
// their sum. Only when the whole row lies below -87 do they leave the normal floats, and below -104 all of them are 0
// and the row is 0 / 0. Rows of N(0, 1) never get there, however many are tried.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1024" }
// let    = { threads = "32 * ceil_div(cols, 32)" }
// arrays = { x = "f32[rows, cols] -> x <- y" }
//
// [accuracy]
// adds     = "ceil_log2(cols)"  # five halvings in the warp, five between warps; to add the zeros of idle ones is exact
// rescales = 0
// exp      = "expf"
// divide   = "ieee"
//
// [values]
// nan     = "row"
// pos_inf = "row"
//
// [broken]
// kind = "special"
// why  = "the maximum of a row below 0 is taken to be 0: below -104 every exp is 0 and the row 0 / 0 = NaN"
//
// [[launch]]
// entry = "softmax_safe_block"
// grid  = "rows"
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

    float max = warp_max(fmaxf(value, 0.0f));
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
