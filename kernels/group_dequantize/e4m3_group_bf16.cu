// y = q scale of e4m3 with a scale for each 128 neighbours of a row, into bfloat16; four elements a thread.
//
// Four codes are one word. e4m3 becomes half exactly, half becomes float exactly, and the product is rounded twice: to float,
// then to bfloat16. Rows are a multiple of four long.
//
// /// kernel
// op     = "group_dequantize"
// axes   = { rows = "1..65535", cols = { min = 4, max = 1073741824, multiple = 4 } }
// tune   = { threads = [64, 256, 1024] }
// arrays = { q = "e4m3[rows, cols] -> q", scale = "f32[rows, ceil_div(cols, 128)] -> scale", y = "bf16[rows, cols] <- y" }
// align  = 8
// launch = [{ grid = "ceil_div(cols / 4, threads), rows", block = "threads" }]
// ///

#include <cuda_bf16.h>
#include <cuda_fp8.h>

constexpr int GROUP = 128;

__global__ void e4m3_group_bf16(__nv_bfloat16 *y, const __nv_fp8_e4m3 *q, const float *scale, int cols) {
    // y and q are (rows, cols), scale is (rows, groups); a thread four elements of one group
    const int col = (blockIdx.x * blockDim.x + threadIdx.x) * 4;  // may pass cols - 1
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    const int groups = (cols - 1) / GROUP + 1;
    const float by = scale[static_cast<size_t>(blockIdx.y) * groups + col / GROUP];
    const float4 v = static_cast<float4>(reinterpret_cast<const __nv_fp8x4_e4m3 *>(q)[i / 4]);
    __nv_bfloat162 *to = reinterpret_cast<__nv_bfloat162 *>(y + i);
    to[0] = __floats2bfloat162_rn(v.x * by, v.y * by);
    to[1] = __floats2bfloat162_rn(v.z * by, v.w * by);
}
