// Softmax of each row in two launches; the second takes the denominator from the row before.
//
// The first launch leaves each row's maximum and sum in scratch arrays, one thread
// a row; the second writes, one thread an element, and its index into the sums is
// one row too low. The first row is correct, and so is every row whose predecessor
// has the same sum: equal rows, as in a test that repeats one row, do not show it.
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1048576" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y", maxima = "f32[rows]", sums = "f32[rows]" }
//
// [accuracy]
// adds     = "cols"
// rescales = 0
// exp      = "expf"
// divide   = "ieee"
//
// [broken]
// kind = "numeric"
// why  = "Row r is divided by the sum of row r - 1."
//
// [[launch]]
// entry = "states_of_rows"
// grid  = "ceil_div(rows, threads)"
// block = "threads"
//
// [[launch]]
// entry = "normalise_rows"
// grid  = "rows, min(65535, ceil_div(cols, threads))"
// block = "threads"
// ///

__global__ void states_of_rows(float *maxima, float *sums, const float *x, int rows, int cols) {
    // maxima and sums are (rows), x is (rows, cols)
    const size_t row = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // may pass rows - 1
    if (row >= rows) {
        return;
    }
    x += row * cols;
    float max = -INFINITY;
    for (int col = 0; col < cols; ++col) {
        max = fmaxf(max, x[col]);
    }
    float sum = 0.0f;
    for (int col = 0; col < cols; ++col) {
        sum += expf(x[col] - max);
    }
    maxima[row] = max;
    sums[row] = sum;
}

__global__ void normalise_rows(float *y, const float *x, const float *maxima, const float *sums, int cols) {
    // y and x are (rows, cols), maxima and sums are (rows); gridDim.y blocks a row
    const int row = blockIdx.x;  // ranges [0, rows)
    const size_t start = static_cast<size_t>(row) * cols;
    const float max = maxima[row];
    const float sum = sums[row > 0 ? row - 1 : 0];
    const int stride = gridDim.y * blockDim.x;  // at most 2^20 + 1024: col + stride < 2^31, an int is enough
    for (int col = blockIdx.y * blockDim.x + threadIdx.x; col < cols; col += stride) {
        y[start + col] = expf(x[start + col] - max) / sum;
    }
}
