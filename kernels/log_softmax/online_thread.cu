// Log-softmax of each row, one thread a row: the sum follows the running maximum, then x - (max + log(sum)).
//
// One number, max + log(sum), serves the whole row: one subtraction an element. If the maximum is
// large, that number has lost digits of the logarithm, the same ones for every element of the row.
//
// /// kernel
// op     = "log_softmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [1, 32, 256] }
// arrays = { x = "f32[rows, cols] -> x <- y" }
// launch = [{ grid = "ceil_div(rows, threads)", block = "threads" }]
//
// [accuracy]
// form      = "x - lse"
// adds      = "cols - 1"
// rescales  = "cols - 1"
// shift     = "running max"
// exp       = "expf"
// functions = { log = "logf" }
// ///

__global__ void log_softmax_online_thread(float *x, int rows, int cols) {
    // x is (rows, cols), in place; a thread a row
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
    const float all = max + logf(sum);
    for (int col = 0; col < cols; ++col) {
        x[col] -= all;  // in a row of nothing but -inf: -inf - -inf is NaN, as is right there
    }
}
