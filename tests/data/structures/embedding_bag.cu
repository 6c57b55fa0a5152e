// The sum of the rows of a table that each bag lists; -1 lists none. A block a bag, a thread a column.
//
// /// kernel
// op     = "embedding_bag"
// axes   = { n = "0..65536", bags = "1..65535", rows = "1..65536", cols = "1..4096" }
// arrays = { index = "i64[n] -> index", offsets = "i64[bags + 1] -> offsets", w = "f32[rows, cols] -> w", y = "f32[bags, cols] <- y" }
// launch = [{ entry = "embedding_bag", grid = "bags", block = 64 }]
// ///

__global__ void embedding_bag(float *y, const long long *index, const long long *offsets, const float *w, int cols) {
    // y is (bags, cols), index is (n), offsets is (bags + 1), w is (rows, cols)
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        float sum = 0.0f;
        for (long long i = offsets[blockIdx.x]; i < offsets[blockIdx.x + 1]; i++) {
            if (index[i] >= 0) {
                sum += w[index[i] * cols + col];
            }
        }
        y[static_cast<size_t>(blockIdx.x) * cols + col] = sum;
    }
}
