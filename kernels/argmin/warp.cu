// Argmin of each row, one warp a row: every lane keeps its least element and its index, then lanes combine in pairs.
//
// Among equal elements the first wins, as in argmax/warp. A lane without elements holds +inf at an index beyond every row,
// which loses even against +inf itself. NaN counts as less than any number, as in torch.
//
// /// kernel
// op     = "argmin"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 128, 1024] }
// arrays = { x = "f32[rows, cols] -> x", index = "i32[rows] <- index" }
// values = { ties = "first", nan = "row" }
// claims = { batch_invariant = true }
// launch = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
// ///

struct Least {
    float value;
    int place;
};

__device__ bool comes_first(Least a, Least b) {
    // whether a is the better of two: NaN before numbers, the lesser number, the first of equals
    const bool a_is_nan = isnan(a.value), b_is_nan = isnan(b.value);
    if (a_is_nan || b_is_nan) {
        return a_is_nan && (!b_is_nan || a.place < b.place);
    }
    return a.value < b.value || (a.value == b.value && a.place < b.place);
}

__global__ void argmin_warp(int *index, const float *x, int rows, int cols) {
    // index is (rows), x is (rows, cols); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    if (row >= rows) {
        return;  // the whole warp together, so that no shuffle misses a lane
    }
    x += row * cols;

    Least least = {INFINITY, INT_MAX};
    for (int col = lane; col < cols; col += 32) {
        const Least one = {x[col], col};
        least = comes_first(one, least) ? one : least;
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        const Least other = {__shfl_xor_sync(0xffffffffu, least.value, mask),
                             __shfl_xor_sync(0xffffffffu, least.place, mask)};
        least = comes_first(other, least) ? other : least;
    }
    if (lane == 0) {
        index[row] = least.place;
    }
}
