// C = A B in row-major order, through tiles of 32 x 32 in shared memory, one thread an element of C.
//
// A block computes a tile of C and walks along a band of A and down a band of B, tile by tile: each
// thread loads one element of either, and every element is then read 32 times from shared memory
// instead of global memory. Tiles that cross an edge are padded with zeros, and no thread leaves
// early: one that has nothing to write still loads for the others and reaches both barriers.
//
// /// kernel
// op     = "sgemm"
// axes   = { m = "1..2097120", n = "1..1048576", k = "1..1048576" }  # grid y: 65535 blocks of 32 rows
// arrays = { a = "f32[m, k] -> a", b = "f32[k, n] -> b", c = "f32[m, n] <- c" }
// launch = [{ grid = "ceil_div(n, 32), ceil_div(m, 32)", block = "32, 32" }]
//
// [accuracy]
// adds = "k - 1"  # the first product is added to 0, and the zeros that fill up a tile change nothing
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
    for (int start = 0; start < k; start += TILE) {
        const int k_of_a = start + tx;  // may pass k - 1
        const int k_of_b = start + ty;  // may pass k - 1
        tile_a[ty][tx] = row < m && k_of_a < k ? a[static_cast<size_t>(row) * k + k_of_a] : 0.0f;
        tile_b[ty][tx] = col < n && k_of_b < k ? b[static_cast<size_t>(k_of_b) * n + col] : 0.0f;
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
