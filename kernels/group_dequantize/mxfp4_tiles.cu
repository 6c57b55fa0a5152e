// y = q 2^e of mxfp4: two e2m1 in a byte, a power of two for each 32 neighbours, whose codes lie in tiles of 128 x 4.
//
// The eight sizes of e2m1 are looked up as the digits of one constant, in halves: 0, 1, 2, 3, 4, 6, 8, 12. The low nibble is the first
// of two neighbours.
//
// /// kernel
// op      = "group_dequantize"
// axes    = { rows = "1..65535", cols = { min = 32, max = 1048576, multiple = 32 } }
// tune    = { threads = [64, 256, 1024] }
// arrays  = { q = "e2m1x2[rows, cols / 2] -> q", scale = "e8m0[rows, cols / 32] -> scale, tiles 128x4", y = "f32[rows, cols] <- y" }
// scalars = { width = 32 }
//
// [[launch]]
// grid  = "ceil_div(cols / 2, threads), rows"
// block = "threads"
// args  = ["y", "q", "scale", "cols"]
// ///

#include "../amax.cuh"
#include "../e2m1.cuh"

__global__ void mxfp4_tiles(float *y, const unsigned char *q, const unsigned char *scale, int cols) {
    // y is (rows, cols), q is (rows, cols / 2) bytes, scale is (rows, cols / 32) in tiles; a thread a byte
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols / 2 - 1
    if (pair >= cols / 2) {
        return;
    }
    const int row = blockIdx.y, group = pair / 16;
    const size_t tile = static_cast<size_t>(row / 128) * ((cols / 32 + 3) / 4) + group / 4;
    const unsigned int code = scale[tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + group % 4];
    const float by = code == 0xffu ? __uint_as_float(0x7fc00000u) : power_of(code);
    const size_t i = static_cast<size_t>(row) * (cols / 2) + pair;
    y[2 * i] = number_of_e2m1(q[i]) * by;
    y[2 * i + 1] = number_of_e2m1(q[i] >> 4) * by;
}
