// Softmax of each row, one thread a row, in three passes, with the sum held in double.
//
// three_pass_thread with one word changed. The terms are still exp in float, but the addition loses
// almost none of their accuracy, however long the row is: the sum is rounded once, when it becomes
// a float again. The price is one double addition an element, on GPUs that have few units for them.
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
// adds       = "cols - 1"
// rescales   = 0
// accumulate = "f64"
// exp        = "expf"
// divide     = "ieee"
// ///

__global__ void softmax_thread_f64_sum(float *y, const float *x, int rows, int cols) {
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

    double sum = 0.0;
    for (int col = 0; col < cols; ++col) {
        sum += expf(x[col] - max);
    }

    const float denominator = static_cast<float>(sum);
    for (int col = 0; col < cols; ++col) {
        y[col] = expf(x[col] - max) / denominator;
    }
}
