// C = (A scale_a) (B scale_b) of e4m3 by tensor cores: mma.sync of 16 x 8 x 32, a warp a tile; a scale for each row and column.
//
// A lane holds four neighbours along k in a word, of A and of B, which lies by columns. Sizes are multiples of the tile's, so
// that no fragment crosses an edge. On Hopper two products of halves compute this instruction, with their accuracy.
//
// /// kernel
// op       = "scaled_gemm"
// axes     = { m = { min = 16, max = 1048560, multiple = 16 }, n = { min = 8, max = 1048576, multiple = 8 }, k = { min = 32, max = 65536, multiple = 32 } }
// arrays   = { a = "e4m3[m, k] -> a", b = "e4m3[k, n] -> b, by columns", scale_a = "f32[m, 1] -> scale_a", scale_b = "f32[1, n] -> scale_b", c = "f32[m, n] <- c" }
// align    = 4
// accuracy = { adds = "k", accumulate = "mma" }
// launch   = [{ grid = "n / 8, m / 16", block = "32" }]
// ///

#include <cstdint>

__global__ void e4m3_mma(float *c, const unsigned char *a, const unsigned char *b, const float *scale_a, const float *scale_b, int n,
                         int k) {
    // a is (m, k), b is (n, k) in memory, c is (m, n), scale_a is (m), scale_b is (n); a warp a tile of c
    const int high = threadIdx.x / 4, word = threadIdx.x % 4;  // ranges [0, 8) and [0, 4)
    const size_t row = static_cast<size_t>(blockIdx.y) * 16 + high, of_b = static_cast<size_t>(blockIdx.x) * 8 + high;
    const uint32_t *upper = reinterpret_cast<const uint32_t *>(a + row * k) + word;
    const uint32_t *lower = reinterpret_cast<const uint32_t *>(a + (row + 8) * k) + word;
    const uint32_t *right = reinterpret_cast<const uint32_t *>(b + of_b * k) + word;

    float c0 = 0.0f, c1 = 0.0f, c2 = 0.0f, c3 = 0.0f;
    for (int i = 0; i < k / 4; i += 8) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890
        __trap();  // older GPUs have no such instruction
#else
        asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
            : "r"(upper[i]), "r"(lower[i]), "r"(upper[i + 4]), "r"(lower[i + 4]), "r"(right[i]), "r"(right[i + 4]));
#endif
    }
    const size_t col = static_cast<size_t>(blockIdx.x) * 8 + word * 2;
    c[row * n + col] = c0 * scale_a[row] * scale_b[col];
    c[row * n + col + 1] = c1 * scale_a[row] * scale_b[col + 1];
    c[(row + 8) * n + col] = c2 * scale_a[row + 8] * scale_b[col];
    c[(row + 8) * n + col + 1] = c3 * scale_a[row + 8] * scale_b[col + 1];
}
