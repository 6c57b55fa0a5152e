// y = (q - zero) scale of uint8 with a scale and a zero point for each row, a channel of weights: the difference is an exact integer.
//
// /// kernel
// op       = "affine_dequantize"
// axes     = { rows = "1..65535", cols = "1..1073741824" }
// tune     = { threads = [64, 256, 1024] }
// arrays   = { q = "u8[rows, cols] -> q", scale = "f32[rows, 1] -> scale", zero = "u8[rows, 1] -> zero", y = "f32[rows, cols] <- y" }
// scalars  = { width = "cols" }
// accuracy = { form = "(q - zero) scale" }
// launch   = [{ grid = "ceil_div(cols, threads), rows", block = "threads" }]
// ///

#include <cstdint>

__global__ void uint8_channel(float *y, const uint8_t *q, const float *scale, const uint8_t *zero, int cols) {
    // y and q are (rows, cols), scale and zero are (rows)
    const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    y[i] = static_cast<float>(q[i] - zero[blockIdx.y]) * scale[blockIdx.y];
}
