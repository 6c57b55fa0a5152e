// y = q scale of int4, two in a byte, with a scale of half precision for each 32 neighbours, as in llama.cpp's Q4_0 without its 8.
//
// Four bits are sign-extended by a shift up and an arithmetic shift down.
//
// /// kernel
// op      = "group_dequantize"
// axes    = { rows = "1..65535", cols = { min = 32, max = 1073741824, multiple = 32 } }
// tune    = { threads = [64, 256, 1024] }
// arrays  = { q = "i4x2[rows, cols / 2] -> q", scale = "f16[rows, cols / 32] -> scale", y = "f32[rows, cols] <- y" }
// scalars = { width = 32 }
// launch  = [{ grid = "ceil_div(cols / 2, threads), rows", block = "threads" }]
// ///

#include <cuda_fp16.h>

__global__ void int4_group_f16(float *y, const unsigned char *q, const __half *scale, int cols) {
    // y is (rows, cols), q is (rows, cols / 2) bytes, scale is (rows, cols / 32); a thread a byte
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols / 2 - 1
    if (pair >= cols / 2) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * (cols / 2) + pair;
    const float by = __half2float(scale[i / 16]);
    const int both = q[i];
    y[2 * i] = static_cast<float>(both << 28 >> 28) * by;
    y[2 * i + 1] = static_cast<float>(both << 24 >> 28) * by;
}
