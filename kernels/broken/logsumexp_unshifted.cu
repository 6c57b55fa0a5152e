// logsumexp/online_thread, without the maximum: exp(x) overflows from 89 on, and vanishes below -104.
//
// /// kernel
// op     = "logsumexp"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [32, 256] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
//
// [accuracy]
// adds      = "cols - 1"
// rescales  = "cols - 1"
// shift     = "running max"
// exp       = "expf"
// functions = { log = "logf" }
//
// [broken]
// kind = "special"
// why  = "No maximum is subtracted before exp."
//
// [[launch]]
// grid  = "ceil_div(rows, threads)"
// block = "threads"
// ///

__global__ void logsumexp_online(float *y, const float *x, int rows, int cols) {
    // y is (rows), x is (rows, cols); a thread a row
    const size_t row = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // may pass rows - 1
    if (row >= rows) {
        return;
    }
    x += row * cols;
    float sum = 0.0f;
    for (int col = 0; col < cols; ++col) {
        const float value = x[col];
        sum += expf(value);
    }
    y[row] = logf(sum);
}
