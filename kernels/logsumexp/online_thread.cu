// The logarithm of each row's sum of exps, one thread a row, in one pass: the sum follows the running maximum.
//
// /// kernel
// op     = "logsumexp"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [1, 32, 256] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
// launch = [{ grid = "ceil_div(rows, threads)", block = "threads" }]
//
// [accuracy]
// adds      = "cols - 1"
// rescales  = "cols - 1"
// shift     = "running max"
// exp       = "expf"
// functions = { log = "logf" }
// ///

__global__ void logsumexp_online(float *y, const float *x, int rows, int cols) {
    // y is (rows), x is (rows, cols); a thread a row
    const size_t row = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // may pass rows - 1
    if (row >= rows) {
        return;
    }
    x += row * cols;
    float max = -INFINITY, sum = 0.0f;
    for (int col = 0; col < cols; ++col) {
        const float value = x[col];
        if (value > max) {
            sum = sum * expf(max - value) + 1.0f;  // exp(-inf - value) = 0 leaves the sum of 0 as it is
            max = value;
        } else if (value > -INFINITY) {  // so max is finite; -inf - -inf would be NaN
            sum += expf(value - max);
        }
    }
    y[row] = max + logf(sum);  // nothing but -inf: -inf + -inf
}
