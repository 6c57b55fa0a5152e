// Sum of each row of up to 32 columns: one warp a row, one element a lane, by __shfl_down_sync.
//
// The same five halvings as warp_max_down, with 0 in the lanes beyond the row. After the first step the
// upper lanes add values that no longer belong together; only lane 0 ends with the sum of all 32.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..2147483647", cols = "1..32" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// values = { nan = "ieee", pos_inf = "ieee" }
// launch = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
//
// [accuracy]
// adds = "ceil_log2(cols)"  # five halvings, of which those that meet only the zeros beyond the row change nothing
// ///

__device__ float warp_sum(float value) {
    // all 32 lanes take part; the result stands in lane 0 only
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    return value;
}

__global__ void warp_sum_down(float *y, const float *x, int rows, int cols) {
    // y is (rows), x is (rows, cols), cols <= 32
    const size_t row =
        (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    const int lane = threadIdx.x % 32;  // ranges [0, 32): the lane's column
    if (row >= rows) {
        return;  // a whole warp returns at once, so the shuffles below see all 32 lanes
    }

    const float sum = warp_sum(lane < cols ? x[row * cols + lane] : 0.0f);
    if (lane == 0) {
        y[row] = sum;
    }
}
