// e4m3 with a scale for each 64 neighbours, divided by __fdividef, which errs by 2 ulp; two elements a lane, a warp a group.
//
// The claim says so: with a correctly rounded division one group in twelve would have another code. Two elements are
// converted together, the first of them into the low byte.
//
// /// kernel
// op       = "group_quantize"
// axes     = { rows = "1..65535", cols = { min = 64, max = 1073741824, multiple = 64 } }
// tune     = { threads = [32, 128, 256] }
// arrays   = { x = "f32[rows, cols] -> x", q = "e4m3[rows, cols] <- q", scale = "f32[rows, cols / 64] <- scale" }
// scalars  = { group = 64, eps = 1e-4 }
// align    = 8
// accuracy = { divide = "fast" }
// quantize = { scale = "amax / max", apply = "divide", saturate = "finite", zeros = "eps" }
// launch   = [{ grid = "ceil_div(cols / 64, threads / 32), rows", block = "threads" }]
// ///

#include <cuda_fp8.h>

#include "../amax.cuh"

__global__ void e4m3_group_fast_division(__nv_fp8_e4m3 *q, float *scale, const float *x, int cols) {
    // q and x are (rows, cols), scale is (rows, cols / 64); a warp a group
    const int group = (blockIdx.x * blockDim.x + threadIdx.x) / 32;  // may pass cols / 64 - 1
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    if (group >= cols / 64) {
        return;  // the whole warp together
    }
    const size_t number = static_cast<size_t>(blockIdx.y) * (cols / 64) + group;
    const float2 mine = reinterpret_cast<const float2 *>(x)[number * 32 + lane];
    const float by = __fdividef(fmaxf(amax_of_lanes(fmaxf(fabsf(mine.x), fabsf(mine.y))), 1e-4f), 448.0f);
    if (lane == 0) {
        scale[number] = by;
    }
    const float2 t = make_float2(__fdividef(mine.x, by), __fdividef(mine.y, by));
    const __nv_fp8x2_storage_t both = __nv_cvt_float2_to_fp8x2(t, __NV_SATFINITE, __NV_E4M3);
    reinterpret_cast<__nv_fp8x2_storage_t *>(q)[number * 32 + lane] = both;
}
