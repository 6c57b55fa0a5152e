// reduce/warp_max_down, whose lanes beyond the row return before the shuffles.
//
// The mask of the shuffles still names all 32 lanes. A lane that has returned does not take part, and what is read from
// it is undefined: its last value on one card, 0 on another, so that it may look right for years.
//
// /// kernel
// op     = "row_max"
// axes   = { rows = "1..2147483647", cols = "1..32" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
//
// [broken]
// kind = "inactive-lane"
// why  = "lanes beyond cols return, and the full-mask shuffles then read from them"
//
// [[launch]]
// entry = "warp_max_down"
// grid  = "ceil_div(rows, threads / 32)"
// block = "threads"
// args  = ["y", "x", "rows", "cols"]
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
    if (row >= rows || lane >= cols) {
        return;
    }

    const float maximum = warp_max(lane < cols ? x[row * cols + lane] : -INFINITY);
    if (lane == 0) {
        y[row] = maximum;
    }
}
