// Sum of each row: `width` lanes a row, every lane ending with the result, by __shfl_xor_sync.
//
// The butterfly of warp_max_xor with a sum. The mask starts at half the group: one step more, at the full width,
// would bring each lane its own value back and double the sum. Both lanes of a pair add the same two numbers, and
// a float addition commutes, so that all lanes end with the same bits.
//
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024], width = [1, 2, 4, 8, 16, 32] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// values = { nan = "ieee", pos_inf = "ieee" }
//
// [accuracy]
// adds = "ceil_div(cols, width) - 1 + ceil_log2(min(cols, width))"  # a lane's share, then halvings; to add 0 is exact
//
// [[launch]]
// entry = "warp_sum_xor<{width}>"
// grid  = "ceil_div(rows, threads / width)"
// block = "threads"
// ///

template <int width>
__device__ float warp_sum(float value) {
    // all 32 lanes take part, in groups of `width` neighbours; every lane ends with its group's result
    for (int mask = width / 2; mask > 0; mask /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    }
    return value;
}

template <int width>
__global__ void warp_sum_xor(float *y, const float *x, int rows, int cols) {
    // y is (rows), x is (rows, cols)
    const size_t row =
        (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / width;  // may pass rows - 1
    const int lane = threadIdx.x % width;  // ranges [0, width)

    // A group beyond the last row stays for the shuffles, whose mask names the whole warp.
    float value = 0.0f;
    if (row < rows) {
        for (int col = lane; col < cols; col += width) {  // col + width < 2^30 + 32: an int is enough
            value += x[row * cols + col];
        }
    }
    value = warp_sum<width>(value);

    // Any lane could write; that it is the last one shows that a butterfly leaves the result in all of them.
    if (row < rows && lane == width - 1) {
        y[row] = value;
    }
}
