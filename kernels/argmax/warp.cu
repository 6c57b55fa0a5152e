// Argmax of each row, one warp a row: every lane keeps its largest element and its index, then lanes combine in pairs.
//
// Among equal elements the first wins, so a smaller index wins a tie: a lane's own loop visits its
// elements in order, but the butterfly does not. A lane without elements holds -inf at an index
// beyond every row, which loses even against -inf itself. NaN counts as the largest, as in torch.
//
// /// kernel
// op     = "argmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", index = "i32[rows] <- index" }
// values = { ties = "first", nan = "row" }
// launch = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
// ///

struct Best {
    float value;
    int place;
};

__device__ bool is_ahead(Best a, Best b) {
    // whether a is the better of two: NaN before numbers, the greater number, the first of equals
    const bool a_is_nan = isnan(a.value), b_is_nan = isnan(b.value);
    if (a_is_nan || b_is_nan) {
        return a_is_nan && (!b_is_nan || a.place < b.place);
    }
    return a.value > b.value || (a.value == b.value && a.place < b.place);
}

__global__ void argmax_warp(int *index, const float *x, int rows, int cols) {
    // index is (rows), x is (rows, cols); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    if (row >= rows) {
        return;  // the whole warp together, so that no shuffle misses a lane
    }
    x += row * cols;

    Best best = {-INFINITY, INT_MAX};
    for (int col = lane; col < cols; col += 32) {
        const Best one = {x[col], col};
        best = is_ahead(one, best) ? one : best;
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        const Best other = {__shfl_xor_sync(0xffffffffu, best.value, mask),
                            __shfl_xor_sync(0xffffffffu, best.place, mask)};
        best = is_ahead(other, best) ? other : best;
    }
    if (lane == 0) {
        index[row] = best.place;
    }
}
