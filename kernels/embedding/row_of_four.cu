// The rows of a table at the places that an array names, one block a row of the answer, four elements a thread.
//
// Rows may have any length, so only a row that begins at an aligned float4 is copied in fours; the others go one by one.
//
// /// kernel
// op     = "embedding"
// axes   = { n = "1..2147483647", rows = "1..16777216", cols = "1..65536" }
// tune   = { threads = [32, 128] }
// arrays = { index = "i32[n] -> index", w = "f32[rows, cols] -> w", y = "f32[n, cols] <- y" }
// launch = [{ entry = "embedding", grid = "n", block = "threads", args = ["y", "index", "w", "cols"] }]
// ///

__global__ void embedding(float *y, const int *index, const float *w, int cols) {
    // y is (n, cols), index is (n) in [0, rows), w is (rows, cols); a block a row of y
    w += static_cast<size_t>(index[blockIdx.x]) * cols;
    y += static_cast<size_t>(blockIdx.x) * cols;
    if (cols % 4 == 0) {
        for (int i = threadIdx.x; i < cols / 4; i += blockDim.x) {
            reinterpret_cast<float4 *>(y)[i] = reinterpret_cast<const float4 *>(w)[i];
        }
        return;
    }
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        y[col] = w[col];
    }
}
