// C = A B + C0 + bias by tensor cores: products of halves, sums of floats; one warp a tile of 16 x 16.
//
// The tiles of A and B are copied to shared memory, padded with zeros where they cross an edge: a fragment is
// always loaded whole, and from an aligned address. Tensor cores truncate their sums where other code rounds.
//
// /// kernel
// op      = "gemm"
// axes    = { batch = "1..65535", m = "1..1048560", n = "1..1048576", k = "1..1048576" }  # grid y: 65535 tiles
// arrays  = { a = "f16[batch, m, k] -> a", b = "f16[batch, k, n] -> b", c0 = "f32[batch, m, n] -> c0", bias = "f32[n] -> bias", c = "f32[batch, m, n] <- c" }
// scalars = { alpha = 1, beta = 1 }
// launch  = [{ grid = "ceil_div(n, 16), ceil_div(m, 16), batch", block = "32" }]
//
// [accuracy]
// form       = "bias last"
// adds       = "k"
// accumulate = "mma"
// ///

#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 16;

__global__ void gemm_wmma_f16(float *c, const half *a, const half *b, const float *c0, const float *bias, int m, int n,
                              int k) {
    // c and c0 are (batch, m, n), a is (batch, m, k), b is (batch, k, n), bias is (n); a warp a tile of c
    __shared__ alignas(32) half tile_a[TILE][TILE];  // [row of c][step along k]
    __shared__ alignas(32) half tile_b[TILE][TILE];  // [step along k][column of c]
    __shared__ alignas(32) float tile_c[TILE][TILE];
    const size_t batch = blockIdx.z;
    const int first_row = blockIdx.y * TILE, first_col = blockIdx.x * TILE;
    a += batch * m * k;
    b += batch * k * n;

    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int start = 0; start < k; start += TILE) {
        for (int i = threadIdx.x; i < TILE * TILE; i += 32) {
            const int row = i / TILE, col = i % TILE;
            const bool in_a = first_row + row < m && start + col < k, in_b = start + row < k && first_col + col < n;
            tile_a[row][col] = in_a ? a[static_cast<size_t>(first_row + row) * k + start + col] : half(0.0f);
            tile_b[row][col] = in_b ? b[static_cast<size_t>(start + row) * n + first_col + col] : half(0.0f);
        }
        __syncwarp();  // the tiles are complete
        wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> of_a;
        wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major> of_b;
        wmma::load_matrix_sync(of_a, &tile_a[0][0], TILE);
        wmma::load_matrix_sync(of_b, &tile_b[0][0], TILE);
        wmma::mma_sync(sum, of_a, of_b, sum);
        __syncwarp();  // and have been read by all before they are overwritten
    }
    wmma::store_matrix_sync(&tile_c[0][0], sum, TILE, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < TILE * TILE; i += 32) {
        const int row = first_row + i / TILE, col = first_col + i % TILE;
        if (row < m && col < n) {
            const size_t place = (batch * m + row) * n + col;
            c[place] = (tile_c[i / TILE][i % TILE] + c0[place]) + bias[col];
        }
    }
}
