// Softmax of each row, one thread a row, in three passes: the maximum, the sum of exp(x - max), exp(x - max) / sum.
//
// The definition, word for word, and the simplest variant: no shared memory, no barrier, one order
// of summation. It is slow for two reasons that the other variants remove: the row is read three
// times, and neighbouring threads read addresses a whole row apart, so that nothing coalesces.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [1, 32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// values = { nan = "row", pos_inf = "row" }
// launch = [{ grid = "ceil_div(rows, threads)", block = "threads" }]
//
// [accuracy]
// adds     = "cols - 1"  # the first one is added to 0
// rescales = "0"
// exp      = "expf"
// divide   = "ieee"
// ///

__global__ void softmax_three_pass_thread(float *y, const float *x, int rows, int cols) {
    // y and x are (rows, cols)
    const size_t row = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // may pass rows - 1
    if (row >= rows) {
        return;
    }
    y += row * cols;
    x += row * cols;

    float max = -INFINITY;
    for (int col = 0; col < cols; ++col) {
        max = fmaxf(max, x[col]);
    }

    // A row of nothing but -inf is NaN from here on: exp(-inf - -inf).
    float sum = 0.0f;
    for (int col = 0; col < cols; ++col) {
        sum += expf(x[col] - max);
    }

    for (int col = 0; col < cols; ++col) {
        y[col] = expf(x[col] - max) / sum;
    }
}
