// Softmax of each row, one thread a row, in two passes: an online one for maximum and sum together, one to write.
//
// three_pass_thread reads the row three times; here the running sum is corrected whenever a larger
// element appears: sum = sum * exp(old max - new max) + exp(x - new max). One thread a row is still slow:
// neighbouring threads read addresses a whole row apart. In place: no thread touches another's row.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [1, 32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x <- y" }
// launch = [{ grid = "ceil_div(rows, threads)", block = "threads" }]
//
// [accuracy]
// adds     = "cols - 1"  # the first one is added to 0
// rescales = "cols - 1"
// shift    = "running max"
// exp      = "expf"
// divide   = "ieee"
// ///

__global__ void softmax_online_thread(float *x, int rows, int cols) {
    // x is (rows, cols)
    const size_t row = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // may pass rows - 1
    if (row >= rows) {
        return;
    }
    x += row * cols;

    float max = -INFINITY, sum = 0.0f;
    for (int col = 0; col < cols; ++col) {
        const float value = x[col];
        if (value > max) {
            // the first finite element comes here: exp(-inf - value) = 0 leaves the sum of 0 as it is
            sum = sum * expf(max - value) + 1.0f;
            max = value;
        } else if (value > -INFINITY) {  // so max is finite; a leading -inf would make exp(-inf - -inf) = NaN
            sum += expf(value - max);
        }
    }
    for (int col = 0; col < cols; ++col) {
        x[col] = expf(x[col] - max) / sum;
    }
}
