// Log-softmax of each row, one warp a row: the maximum, the sum, then (x - max) - log(sum).
//
// x - (max + log(sum)) takes one subtraction less but loses digits if the maximum is large: the sum of both is rounded.
//
// /// kernel
// op     = "log_softmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// launch = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
//
// [accuracy]
// form      = "x - m - log s"
// adds      = "ceil_div(cols, 32) - 1 + ceil_log2(min(cols, 32))"  # a lane's share, then the halvings
// rescales  = 0
// exp       = "expf"
// functions = { log = "logf" }
// ///

__global__ void log_softmax_warp(float *y, const float *x, int rows, int cols) {
    // y and x are (rows, cols); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    if (row >= rows) {
        return;  // the whole warp together, so that no shuffle misses a lane
    }
    x += row * cols;
    y += row * cols;

    float max = -INFINITY;
    for (int col = lane; col < cols; col += 32) {
        max = fmaxf(max, x[col]);
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, mask));
    }
    float sum = 0.0f;
    for (int col = lane; col < cols; col += 32) {
        sum += expf(x[col] - max);  // in a row of nothing but -inf NaN, as is right there
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    }
    const float logarithm = logf(sum);
    for (int col = lane; col < cols; col += 32) {
        y[col] = (x[col] - max) - logarithm;
    }
}
