// softmax/thread_f64_sum, which keeps its exponentials in the input.
//
// It saves computing them a second time, and y is right. But x, of which the claim says that it is only read, holds
// something else afterwards: the next kernel that reads it goes wrong, far from here.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// tune   = { threads = [1, 32, 64, 128, 256, 512, 1024] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
//
// [accuracy]
// adds       = "cols"
// rescales   = 0
// accumulate = "f64"
// exp        = "expf"
// divide     = "ieee"
//
// [values]
// nan     = "row"
// pos_inf = "row"
//
// [broken]
// kind = "input-changed"
// why  = "exp(x - max) is stored into x on the way"
//
// [[launch]]
// entry = "softmax_thread_f64_sum"
// grid  = "ceil_div(rows, threads)"
// block = "threads"
// args  = ["y", "x", "rows", "cols"]
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
        const float e = expf(x[col] - max);
        const_cast<float *>(x)[col] = e;
        sum += e;
    }

    const float denominator = static_cast<float>(sum);
    for (int col = 0; col < cols; ++col) {
        y[col] = x[col] / denominator;
    }
}
