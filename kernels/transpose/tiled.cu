// Y = X transposed, through a tile of 32 x 32 in shared memory: both reads and writes are coalesced.
//
// naive writes a column at a time, coalesced_write reads one; here a block reads a tile along
// the rows of X and writes it along the rows of Y, transposing it on the way. The tile has an
// unused 33rd column: without it the 32 elements of a column would lie in the same bank of
// shared memory. A block of fewer than 32 rows of threads goes over its tile in steps.
//
// /// kernel
// op     = "transpose"
// axes   = { rows = "1..2097120", cols = "1..1073741824" }  # grid y: 65535 blocks of 32 rows
// tune   = { height = [1, 2, 4, 8, 16, 32] }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[cols, rows] <- y" }
// launch = [{ grid = "ceil_div(cols, 32), ceil_div(rows, 32)", block = "32, height" }]
// ///

constexpr int TILE = 32;

__global__ void transpose_tiled(float *y, const float *x, int rows, int cols) {
    // y is (cols, rows), x is (rows, cols); the block is (TILE, height)
    __shared__ float tile[TILE][TILE + 1];  // [row of x][column of x]
    const int first_row = blockIdx.y * TILE;  // of x, and the first column of y
    const int first_col = blockIdx.x * TILE;  // of x, and the first row of y
    const int tx = threadIdx.x;  // ranges [0, TILE)

    for (int i = threadIdx.y; i < TILE; i += blockDim.y) {
        const int row = first_row + i;  // may pass rows - 1
        const int col = first_col + tx;  // may pass cols - 1
        if (row < rows && col < cols) {
            tile[i][tx] = x[static_cast<size_t>(row) * cols + col];
        }
    }
    __syncthreads();
    for (int i = threadIdx.y; i < TILE; i += blockDim.y) {
        const int row = first_row + tx;  // may pass rows - 1
        const int col = first_col + i;  // may pass cols - 1
        if (row < rows && col < cols) {
            y[static_cast<size_t>(col) * rows + row] = tile[tx][i];
        }
    }
}
