// y = (q - zero) scale of uint4, eight in a word of 32 bits, with a scale and a zero point for each 64 neighbours; a thread a word.
//
// The zero points are packed like the weights: eight groups of a row in a word, the first in the lowest bits. Rows are a multiple
// of 512 long, so that the zero points of a row fill whole words.
//
// /// kernel
// op       = "affine_dequantize"
// axes     = { rows = "1..65535", cols = { min = 512, max = 1073741824, multiple = 512 } }
// tune     = { threads = [64, 256, 1024] }
// arrays   = { q = "u4x8[rows, cols / 8] -> q", scale = "f32[rows, cols / 64] -> scale", zero = "u4x8[rows, cols / 64 / 8] -> zero", y = "f32[rows, cols] <- y" }
// scalars  = { width = 64 }
// accuracy = { form = "(q - zero) scale" }
// launch   = [{ grid = "ceil_div(cols / 8, threads), rows", block = "threads" }]
// ///

#include <cstdint>

__global__ void uint4_words(float *y, const uint32_t *q, const float *scale, const uint32_t *zero, int cols) {
    // y is (rows, cols), q is (rows, cols / 8) words, scale is (rows, cols / 64), zero is (rows, cols / 512) words
    const int word = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols / 8 - 1
    if (word >= cols / 8) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * (cols / 8) + word;
    const int group = word / 8;
    const float by = scale[static_cast<size_t>(blockIdx.y) * (cols / 64) + group];
    const uint32_t of_eight = zero[static_cast<size_t>(blockIdx.y) * (cols / 512) + group / 8];
    const int from = of_eight >> group % 8 * 4 & 15u;
    const uint32_t packed = q[i];
    for (int k = 0; k < 8; ++k) {
        y[i * 8 + k] = static_cast<float>(static_cast<int>(packed >> 4 * k & 15u) - from) * by;
    }
}
