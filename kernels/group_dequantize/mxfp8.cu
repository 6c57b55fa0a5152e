// y = q 2^e of mxfp8: e4m3 with a power of two for each 32 neighbours; exact but where y is denormal or overflows.
//
// The power is made from its code as the bits of a float: an e8m0 is the exponent of one. 2^-127 is a denormal float.
//
// /// kernel
// op      = "group_dequantize"
// axes    = { rows = "1..65535", cols = { min = 32, max = 1073741824, multiple = 32 } }
// tune    = { threads = [64, 256, 1024] }
// arrays  = { q = "e4m3[rows, cols] -> q", scale = "e8m0[rows, cols / 32] -> scale", y = "f32[rows, cols] <- y" }
// scalars = { width = 32 }
// launch  = [{ grid = "ceil_div(cols, threads), rows", block = "threads" }]
// ///

#include <cuda_fp8.h>

#include "../amax.cuh"

__global__ void mxfp8(float *y, const __nv_fp8_e4m3 *q, const __nv_fp8_e8m0 *scale, int cols) {
    // y and q are (rows, cols), scale is (rows, cols / 32); a thread an element
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    const unsigned int code = scale[i / 32].__x;
    y[i] = static_cast<float>(q[i]) * (code == 0xffu ? __uint_as_float(0x7fc00000u) : power_of(code));
}
