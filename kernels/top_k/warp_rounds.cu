// The k largest elements of each row, one warp a row, one in each of k rounds: the next one after the last one taken.
//
// This marks nothing and needs no memory: an element comes after another if it is smaller, or equal and further
// right. So equal elements are taken one by one, from the left, and none twice. k passes over the row suit a small k.
//
// /// kernel
// op     = "top_k"
// axes   = { rows = "1..2147483647", cols = "8..1073741824" }
// tune   = { threads = [32, 64, 256], k = [1, 3, 8] }
// arrays = { x = "f32[rows, cols] -> x", values = "f32[rows, k] <- values", indices = "i32[rows, k] <- indices" }
// values = { ties = "first" }
// launch = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
// ///

struct Best {
    float value;
    int place;
};

__device__ bool is_ahead(Best a, Best b) {
    // whether a ranks before b: it is greater, or equal and further left
    return a.value > b.value || (a.value == b.value && a.place < b.place);
}

__global__ void top_k_warp_rounds(float *values, int *indices, const float *x, int rows, int cols, int k) {
    // values and indices are (rows, k), x is (rows, cols), k <= cols; a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    if (row >= rows) {
        return;  // the whole warp together, so that no shuffle misses a lane
    }
    x += row * cols;

    Best last = {INFINITY, -1};  // ahead of every element
    for (int rank = 0; rank < k; ++rank) {
        Best best = {-INFINITY, INT_MAX};  // behind every element
        for (int col = lane; col < cols; col += 32) {
            const Best one = {x[col], col};
            if (is_ahead(last, one) && is_ahead(one, best)) {
                best = one;
            }
        }
        for (int mask = 16; mask > 0; mask /= 2) {
            const Best other = {__shfl_xor_sync(0xffffffffu, best.value, mask),
                                __shfl_xor_sync(0xffffffffu, best.place, mask)};
            best = is_ahead(other, best) ? other : best;
        }
        if (lane == 0) {
            values[row * k + rank] = best.value;
            indices[row * k + rank] = best.place;
        }
        last = best;
    }
}
