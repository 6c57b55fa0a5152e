// mxfp4: e2m1, two in a byte, with a power of two for each 32 neighbours; the scales lie in tiles of 128 x 4, as products read them.
//
// The scale is 2^(floor(log2 amax) - 2), as OCP has it, so that the largest elements saturate, rightly. A thread makes 32
// elements, 16 bytes. The first of two neighbours is the low nibble. What pads the tiles is left alone.
//
// /// kernel
// op       = "group_quantize"
// axes     = { rows = "1..1048576", cols = { min = 32, max = 1048576, multiple = 32 } }
// tune     = { threads = [32, 128, 256] }
// arrays   = { x = "f32[rows, cols] -> x", q = "e2m1x2[rows, cols / 2] <- q", scale = "e8m0[rows, cols / 32] <- scale, tiles 128x4" }
// scalars  = { group = 32, eps = 0 }
// accuracy = { divide = "ieee" }
// quantize = { scale = "exponent of amax", apply = "divide", saturate = "finite", zeros = "least" }
// launch   = [{ grid = "ceil_div(rows * (cols / 32), threads)", block = "threads" }]
// ///

#include "../amax.cuh"
#include "../e2m1.cuh"

__global__ void mxfp4_tiles(unsigned char *q, unsigned char *scale, const float *x, int rows, int cols) {
    // x is (rows, cols), q is (rows, cols / 2) bytes, scale is (rows, cols / 32) in tiles; a thread a group
    const int groups = cols / 32;
    const size_t number = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // may pass rows * groups - 1
    const size_t row = number / groups, group = number % groups;
    if (row >= rows) {
        return;
    }
    x += number * 32;
    q += number * 16;

    float amax = 0.0f;
    for (int i = 0; i < 32; ++i) {
        amax = fmaxf(amax, fabsf(x[i]));
    }
    const int exponent = static_cast<int>(__float_as_uint(amax) >> 23) - 2;  // of amax, biased, less that of 4, the largest's
    const unsigned int code = exponent > 0 ? exponent : 0;
    const float by = power_of(code);

    const size_t tile = row / 128 * ((groups + 3) / 4) + group / 4;
    scale[tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + group % 4] = static_cast<unsigned char>(code);
    for (int i = 0; i < 16; ++i) {
        q[i] = static_cast<unsigned char>(e2m1_of(x[2 * i] / by) | e2m1_of(x[2 * i + 1] / by) << 4);
    }
}
