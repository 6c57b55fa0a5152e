// RMS norm of each row of bfloat16, rounded to bfloat16, then e4m3 with one scale a row: what a norm and a quantizer do in two kernels.
//
// The norm is kept in bfloat16 on purpose: fused and unfused then have the same codes. A row lies in shared memory.
//
// /// kernel
// op       = "rms_norm_quantize"
// axes     = { rows = "1..2147483647", cols = "1..16384" }
// tune     = { threads = [32, 128, 512] }
// arrays   = { x = "bf16[rows, cols] -> x", w = "bf16[cols] -> w", q = "e4m3[rows, cols] <- q", s = "f32[rows, 1] <- scale" }
// quantize = { scale = "amax / max", apply = "multiply", saturate = "finite", zeros = "eps" }
// values   = { range = [-1e15, 1e15] }
//
// [accuracy]
// adds      = "ceil_div(cols, threads) - 1 + ceil_log2(threads)"  # a thread's share, then the halvings
// divide    = "ieee"
// functions = { rsqrt = "rsqrtf" }
// keep      = { norm = "bf16" }
//
// [[launch]]
// grid   = "rows"
// block  = "threads"
// shared = "4 * threads + 2 * cols"
// ///

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "../amax.cuh"

__global__ void rms_norm_e4m3_token_bf16(__nv_fp8_e4m3 *q, float *s, const __nv_bfloat16 *x, const __nv_bfloat16 *w, int cols) {
    // q and x are (rows, cols), w is (cols), s is (rows); a block a row
    extern __shared__ float shares[];  // (threads), then the norm of the row
    __nv_bfloat16 *norm = reinterpret_cast<__nv_bfloat16 *>(shares + blockDim.x);
    x += static_cast<size_t>(blockIdx.x) * cols;
    q += static_cast<size_t>(blockIdx.x) * cols;

    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        const float value = __bfloat162float(x[col]);
        sum += value * value;
    }
    shares[threadIdx.x] = sum;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            shares[threadIdx.x] += shares[threadIdx.x + half];
        }
    }
    __syncthreads();
    const float scale = rsqrtf(shares[0] / cols + 1e-6f);

    float amax = 0.0f;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        norm[col] = __float2bfloat16(__bfloat162float(x[col]) * scale * __bfloat162float(w[col]));
        amax = fmaxf(amax, fabsf(__bfloat162float(norm[col])));
    }
    amax = fmaxf(amax_of_block(amax), 1e-10f);
    if (threadIdx.x == 0) {
        s[blockIdx.x] = amax / 448.0f;
    }
    const float inverse = 448.0f / amax;
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        q[col] = __nv_fp8_e4m3(__bfloat162float(norm[col]) * inverse);
    }
}
