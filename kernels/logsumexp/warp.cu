// The logarithm of each row's sum of exps, one warp a row: first the maximum, then the sum of exp(x - max).
//
// /// kernel
// op     = "logsumexp"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// launch = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
//
// [accuracy]
// adds      = "ceil_div(cols, 32) - 1 + ceil_log2(min(cols, 32))"  # a lane's share, then the halvings
// rescales  = 0
// exp       = "expf"
// functions = { log = "logf" }
// ///

__global__ void logsumexp_warp(float *y, const float *x, int rows, int cols) {
    // y is (rows), x is (rows, cols); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    if (row >= rows) {
        return;  // the whole warp together, so that no shuffle misses a lane
    }
    x += row * cols;

    float max = -INFINITY;
    for (int col = lane; col < cols; col += 32) {
        max = fmaxf(max, x[col]);
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, mask));
    }
    float sum = 0.0f;
    for (int col = lane; col < cols; col += 32) {
        sum += expf(x[col] - max);
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    }
    if (lane == 0) {
        y[row] = max == -INFINITY ? max : max + logf(sum);  // of nothing but -inf the sum is NaN
    }
}
