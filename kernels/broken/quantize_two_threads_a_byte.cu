// int4 with a scale for each 32 neighbours, a lane an element: each lane adds its four bits to a byte that its neighbour changes, too.
//
// /// kernel
// op      = "group_quantize"
// axes    = { rows = "1..65535", cols = { min = 32, max = 1073741824, multiple = 32 } }
// tune    = { threads = [32, 128, 256] }
// arrays  = { x = "f32[rows, cols] -> x", q = "i4x2[rows, cols / 2] = 0 <- q", scale = "f32[rows, cols / 32] <- scale" }
// scalars = { group = 32 }
//
// [accuracy]
// divide = "ieee"
//
// [quantize]
// scale     = "amax / max"
// apply     = "divide"
// symmetric = true
// zeros     = "eps"
//
// [[launch]]
// grid  = "ceil_div(cols, threads), rows"
// block = "threads"
//
// [broken]
// kind = "race"
// why  = "Two neighbours read, change and write one byte, and nothing orders them: the four bits of one of them are lost."
// ///

#include "../amax.cuh"

__global__ void int4_nibbles(unsigned char *q, float *scale, const float *x, int cols) {
    // x is (rows, cols), q is (rows, cols / 2) bytes of 0, scale is (rows, cols / 32); a lane an element
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass cols - 1, then for a whole warp
    if (col >= cols) {
        return;
    }
    const size_t i = static_cast<size_t>(blockIdx.y) * cols + col;
    const float value = x[i];
    const float by = fmaxf(amax_of_lanes(fabsf(value)), 1e-10f) / 7.0f;
    if (threadIdx.x % 32 == 0) {
        scale[i / 32] = by;
    }
    q[i / 2] |= (static_cast<int>(rintf(value / by)) & 15) << i % 2 * 4;
}
