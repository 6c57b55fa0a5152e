// sgemm/tiled, which takes its place in the tile from a flat thread index that its block does not have.
//
// threadIdx.x / 32 and threadIdx.x % 32 are the row and the column for a block of 1024 by 1 threads. This block is
// 32 by 32: the row is 0 for all of them, 32 threads do the work of each thread of row 0, and nobody does the rest.
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
// kind = "unwritten"
// why  = "the row in the tile is threadIdx.x / 32 in a block of 32 by 32: only every 32nd row of C is written"
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
    const int tx = threadIdx.x % 32;  // ranges [0, 32)
    const int ty = threadIdx.x / 32;  // ranges [0, 32)
    const int col = blockIdx.x * 32 + tx;  // may pass n - 1
    const int row = blockIdx.y * 32 + ty;  // may pass m - 1

    float sum = 0.0f;
    for (int start = 0; start < k; start += 32) {
        const bool in_a = row < m && start + tx < k;
        const bool in_b = start + ty < k && col < n;
        tile_a[ty][tx] = in_a ? a[static_cast<size_t>(row) * k + start + tx] : 0.0f;
        tile_b[ty][tx] = in_b ? b[static_cast<size_t>(start + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 32; ++i) {
            sum += tile_a[ty][i] * tile_b[i][tx];
        }
        __syncthreads();
    }
    if (row < m && col < n) {
        c[static_cast<size_t>(row) * n + col] = sum;
    }
}
