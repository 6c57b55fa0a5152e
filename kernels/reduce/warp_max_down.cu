// Maximum of each row of up to 32 columns: one warp a row, one element a lane, by __shfl_down_sync.
//
// The simplest reduction. Five halvings bring the maximum to lane 0, and to lane 0 alone
// (warp_max_xor leaves it in every lane). A lane beyond the row holds -inf, the identity
// of max: with -FLT_MAX instead, the maximum of a row of only -inf would be -FLT_MAX.
//
// /// kernel
// op     = "row_max"
// axes   = { rows = "1..2147483647", cols = "1..32" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// launch = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
// ///

__device__ float warp_max(float value) {
    // all 32 lanes take part; the result stands in lane 0 only
    for (int offset = 16; offset > 0; offset /= 2) {
        value = fmaxf(value, __shfl_down_sync(0xffffffffu, value, offset));
    }
    return value;
}

__global__ void warp_max_down(float *y, const float *x, int rows, int cols) {
    // y is (rows), x is (rows, cols), cols <= 32
    const size_t row =
        (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    const int lane = threadIdx.x % 32;  // ranges [0, 32): the lane's column
    if (row >= rows) {
        return;  // a whole warp returns at once, so the shuffles below see all 32 lanes
    }

    const float maximum = warp_max(lane < cols ? x[row * cols + lane] : -INFINITY);
    if (lane == 0) {
        y[row] = maximum;
    }
}
