// y = q scale of e5m2 with a scale for each column, a channel, into half: two elements a thread.
//
// e5m2 is the upper byte of a half, so that a shift converts it, infinity and NaN with it.
//
// /// kernel
// op      = "group_dequantize"
// axes    = { rows = "1..65535", cols = { min = 2, max = 1073741824, multiple = 2 } }
// tune    = { threads = [64, 256, 1024] }
// arrays  = { q = "e5m2[rows, cols] -> q", scale = "f32[1, cols] -> scale", y = "f16[rows, cols] <- y" }
// scalars = { height = "rows", width = 1 }
// align   = 8
// launch  = [{ grid = "ceil_div(cols / 2, threads), rows", block = "threads" }]
// ///

#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void e5m2_channel(__half *y, const __nv_fp8_e5m2 *q, const float *scale, int cols) {
    // y and q are (rows, cols), scale is (cols); a thread two neighbours
    const unsigned int pair = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols / 2 - 1
    if (pair >= cols / 2) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * (cols / 2) + pair;
    const unsigned short both = reinterpret_cast<const unsigned short *>(q)[i];
    const float low = __half2float(__ushort_as_half(static_cast<unsigned short>(both << 8)));
    const float high = __half2float(__ushort_as_half(static_cast<unsigned short>(both & 0xff00u)));
    const float2 by = reinterpret_cast<const float2 *>(scale)[pair];
    reinterpret_cast<__half2 *>(y)[i] = __floats2half2_rn(low * by.x, high * by.y);
}
