// int8 with a scale and a zero point that are given, one for all: q = clamp(rint(x / scale) + zero), a thread an element.
//
// The quotient may pass the largest integer by far, so that it is clamped as a float: a cast of 3e9 to int is undefined.
//
// /// kernel
// op       = "static_quantize"
// axes     = { rows = "1..65535", cols = "1..1073741824" }
// tune     = { threads = [64, 256, 1024] }
// arrays   = { x = "f32[rows, cols] -> x", scale = "f32[1, 1] -> scale", zero = "i32[1, 1] -> zero", q = "i8[rows, cols] <- q" }
// accuracy = { divide = "ieee" }
// quantize = { apply = "divide", saturate = "finite" }
// launch   = [{ grid = "ceil_div(cols, threads), rows", block = "threads" }]
// ///

#include <cstdint>

__global__ void int8_tensor(int8_t *q, const float *x, const float *scale, const int *zero, int cols) {
    // q and x are (rows, cols)
    const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    const float t = rintf(x[i] / *scale) + static_cast<float>(*zero);
    q[i] = static_cast<int8_t>(fminf(fmaxf(t, -128.0f), 127.0f));
}
