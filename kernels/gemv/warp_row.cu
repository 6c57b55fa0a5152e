// y = A x + y0, one warp a row of A.
//
// /// kernel
// op      = "gemv"
// axes    = { m = "1..2147483647", k = "1..1073741824" }
// tune    = { threads = [32, 64, 256, 1024] }
// arrays  = { a = "f32[m, k] -> a", x = "f32[k] -> x", y0 = "f32[m] -> y0", y = "f32[m] <- y" }
// scalars = { alpha = 1, beta = 1 }
// launch  = [{ grid = "ceil_div(m, threads / 32)", block = "threads" }]
//
// [accuracy]
// adds = "ceil_div(k, 32) - 1 + ceil_log2(min(k, 32))"  # a lane's share, then the halvings
// form = "y0 last"
// ///

__global__ void gemv_warp_row(float *y, const float *a, const float *x, const float *y0, int m, int k) {
    // y and y0 are (m), a is (m, k), x is (k); a warp a row
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    const size_t row = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;  // may pass m - 1
    if (row >= m) {
        return;  // the whole warp together, so that no shuffle misses a lane
    }
    float sum = 0.0f;
    for (int i = lane; i < k; i += 32) {
        sum += a[row * k + i] * x[i];
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    }
    if (lane == 0) {
        y[row] = sum + y0[row];
    }
}
