// Running sums of each row, one warp a row, 32 elements at a time: a scan by shuffles, plus the total of all before.
//
// /// kernel
// op     = "prefix_sum"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// launch = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
//
// [accuracy]
// adds = "ceil_log2(min(cols, 32)) + ceil_div(cols, 32) - 1"  # within 32, then once for each 32 that follow
// ///

__global__ void prefix_sum_warp(float *y, const float *x, int rows, int cols) {
    // y and x are (rows, cols); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    if (row >= rows) {
        return;  // the whole warp together, so that no shuffle misses a lane
    }
    x += row * cols;
    y += row * cols;

    float before = 0.0f;  // the sum of all elements before `start`
    for (int start = 0; start < cols; start += 32) {
        const int col = start + lane;  // may pass cols - 1
        float value = col < cols ? x[col] : 0.0f;
        for (int step = 1; step < 32; step *= 2) {
            const float other = __shfl_up_sync(0xffffffffu, value, step);
            if (lane >= step) {  // the lowest lanes have got their own value back
                value += other;
            }
        }
        if (col < cols) {
            y[col] = before + value;
        }
        before += __shfl_sync(0xffffffffu, value, 31);
    }
}
