// Layer norm of each row, one warp a row, in one pass: Welford's running mean and squares, combined by Chan's formula.
//
// Each lane keeps the count of its elements, their mean, and the sum of squared differences from it. Two such states
// combine into one: the means are weighted by their counts, and the squares grow by the distance of the means. A
// lane without an element has a count of 0, and leaves the other state unchanged. No shared memory and no barrier.
//
// /// kernel
// op     = "layer_norm"
// axes   = { rows = "1..2147483647", cols = "1..16777216" }  # a float counts no further
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", b = "f32[cols] -> b", y = "f32[rows, cols] <- y" }
// launch = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
//
// [accuracy]
// form      = "welford"
// adds      = "ceil_div(cols, 32) + ceil_log2(min(cols, 32))"  # a lane's elements, then the joins
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
// ///

struct State {
    float count, mean, squares;
};

__device__ State joined(State a, State b) {
    // of two parts of a row; either may be empty
    if (b.count == 0.0f) {
        return a;
    }
    if (a.count == 0.0f) {
        return b;  // the mean of an empty part says nothing: (1e20 - 0)^2 times a count of 0 would be NaN
    }
    const float count = a.count + b.count, off = b.mean - a.mean, share = b.count / count;
    return {count, a.mean + off * share, a.squares + b.squares + off * off * a.count * share};
}

__device__ State from_lane(State state, int mask) {
    return {__shfl_xor_sync(0xffffffffu, state.count, mask), __shfl_xor_sync(0xffffffffu, state.mean, mask),
            __shfl_xor_sync(0xffffffffu, state.squares, mask)};
}

__global__ void layer_norm_welford(float *y, const float *x, const float *w, const float *b, int rows, int cols) {
    // y and x are (rows, cols), w and b are (cols); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    if (row >= rows) {
        return;  // the whole warp together, so that no shuffle misses a lane
    }
    x += row * cols;
    y += row * cols;

    State state = {0.0f, 0.0f, 0.0f};
    for (int col = lane; col < cols; col += 32) {
        const float off = x[col] - state.mean;
        state.count += 1.0f;
        state.mean += off / state.count;
        state.squares += off * (x[col] - state.mean);
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        state = joined(state, from_lane(state, mask));
    }
    // The lanes of a pair join in either order, so that their means may differ in the last bit: lane 0's is the row's.
    const float mean = __shfl_sync(0xffffffffu, state.mean, 0);
    const float scale = rsqrtf(__shfl_sync(0xffffffffu, state.squares, 0) / cols + 1e-5f);

    for (int col = lane; col < cols; col += 32) {
        y[col] = (x[col] - mean) * scale * w[col] + b[col];
    }
}
