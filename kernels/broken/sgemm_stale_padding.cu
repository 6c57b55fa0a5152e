// sgemm/tiled, whose last tile of B keeps, past the end of k, what the tile before it held, instead of zeros.
//
// The zeros of A that meet it wipe it out: 0 times any number is 0. But 0 times an infinity is NaN, so that an infinity
// in the part of B that is kept makes its column of C NaN, where it should be infinite. It takes a k beyond 32 that is
// no multiple of 32, and an infinity in one of the 32 - k % 32 rows of B before the last tile.
//
// /// kernel
// op     = "sgemm"
// axes   = { m = "1..2097120", n = "1..1048576", k = "1..1048576" }  # grid y: 65535 blocks of 32 rows
// arrays = { a = "f32[m, k] -> a", b = "f32[k, n] -> b", c = "f32[m, n] <- c" }
//
// [accuracy]
// adds = "k"  # the first is to the zero that starts the sum; the zeros that fill up a tile change nothing
//
// [broken]
// kind = "special"
// why  = "0 of the padding of A meets an infinity of B, and makes NaN of a sum that is infinite"
//
// [[launch]]
// entry = "sgemm_tiled"
// grid  = "ceil_div(n, 32), ceil_div(m, 32)"
// block = "32, 32"
// args  = ["c", "a", "b", "m", "n", "k"]
// ///

constexpr int TILE = 32;

__global__ void sgemm_tiled(float *c, const float *a, const float *b, int m, int n, int k) {
    // c is (m, n), a is (m, k), b is (k, n); the block is (TILE, TILE)
    __shared__ float tile_a[TILE][TILE];  // [row of c][step along k]
    __shared__ float tile_b[TILE][TILE];  // [step along k][column of c]
    const int tx = threadIdx.x;  // ranges [0, TILE)
    const int ty = threadIdx.y;  // ranges [0, TILE)
    const int row = blockIdx.y * TILE + ty;  // may pass m - 1
    const int col = blockIdx.x * TILE + tx;  // may pass n - 1

    float sum = 0.0f;
    tile_b[ty][tx] = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        const int k_of_a = start + tx;  // may pass k - 1
        const int k_of_b = start + ty;  // may pass k - 1
        tile_a[ty][tx] = row < m && k_of_a < k ? a[static_cast<size_t>(row) * k + k_of_a] : 0.0f;
        if (col < n && k_of_b < k) {
            tile_b[ty][tx] = b[static_cast<size_t>(k_of_b) * n + col];
        }
        __syncthreads();  // the tiles are complete
        for (int i = 0; i < TILE; ++i) {
            sum += tile_a[ty][i] * tile_b[i][tx];
        }
        __syncthreads();  // and have been read by all before they are overwritten
    }
    if (row < m && col < n) {
        c[static_cast<size_t>(row) * n + col] = sum;
    }
}
