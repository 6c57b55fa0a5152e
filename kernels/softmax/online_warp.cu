// Softmax of each row, one warp a row: lanes online, then two reductions by shuffle, from the highest lane down.
//
// The step to coalesced reads: the 32 lanes of a warp read 32 adjacent elements at a time. Each lane
// keeps a maximum and the sum that belongs to it. The warp's maximum ends in lane 0, which passes it
// to all; each lane rescales its own sum to that maximum, and the sums are collected and passed on in
// the same way. No shared memory and no barrier: the warps of a block do not communicate. In place.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x <- y" }
// launch = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
//
// [accuracy]
// adds     = "ceil_div(cols, 32) - 1 + ceil_log2(min(cols, 32))"  # a lane's share, then the halvings that meet others
// rescales = "ceil_div(cols, 32)"  # for each element of the share but the first, then to the row's maximum
// shift    = "running max"
// exp      = "expf"
// divide   = "ieee"
// ///

__device__ float warp_max(float value) {
    // all 32 lanes take part; every lane ends with the result
    for (int offset = 16; offset > 0; offset /= 2) {
        value = fmaxf(value, __shfl_down_sync(0xffffffffu, value, offset));
    }
    return __shfl_sync(0xffffffffu, value, 0);  // only lane 0 has met all the others
}

__device__ float warp_sum(float value) {
    // all 32 lanes take part; every lane ends with the result
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    return __shfl_sync(0xffffffffu, value, 0);
}

__global__ void softmax_online_warp(float *x, int rows, int cols) {
    // x is (rows, cols); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    if (row >= rows) {
        return;  // the whole warp together, so that no shuffle misses a lane
    }
    x += row * cols;

    float max = -INFINITY, sum = 0.0f;
    for (int col = lane; col < cols; col += 32) {  // col + 32 < 2^31: an int is enough
        const float value = x[col];
        if (value > max) {
            // the first finite element comes here: exp(-inf - value) = 0 leaves the sum of 0 as it is
            sum = sum * expf(max - value) + 1.0f;
            max = value;
        } else if (value > -INFINITY) {  // so max is finite; a leading -inf would make exp(-inf - -inf) = NaN
            sum += expf(value - max);
        }
    }

    // A lane without a finite element has 0 * exp(-inf) = 0 here. In a row
    // of only -inf every lane has 0 * exp(-inf - -inf) = NaN, as it must be.
    const float max_of_row = warp_max(max);
    const float sum_of_row = warp_sum(sum * expf(max - max_of_row));

    for (int col = lane; col < cols; col += 32) {
        x[col] = expf(x[col] - max_of_row) / sum_of_row;
    }
}
