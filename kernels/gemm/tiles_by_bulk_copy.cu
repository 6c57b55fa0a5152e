// C = A B + C0 + bias: one warp brings tiles of A and B by bulk copies (cp.async.bulk, the TMA unit), eight warps multiply them.
//
// There is room for two tiles of each factor. While the eight warps multiply one pair of tiles, the GPU copies the next. Two
// mbarriers a stage keep the order: `full` counts the bytes that have come, `empty` the warps that need the tile no more. A lane
// asks for a row of a tile at a time, cut at the matrix's edges, so no thread computes an address of an element, and no padding
// is needed. A copy moves multiples of 16 bytes, so rows of A and B begin at 16 bytes.
//
// /// kernel
// op       = "gemm"
// axes     = { batch = "1..65535", m = "1..4194240", n = { min = 4, max = 1048576, multiple = 4 }, k = { min = 4, max = 1048576, multiple = 4 } }  # grid y: 65535 tiles
// arrays   = { a = "f32[batch, m, k] -> a", b = "f32[batch, k, n] -> b", c0 = "f32[batch, m, n] -> c0", bias = "f32[n] -> bias", c = "f32[batch, m, n] <- c" }
// scalars  = { alpha = 1, beta = 1 }
// accuracy = { form = "bias last", adds = "k - 1" }
// launch   = [{ grid = "ceil_div(n, 64), ceil_div(m, 64), batch", block = "288" }]
// ///

#include <cuda/ptx>

namespace ptx = cuda::ptx;

constexpr int TILE = 64, DEEP = 32, STAGES = 2;
constexpr int MULTIPLIERS = 256, SIDE = 16, EACH = TILE / SIDE;  // 16 x 16 threads, each with 4 x 4 elements of c

__device__ void wait(uint64_t *barrier, uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
    }
}

// A lane's share of a tile: every 32nd row of it.
__device__ void bring(float *tile, int width, const float *from, size_t row_length, int rows, int cols, uint64_t *full) {
    for (int row = threadIdx.x % 32; row < rows; row += 32) {
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile + row * width, from + row * row_length, cols * sizeof(float), full);
    }
}

__global__ void __launch_bounds__(MULTIPLIERS + 32) gemm_tiles_by_bulk_copy(float *c, const float *a, const float *b, const float *c0,
                                                                            const float *bias, int m, int n, int k) {
    // c and c0 are (batch, m, n), a is (batch, m, k), b is (batch, k, n), bias is (n); a block a tile of c
    __shared__ alignas(16) float tile_a[STAGES][TILE][DEEP];
    __shared__ alignas(16) float tile_b[STAGES][DEEP][TILE];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const size_t batch = blockIdx.z;
    const int first_row = blockIdx.y * TILE, first_col = blockIdx.x * TILE;
    const int rows = min(TILE, m - first_row), cols = min(TILE, n - first_col);
    a += (batch * m + first_row) * k;
    b += batch * k * n + first_col;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            ptx::mbarrier_init(&full[stage], 1);
            ptx::mbarrier_init(&empty[stage], MULTIPLIERS / 32);
        }
        ptx::fence_proxy_async(ptx::space_shared);  // the copies see the mbarriers
    }
    __syncthreads();  // the other threads know them

    if (threadIdx.x >= MULTIPLIERS) {
        for (int start = 0, round = 0; start < k; start += DEEP, round++) {
            const int stage = round % STAGES, deep = min(DEEP, k - start);
            wait(&empty[stage], round / STAGES % 2 ^ 1);  // the first time a stage is empty, as the phase before the first one is over
            if (threadIdx.x == MULTIPLIERS) {
                const uint32_t bytes = (rows + cols) * deep * sizeof(float);
                ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[stage], bytes);
            }
            bring(tile_a[stage][0], DEEP, a + start, k, rows, deep, &full[stage]);
            bring(tile_b[stage][0], TILE, b + static_cast<size_t>(start) * n, n, deep, cols, &full[stage]);
        }
        return;
    }

    const int down = threadIdx.x / SIDE, along = threadIdx.x % SIDE;  // elements lie SIDE apart
    float sum[EACH][EACH] = {};
    for (int start = 0, round = 0; start < k; start += DEEP, round++) {
        const int stage = round % STAGES, deep = min(DEEP, k - start);
        wait(&full[stage], round / STAGES % 2);
        for (int step = 0; step < deep; step++) {
            float of_a[EACH], of_b[EACH];
            for (int i = 0; i < EACH; i++) {  // beyond the edge: the last row or column once more, for a sum that is not stored
                of_a[i] = tile_a[stage][min(down + i * SIDE, rows - 1)][step];
                of_b[i] = tile_b[stage][step][min(along + i * SIDE, cols - 1)];
            }
            for (int i = 0; i < EACH * EACH; i++) {
                sum[i / EACH][i % EACH] = fmaf(of_a[i / EACH], of_b[i % EACH], sum[i / EACH][i % EACH]);
            }
        }
        __syncwarp();  // the whole warp has read the tiles
        if (threadIdx.x % 32 == 0) {
            ptx::mbarrier_arrive(&empty[stage]);
        }
    }

    for (int i = 0; i < EACH * EACH; i++) {
        const int row = down + i / EACH * SIDE, col = along + i % EACH * SIDE;
        if (row < rows && col < cols) {
            const size_t place = (batch * m + first_row + row) * n + first_col + col;
            c[place] = (sum[i / EACH][i % EACH] + c0[place]) + bias[first_col + col];
        }
    }
}
