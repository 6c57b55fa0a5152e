// Maximum of each row: `width` lanes a row, every lane ending with the result, by __shfl_xor_sync.
//
// A butterfly: at each step lane i meets lane i ^ mask, so that both lanes of a pair get the same value. The mask
// starts at half the group. A warp holds 32 / width rows, which suits rows that are far shorter than a warp.
//
// /// kernel
// op     = "row_max"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024], width = [1, 2, 4, 8, 16, 32] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
//
// [[launch]]
// entry = "warp_max_xor<{width}>"
// grid  = "ceil_div(rows, threads / width)"
// block = "threads"
// ///

template <int width>
__device__ float warp_max(float value) {
    // all 32 lanes take part, in groups of `width` neighbours; every lane ends with its group's result
    for (int mask = width / 2; mask > 0; mask /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, mask));
    }
    return value;
}

template <int width>
__global__ void warp_max_xor(float *y, const float *x, int rows, int cols) {
    // y is (rows), x is (rows, cols)
    const size_t row =
        (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / width;  // may pass rows - 1
    const int lane = threadIdx.x % width;  // ranges [0, width)

    // A group beyond the last row stays for the shuffles, whose mask names the whole warp.
    float value = -INFINITY;
    if (row < rows) {
        for (int col = lane; col < cols; col += width) {  // col + width < 2^30 + 32: an int is enough
            value = fmaxf(value, x[row * cols + col]);
        }
    }
    value = warp_max<width>(value);

    // Any lane could write; that it is the last one shows that a butterfly leaves the result in all of them.
    if (row < rows && lane == width - 1) {
        y[row] = value;
    }
}
