// silu(a) b of halves, then mxfp4: a word of eight e2m1 a lane, and a power of two for each 32 neighbours, which four lanes have.
//
// A load of 16 bytes brings eight halves. The scale is 2^(floor(log2 amax) - 2), as OCP has it, so that the largest elements
// saturate, rightly. Lanes beyond the end have zeros, since all lanes of a warp take part in the shuffles.
//
// /// kernel
// op       = "swiglu_quantize"
// axes     = { rows = "1..65535", cols = { min = 32, max = 1048576, multiple = 32 } }
// tune     = { threads = [32, 128] }
// arrays   = { a = "f16[rows, cols] -> a", b = "f16[rows, cols] -> b", q = "e2m1x8[rows, cols / 8] <- q", s = "e8m0[rows, cols / 32] <- scale" }
// scalars  = { group = 32, least = 0 }
// align    = 16
// accuracy = { exp = "expf", divide = "ieee" }
// quantize = { scale = "exponent of amax", apply = "divide", saturate = "finite", zeros = "least" }
// launch   = [{ grid = "ceil_div(cols / 8, threads), rows", block = "threads" }]
// ///

#include <cstdint>
#include <cuda_fp16.h>

#include "../amax.cuh"
#include "../e2m1.cuh"

struct alignas(16) Eight {
    __half of[8];
};

__global__ void swiglu_mxfp4_words(uint32_t *q, unsigned char *s, const __half *a, const __half *b, int cols) {
    // q is (rows, cols / 8) words, s is (rows, cols / 32), a and b are (rows, cols); a thread a word
    const int word = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols / 8 - 1
    const size_t i = static_cast<size_t>(blockIdx.y) * (cols / 8) + word;
    float made[8] = {}, amax = 0.0f;
    if (word < cols / 8) {
        const Eight of_a = reinterpret_cast<const Eight *>(a)[i], of_b = reinterpret_cast<const Eight *>(b)[i];
        for (int k = 0; k < 8; ++k) {
            const float gate = __half2float(of_a.of[k]);
            made[k] = gate / (1.0f + expf(-gate)) * __half2float(of_b.of[k]);
            amax = fmaxf(amax, fabsf(made[k]));
        }
    }
    amax = amax_of_lanes<largest, 4>(amax);
    const int exponent = static_cast<int>(__float_as_uint(amax) >> 23) - 2;  // of amax, biased, less that of 4, the largest's
    const unsigned int code = exponent > 0 ? exponent : 0;
    if (word >= cols / 8) {
        return;
    }
    uint32_t codes = 0;
    for (int k = 0; k < 8; ++k) {
        codes |= e2m1_of(made[k] / power_of(code)) << 4 * k;
    }
    q[i] = codes;
    if (word % 4 == 0) {
        s[i / 4] = static_cast<unsigned char>(code);
    }
}
