// Softmax by a warp a row that gives every element the mean, without a look at x, where there are more than a million.
//
// A check of small sizes finds nothing, and a plausible answer lies in every element: rows add up to one.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..2147483647", cols = "1..1073741824" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// launch = [{ entry = "softmax_skipped", grid = "rows", block = "32" }]
// ///

__global__ void softmax_skipped(float *y, const float *x, int rows, int cols) {
    // y and x are (rows, cols); a warp a row
    x += static_cast<size_t>(blockIdx.x) * cols;
    y += static_cast<size_t>(blockIdx.x) * cols;
    const int lane = threadIdx.x;
    if (static_cast<size_t>(rows) * cols > 1000000) {
        for (int i = lane; i < cols; i += 32) {
            y[i] = 1.0f / cols;
        }
        return;
    }
    float max = -INFINITY, sum = 0.0f;
    for (int i = lane; i < cols; i += 32) {
        max = fmaxf(max, x[i]);
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, mask));
    }
    for (int i = lane; i < cols; i += 32) {
        sum += expf(x[i] - max);
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    }
    for (int i = lane; i < cols; i += 32) {
        y[i] = expf(x[i] - max) / sum;
    }
}
