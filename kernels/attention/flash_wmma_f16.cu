// FlashAttention in half precision by tensor cores: one warp for 16 rows of q, 16 keys at a time; sums and softmax are float.
//
// Both products are of 16 x 16 tiles: the scores of the 16 rows and keys, and their exps times 16 columns
// of v. Tiles that cross an edge are padded with zeros in shared memory; a score beyond the last key is
// -inf, so that its exp is 0. The exps are stored as halves, as the product requires; their sum is of the
// floats. The running sums of v are floats in shared memory; each tile with a new maximum scales them down.
//
// /// kernel
// op     = "attention"
// axes   = { heads = "1..65535", rows = "1..1048560", keys = "1..65536", d = "1..64", dv = "1..64" }
// arrays = { q = "f16[heads, rows, d] -> q", k = "f16[heads, keys, d] -> k", v = "f16[heads, keys, dv] -> v", o = "f16[heads, rows, dv] <- o" }
// launch = [{ grid = "ceil_div(rows, 16), heads", block = "32" }]
//
// [accuracy]
// form       = "divide last"
// adds       = { qk = "d", pv = "ceil_div(keys, 16) * 16", row = "16 + ceil_div(keys, 16)" }
// rescales   = "ceil_div(keys, 16)"
// shift      = "running max"
// accumulate = "mma"
// keep       = { e = "f16" }
// exp        = "expf"
// divide     = "ieee"
// ///

#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 16, MOST = 64;  // of d and of dv

using Sums = wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float>;
using Left = wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major>;

__device__ void copy_rows(half (*tile)[MOST], const half *from, int first, int rows, int cols) {
    // 16 rows of (rows, cols) from `first` on, zeros where there is none; the whole warp takes part
    for (int i = threadIdx.x; i < TILE * MOST; i += 32) {
        const int row = first + i / MOST, col = i % MOST;
        tile[i / MOST][col] = row < rows && col < cols ? from[static_cast<size_t>(row) * cols + col] : half(0.0f);
    }
}

__global__ void attention_flash_wmma(half *o, const half *q, const half *k, const half *v, int rows, int keys, int d,
                                     int dv) {
    // o is (heads, rows, dv), q is (heads, rows, d), k is (heads, keys, d), v is (heads, keys, dv); a warp 16 rows
    __shared__ alignas(32) half tile_q[TILE][MOST], tile_k[TILE][MOST], tile_v[TILE][MOST], exps[TILE][TILE];
    __shared__ alignas(32) float scores[TILE][TILE], sums_of_v[TILE][MOST];
    const int first_row = blockIdx.x * TILE, row = threadIdx.x / 2;  // two lanes a row
    const size_t head = blockIdx.y;
    copy_rows(tile_q, q + head * rows * d, first_row, rows, d);
    k += head * keys * d;
    v += head * keys * dv;
    for (int i = threadIdx.x; i < TILE * MOST; i += 32) {
        sums_of_v[i / MOST][i % MOST] = 0.0f;
    }
    const float scale = 1.0f / sqrtf(static_cast<float>(d));

    float max = -INFINITY, sum = 0.0f;  // of the lane's row; both lanes hold the same
    for (int start = 0; start < keys; start += TILE) {
        copy_rows(tile_k, k, start, keys, d);
        copy_rows(tile_v, v, start, keys, dv);
        __syncwarp();  // the tiles are complete
        Sums product;
        wmma::fill_fragment(product, 0.0f);
        for (int step = 0; step < d; step += TILE) {
            Left of_q;
            wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::col_major> of_k;
            wmma::load_matrix_sync(of_q, &tile_q[0][step], MOST);
            wmma::load_matrix_sync(of_k, &tile_k[0][step], MOST);
            wmma::mma_sync(product, of_q, of_k, product);
        }
        wmma::store_matrix_sync(&scores[0][0], product, TILE, wmma::mem_row_major);
        __syncwarp();

        float top = max;
        for (int key = 0; key < TILE && start + key < keys; ++key) {
            top = fmaxf(top, scores[row][key] * scale);
        }
        const float base = top == -INFINITY ? 0.0f : top;  // no key so far that counts; -inf - -inf would be NaN
        const float grown = expf(max - base);
        float of_tile = 0.0f;
        for (int key = 0; key < TILE; ++key) {
            const float e = start + key < keys ? expf(scores[row][key] * scale - base) : 0.0f;
            of_tile += e;
            if (key % 2 == threadIdx.x % 2) {  // each of the two lanes stores its half
                exps[row][key] = __float2half(e);
            }
        }
        sum = sum * grown + of_tile;
        max = top;
        for (int col = threadIdx.x % 2; col < dv; col += 2) {
            sums_of_v[row][col] *= grown;
        }
        __syncwarp();  // exps and sums are complete
        Left of_exps;
        wmma::load_matrix_sync(of_exps, &exps[0][0], TILE);
        for (int col = 0; col < dv; col += TILE) {
            Sums part;
            wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major> of_v;
            wmma::load_matrix_sync(of_v, &tile_v[0][col], MOST);
            wmma::load_matrix_sync(part, &sums_of_v[0][col], MOST, wmma::mem_row_major);
            wmma::mma_sync(part, of_exps, of_v, part);
            wmma::store_matrix_sync(&sums_of_v[0][col], part, MOST, wmma::mem_row_major);
        }
        __syncwarp();  // and have been read by all before they are overwritten
    }
    if (first_row + row < rows) {
        o += (head * rows + first_row + row) * dv;
        for (int col = threadIdx.x % 2; col < dv; col += 2) {
            o[col] = __float2half(sums_of_v[row][col] / sum);
        }
    }
}
