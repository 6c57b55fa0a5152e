// y = q scale of e4m3 with a scale for each block of 128 x 128: the weights of a block-scaled product.
//
// A block of threads goes down the rows of one block of weights, so that each thread loads its scale once.
//
// /// kernel
// op      = "group_dequantize"
// axes    = { rows = "1..8388480", cols = "1..1073741824" }  # grid y: 65535 blocks
// tune    = { threads = [32, 64, 128] }
// arrays  = { q = "e4m3[rows, cols] -> q", scale = "f32[ceil_div(rows, 128), ceil_div(cols, 128)] -> scale", y = "f32[rows, cols] <- y" }
// scalars = { height = 128, width = 128 }
// launch  = [{ grid = "ceil_div(cols, threads), ceil_div(rows, 128)", block = "threads" }]
// ///

#include <cuda_fp8.h>

constexpr int SIDE = 128;

__global__ void e4m3_block(float *y, const __nv_fp8_e4m3 *q, const float *scale, int rows, int cols) {
    // y and q are (rows, cols), scale is (blocks of rows, blocks of cols); threads divides SIDE
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1
    if (col >= cols) {
        return;
    }
    const int wide = (cols - 1) / SIDE + 1;
    const float by = scale[static_cast<size_t>(blockIdx.y) * wide + col / SIDE];
    const int last = min(rows, (static_cast<int>(blockIdx.y) + 1) * SIDE);
    for (int row = blockIdx.y * SIDE; row < last; ++row) {
        const size_t i = static_cast<size_t>(row) * cols + col;
        y[i] = static_cast<float>(q[i]) * by;
    }
}
