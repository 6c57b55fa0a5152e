// C = X W with weights of uint4, two along k in a byte, the first in the high nibble, a scale and a zero point for each 64 along k.
//
// A warp makes an element: lanes take bytes in turns, then shuffles add their shares. Zero points are bytes.
//
// /// kernel
// op      = "weight_only_gemm_zeros"
// axes    = { m = "1..65535", n = "1..1048576", k = { min = 64, max = 65536, multiple = 64 } }
// tune    = { threads = [32, 128] }
// arrays  = { x = "f32[m, k] -> x", w = "u4x2[k / 2, n] -> w, by columns, high first", scale = "f32[k / 64, n] -> scale", zero = "u8[k / 64, n] -> zero", c = "f32[m, n] <- c" }
// scalars = { depth = 64 }
// launch  = [{ grid = "ceil_div(n, threads / 32), m", block = "threads" }]
//
// [accuracy]
// adds = "2 * ceil_div(k, 64) + 5"  # a lane's share, then the halvings
// ///

__global__ void uint4_pairs(float *c, const float *x, const unsigned char *w, const float *scale, const unsigned char *zero, int n,
                            int k) {
    // x is (m, k), w is (n, k / 2) bytes in memory, scale and zero are (k / 64, n), c is (m, n)
    const int col = (blockIdx.x * blockDim.x + threadIdx.x) / 32;  // may pass n - 1
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = blockIdx.y;
    if (col >= n) {
        return;  // the whole warp together
    }
    float sum = 0.0f;
    for (int i = lane; i < k / 2; i += 32) {
        const size_t group = static_cast<size_t>(i / 32) * n + col;
        const int both = w[static_cast<size_t>(col) * (k / 2) + i], from = zero[group];
        const float by = scale[group];
        sum += x[row * k + 2 * i] * (static_cast<float>((both >> 4) - from) * by);
        sum += x[row * k + 2 * i + 1] * (static_cast<float>((both & 15) - from) * by);
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    }
    if (lane == 0) {
        c[row * n + col] = sum;
    }
}
