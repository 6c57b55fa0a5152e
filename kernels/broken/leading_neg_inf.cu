// softmax/online_thread without its guard: a row that begins with -inf comes out as NaN.
//
// The textbook form of the online loop. As long as nothing but -inf has been seen the running maximum is -inf, and
// exp(-inf - -inf) is NaN; from then on the sum is. Causal masks and left padding begin rows in just this way.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [1, 32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x <- y" }
//
// [accuracy]
// adds     = "cols"
// rescales = "cols - 1"
// exp      = "expf"
// divide   = "ieee"
//
// [broken]
// kind = "special"
// why  = "exp(-inf - -inf) = NaN enters the sum when a row begins with -inf"
//
// [[launch]]
// entry = "softmax_online_thread"
// grid  = "ceil_div(rows, threads)"
// block = "threads"
// args  = ["x", "rows", "cols"]
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
        const float new_max = fmaxf(max, value);
        sum = sum * expf(max - new_max) + expf(value - new_max);
        max = new_max;
    }
    for (int col = 0; col < cols; ++col) {
        x[col] = expf(x[col] - max) / sum;
    }
}
