// RMS norm of each row, one warp a row: the mean of the squares, without subtracting a mean first.
//
// /// kernel
// op     = "rms_norm"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", y = "f32[rows, cols] <- y" }
// launch = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
//
// [accuracy]
// adds      = "ceil_div(cols, 32) - 1 + ceil_log2(min(cols, 32))"  # a lane's share, then the halvings
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
// ///

__device__ float warp_sum(float value) {
    // all 32 lanes take part; every lane ends with the result
    for (int mask = 16; mask > 0; mask /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    }
    return value;
}

__global__ void rms_norm_warp(float *y, const float *x, const float *w, int rows, int cols) {
    // y and x are (rows, cols), w is (cols); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    if (row >= rows) {
        return;  // the whole warp together, so that no shuffle misses a lane
    }
    x += row * cols;
    y += row * cols;

    float sum = 0.0f;
    for (int col = lane; col < cols; col += 32) {
        sum += x[col] * x[col];
    }
    const float scale = rsqrtf(warp_sum(sum) / cols + 1e-6f);
    for (int col = lane; col < cols; col += 32) {
        y[col] = x[col] * scale * w[col];
    }
}
