// sgemm/tiled, whose multiplications stand behind the loop over the tiles instead of inside it.
//
// Every tile is loaded, each over the one before it, and only the last is multiplied. Right as long as k fits into
// one tile of 32.
//
// /// kernel
// op     = "sgemm"
// axes   = { m = "1..2097120", n = "1..1048576", k = "1..1048576" }  # grid y: 65535 blocks of 32 rows
// arrays = { a = "f32[m, k] -> a", b = "f32[k, n] -> b", c = "f32[m, n] <- c" }
//
// [accuracy]
// adds = "32 * ceil_div(k, 32)"  # beyond k the tiles hold zeros
//
// [broken]
// kind = "numeric"
// why  = "only the last 32 of the k products are added up"
//
// [[launch]]
// entry = "sgemm_tiled"
// grid  = "ceil_div(n, 32), ceil_div(m, 32)"
// block = "32, 32"
// args  = ["c", "a", "b", "m", "n", "k"]
// ///

__global__ void sgemm_tiled(float *c, const float *a, const float *b, int m, int n, int k) {
    // c is (m, n), a is (m, k), b is (k, n)
    __shared__ float tile_a[32][32];  // [row of c][k]
    __shared__ float tile_b[32][32];  // [k][column of c]
    const int tx = threadIdx.x;  // ranges [0, 32)
    const int ty = threadIdx.y;  // ranges [0, 32)
    const int col = blockIdx.x * 32 + tx;  // may pass n - 1
    const int row = blockIdx.y * 32 + ty;  // may pass m - 1

    float sum = 0.0f;
    for (int start = 0; start < k; start += 32) {
        const bool in_a = row < m && start + tx < k;
        const bool in_b = start + ty < k && col < n;
        tile_a[ty][tx] = in_a ? a[static_cast<size_t>(row) * k + start + tx] : 0.0f;
        tile_b[ty][tx] = in_b ? b[static_cast<size_t>(start + ty) * n + col] : 0.0f;
        __syncthreads();
    }
    for (int i = 0; i < 32; ++i) {
        sum += tile_a[ty][i] * tile_b[i][tx];
    }
    if (row < m && col < n) {
        c[static_cast<size_t>(row) * n + col] = sum;
    }
}
