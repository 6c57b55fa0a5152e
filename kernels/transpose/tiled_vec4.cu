// Y = X transposed, through a tile of 64 x 64 in shared memory, with reads and writes of four elements.
//
// tiled moves single elements. Here a thread reads four neighbours of a row of X and writes four neighbours of a row
// of Y, wherever rows begin at 16 bytes: if a side of the matrix is not a multiple of four, it is read, or written,
// by single elements. Tiles go down the columns of X first, so that blocks that run together write adjacent rows of
// Y. The tile has an unused 65th column: without it a column would lie in the same bank of shared memory.
//
// /// kernel
// op     = "transpose"
// axes   = { rows = "1..2097152", cols = "1..2097152" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[cols, rows] <- y" }
// align  = 4
// launch = [{ grid = "ceil_div(rows, 64) * ceil_div(cols, 64)", block = "512" }]
// ///

#include "../kept.cuh"

constexpr int TILE = 64;
constexpr int THREADS = 512;
constexpr int FOURS = TILE * TILE / 4 / THREADS;  // vectors of a thread

__device__ __forceinline__ bool rows_begin_at_16_bytes(const float *start, int length) {
    return reinterpret_cast<size_t>(start) % 16 == 0 && length % 4 == 0;
}

__global__ void __launch_bounds__(THREADS)
transpose_tiled_vec4(float *__restrict__ y, const float *__restrict__ x, int rows, int cols) {
    // y is (cols, rows), x is (rows, cols)
    __shared__ float tile[TILE][TILE + 1];  // [row of x][column of x]
    const int down = (rows + TILE - 1) / TILE;  // tiles
    const int first_row = static_cast<int>(blockIdx.x % down) * TILE;  // of x, and the first column of y
    const int first_col = static_cast<int>(blockIdx.x / down) * TILE;  // of x, and the first row of y
    const int tid = threadIdx.x;  // ranges [0, THREADS)

    if (rows_begin_at_16_bytes(x, cols)) {
        float4 fours[FOURS];  // all on their way at once; beyond the edge the last ones again, which nobody reads
#pragma unroll
        for (int k = 0; k < FOURS; ++k) {
            const int i = tid + k * THREADS, r = i / (TILE / 4), c = i % (TILE / 4) * 4;
            const size_t row = min(first_row + r, rows - 1);
            const float *from = x + row * cols + min(first_col + c, cols - 4);
            fours[k] = *kept(reinterpret_cast<const float4 *>(from));
        }
#pragma unroll
        for (int k = 0; k < FOURS; ++k) {
            const int i = tid + k * THREADS, r = i / (TILE / 4), c = i % (TILE / 4) * 4;
            tile[r][c] = fours[k].x;
            tile[r][c + 1] = fours[k].y;
            tile[r][c + 2] = fours[k].z;
            tile[r][c + 3] = fours[k].w;
        }
    } else {
        for (int i = tid; i < TILE * TILE; i += THREADS) {
            const int r = i / TILE, c = i % TILE;
            if (first_row + r < rows && first_col + c < cols) {
                tile[r][c] = x[static_cast<size_t>(first_row + r) * cols + first_col + c];
            }
        }
    }
    __syncthreads();
    if (rows_begin_at_16_bytes(y, rows)) {
#pragma unroll
        for (int i = tid; i < TILE * TILE / 4; i += THREADS) {
            const int c = i / (TILE / 4), r = i % (TILE / 4) * 4;
            if (first_row + r < rows && first_col + c < cols) {
                const float4 four = make_float4(tile[r][c], tile[r + 1][c], tile[r + 2][c], tile[r + 3][c]);
                const size_t place = static_cast<size_t>(first_col + c) * rows + first_row + r;
                *reinterpret_cast<float4 *>(y + place) = four;
            }
        }
    } else {
        for (int i = tid; i < TILE * TILE; i += THREADS) {
            const int c = i / TILE, r = i % TILE;
            if (first_row + r < rows && first_col + c < cols) {
                y[static_cast<size_t>(first_col + c) * rows + first_row + r] = tile[r][c];
            }
        }
    }
}
