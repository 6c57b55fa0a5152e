// Softmax of each row, one block a row, on a state {m, d} that is reduced as one value.
//
// m is a maximum and d the sum of exp(x - m) that belongs to it. Two such states join into one, in any order,
// so the block reduces them like a sum: one reduction where safe_block needs two, and one pass over the row
// before the one that writes. The struct is aligned to 8 bytes, so that one load reads it from shared memory.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// launch = [{ grid = "rows", block = "threads" }]
//
// [let]
// joins = "ceil_div(cols, threads) - 1 + ceil_log2(min(cols, threads))"  # with other than empty states
//
// [accuracy]
// adds     = "joins"
// rescales = "joins"
// shift    = "running max"
// exp      = "expf"
// divide   = "ieee"
// ///

struct alignas(8) MD {
    float m;  // maximum; -inf in the empty state
    float d;  // sum of exp(x - m); 0 in the empty state
};

__device__ MD join(MD a, MD b) {
    // the state of both together; symmetric to the last bit, so that both lanes of a butterfly agree
    const MD big = a.m > b.m ? a : b;
    const MD small = a.m > b.m ? b : a;
    if (small.m == -INFINITY) {
        return big;  // nothing to add, and -inf - -inf would be NaN
    }
    return {big.m, big.d + small.d * expf(small.m - big.m)};
}

__device__ MD warp_join(MD state) {
    // all 32 lanes take part; every lane ends with the result
    for (int mask = 16; mask > 0; mask /= 2) {
        const MD other = {__shfl_xor_sync(0xffffffffu, state.m, mask),
                          __shfl_xor_sync(0xffffffffu, state.d, mask)};
        state = join(state, other);
    }
    return state;
}

__device__ MD block_join(MD state) {
    // all threads of the block, whole warps, take part; every thread ends with the same bits
    __shared__ MD of_warp[32];
    const int warp = threadIdx.x / 32;  // ranges [0, warps)
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const int warps = blockDim.x / 32;  // ranges [1, 32]
    state = warp_join(state);
    if (lane == 0) {
        of_warp[warp] = state;
    }
    __syncthreads();
    return warp_join(lane < warps ? of_warp[lane] : MD{-INFINITY, 0.0f});
}

__global__ void softmax_online_md_block(float *y, const float *x, int cols) {
    // y and x are (rows, cols); a block a row
    const size_t start = static_cast<size_t>(blockIdx.x) * cols;
    y += start;
    x += start;

    MD state = {-INFINITY, 0.0f};
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {  // col + 1024 < 2^31: an int is enough
        state = join(state, MD{x[col], 1.0f});
    }
    state = block_join(state);

    // A row of nothing but -inf has the state (-inf, 0) or (-inf, 1), and exp(-inf - -inf) makes it NaN.
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        y[col] = expf(x[col] - state.m) / state.d;
    }
}
