// Softmax of each row in three passes by one thread: the maximum, the sum of exp(x - max), then exp(x - max) / sum.
//
// The definition as one would write it in C, and the slowest softmax here: neighbouring threads walk neighbouring rows,
// so their loads lie a whole row apart and nothing coalesces. It is the variant that all others are measured against:
// one order of summation, no shared memory, no barrier. Rows beyond the last thread of the grid are taken in strides.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..16777216", cols = "1..16777216" }
// tune   = { threads = [32, 64, 128, 256, 512, 1024], blocks = [1, 128, 65535] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
//
// [accuracy]
// adds     = "cols"
// rescales = 0
// divide   = "ieee"
//
// [[launch]]
// entry = "softmax_three_pass_thread"
// grid  = "min(blocks, ceil_div(rows, threads))"
// block = "threads"
// args  = ["y", "x", "rows", "cols"]
// ///

#include <math.h>

__global__ void softmax_three_pass_thread(float *y, const float *x, int rows, int cols) {
    // x and y are (rows, cols); thread t of the whole grid takes rows t, t + threads of the grid, ...
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += step) {
        const float *in = x + row * cols;
        float *out = y + row * cols;

        float max = -INFINITY;
        for (int col = 0; col < cols; col++) {
            max = fmaxf(max, in[col]);
        }
        float sum = 0.0f;
        for (int col = 0; col < cols; col++) {
            sum += expf(in[col] - max);  // a row of nothing but -inf: (-inf) - (-inf) is NaN, as it should be
        }
        for (int col = 0; col < cols; col++) {
            out[col] = expf(in[col] - max) / sum;
        }
    }
}
