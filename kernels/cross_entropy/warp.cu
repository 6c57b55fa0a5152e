// Cross-entropy of each row and its label, one warp a row: log(sum of exps) minus the label's x, both relative to the maximum.
//
// /// kernel
// op     = "cross_entropy"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", labels = "i32[rows] -> labels", loss = "f32[rows] <- loss" }
// launch = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
//
// [accuracy]
// form      = "log s - (x - m)"
// adds      = "ceil_div(cols, 32) - 1 + ceil_log2(min(cols, 32))"  # a lane's share, then the halvings
// rescales  = 0
// exp       = "expf"
// functions = { log = "logf" }
// ///

__global__ void cross_entropy_warp(float *loss, const float *x, const int *labels, int rows, int cols) {
    // loss is (rows), x is (rows, cols), labels is (rows) in [0, cols); a warp a row
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
        loss[row] = logf(sum) - (x[labels[row]] - max);
    }
}
