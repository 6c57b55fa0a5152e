// softmax/online_thread, which forgets in its last pass that the row has been overwritten.
//
// In place, exp(x - max) is stored on the first pass over the row after the maximum is known; the pass that divides then
// reads the row as if it still held x. What it computes is exp(exp(x - max) - max) / sum. With separate arrays for
// input and output the same code would be right.
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
// kind = "numeric"
// why  = "x[col] is read as the input after it has been overwritten by exp(x - max)"
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
        if (value > max) {
            // the first finite element comes here: exp(-inf - value) = 0 leaves the sum of 0 as it is
            sum = sum * expf(max - value) + 1.0f;
            max = value;
        } else if (value > -INFINITY) {  // so max is finite; a leading -inf would make exp(-inf - -inf) = NaN
            sum += expf(value - max);
        }
    }
    float *y = x;  // in place
    for (int col = 0; col < cols; ++col) {
        y[col] = expf(x[col] - max);
    }
    for (int col = 0; col < cols; ++col) {
        y[col] = expf(x[col] - max) / sum;
    }
}
