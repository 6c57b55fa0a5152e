// softmax/safe_block, with the exponentials kept at the precision of a half.
//
// As a kernel for half inputs does that was turned into one for floats and kept an intermediate as it was. The
// exponential is rounded to the 11 bits that a half holds, by hand, so that the file compiles without cuda_fp16.h;
// the range stays a float's. Errors of 2^-11 pass every test with a tolerance of 1e-3.
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
// kind = "numeric"
// why  = "exp(x - max) is rounded to 11 bits before it is summed and divided"
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

__device__ float rounded_to_half(float value) {
    // to the nearest float whose significand has 11 bits; a carry may move into the exponent, as it should
    return __uint_as_float((__float_as_uint(value) + 0x1000u) & 0xffffe000u);
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
    const float e = col < cols ? rounded_to_half(expf(value - max)) : 0.0f;
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
