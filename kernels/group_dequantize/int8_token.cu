// y = q scale of int8 with a scale for each row, a thread an element: a product of two floats, rounded once.
//
// /// kernel
// op      = "group_dequantize"
// axes    = { rows = "1..65535", cols = "1..1073741824" }
// tune    = { threads = [64, 256, 1024] }
// arrays  = { q = "i8[rows, cols] -> q", scale = "f32[rows, 1] -> scale", y = "f32[rows, cols] <- y" }
// scalars = { width = "cols" }
// launch  = [{ grid = "ceil_div(cols, threads), rows", block = "threads" }]
// ///

#include <cstdint>

__global__ void int8_token(float *y, const int8_t *q, const float *scale, int cols) {
    // y and q are (rows, cols), scale is (rows)
    const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    y[i] = static_cast<float>(q[i]) * scale[blockIdx.y];
}
