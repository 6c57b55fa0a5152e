// RMS norm of each row, then int8 with a scale for each 128 neighbours: a warp a row, which it reads once, four elements a load.
//
// 128 elements are one load of a warp, and so a group is: its amax is that of the lanes. The row stays in registers between the sum
// and the codes, which are multiplied by 127 / amax and stored four at a time.
//
// /// kernel
// op       = "rms_norm_quantize"
// axes     = { rows = "1..2147483647", cols = { min = 128, max = 1024, multiple = 128 } }
// tune     = { threads = [32, 128] }
// arrays   = { x = "f32[rows, cols] -> x", w = "f32[cols] -> w", q = "i8[rows, cols] <- q", s = "f32[rows, cols / 128] <- scale" }
// scalars  = { group = 128 }
// align    = 16
// quantize = { scale = "amax / max", apply = "multiply", symmetric = true, zeros = "eps" }
// values   = { range = [-1e15, 1e15] }
// launch   = [{ grid = "ceil_div(rows, threads / 32)", block = "threads" }]
//
// [accuracy]
// adds      = "4 * cols / 128 - 1 + 5"  # a lane's share, then the halvings
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
// ///

#include "../amax.cuh"
#include "../warp_and_block.cuh"

constexpr int MOST = 1024 / 128;  // groups of a row

__global__ void rms_norm_int8_group_vec4(signed char *q, float *s, const float *x, const float *w, int rows, int cols) {
    // q and x are (rows, cols), w is (cols), s is (rows, cols / 128); a warp a row
    const int lane = threadIdx.x % 32, groups = cols / 128;  // lane ranges [0, 32)
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass rows - 1
    if (row >= rows) {
        return;  // the whole warp together
    }
    const float4 *of_x = reinterpret_cast<const float4 *>(x + row * cols), *of_w = reinterpret_cast<const float4 *>(w);
    char4 *of_q = reinterpret_cast<char4 *>(q + row * cols);

    float4 mine[MOST];
    float sum = 0.0f;
    for (int group = 0; group < groups; ++group) {
        mine[group] = of_x[group * 32 + lane];
        sum += mine[group].x * mine[group].x;
        sum += mine[group].y * mine[group].y;
        sum += mine[group].z * mine[group].z;
        sum += mine[group].w * mine[group].w;
    }
    const float by = rsqrtf(warp_sum(sum) / cols + 1e-6f);
    for (int group = 0; group < groups; ++group) {
        const float4 v = mine[group], weight = of_w[group * 32 + lane];
        const float a = v.x * by * weight.x, b = v.y * by * weight.y, c = v.z * by * weight.z, d = v.w * by * weight.w;
        const float most = fmaxf(fmaxf(fabsf(a), fabsf(b)), fmaxf(fabsf(c), fabsf(d)));
        const float amax = fmaxf(amax_of_lanes(most), 1e-10f), inverse = 127.0f / amax;
        if (lane == 0) {
            s[row * groups + group] = amax / 127.0f;
        }
        of_q[group * 32 + lane] = make_char4(static_cast<signed char>(rintf(a * inverse)), static_cast<signed char>(rintf(b * inverse)),
                                             static_cast<signed char>(rintf(c * inverse)), static_cast<signed char>(rintf(d * inverse)));
    }
}
