// Maximum of each row of up to 32 columns, one warp a row, by a butterfly that ends only on equality.
//
// The mask goes upwards, 1, 2, 4, ..., and the loop ends when it *equals* the length of
// the row. That is correct for every power of two. It skips any other length, overflows
// to 0 and stays there, and the kernel never ends. With < it would be correct for all.
//
// /// kernel
// op     = "row_max"
// axes   = { rows = "1..2147483647", cols = "1..32" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
//
// [broken]
// kind = "hang"
// why  = "The loop ends when a power of two equals cols, which need not be a power of two."
//
// [[launch]]
// grid  = "ceil_div(rows, threads / 32)"
// block = "threads"
// ///

__global__ void warp_max_upwards(float *y, const float *x, int rows, int cols) {
    // y is (rows), x is (rows, cols), cols <= 32
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    const int lane = threadIdx.x % 32;  // ranges [0, 32): the lane's column
    if (row >= rows) {
        return;  // a whole warp returns at once, so the shuffles below see all 32 lanes
    }

    float maximum = lane < cols ? x[row * cols + lane] : -INFINITY;
    for (unsigned mask = 1; mask != cols; mask *= 2) {
        maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, mask));
    }
    if (lane == 0) {
        y[row] = maximum;
    }
}
