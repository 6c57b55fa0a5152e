// The sum of the rows of each segment: a block a segment, a thread a column.
//
// /// kernel
// op     = "segment_sum"
// axes   = { total = "0..65536", cols = "1..4096", batch = "1..65535" }
// tune   = { threads = [32, 128] }
// arrays = { x = "f32[total, cols] -> x", offsets = "i32[batch + 1] -> offsets", y = "f32[batch, cols] <- y" }
// launch = [{ entry = "segment_sum", grid = "batch", block = "threads" }]
// ///

__global__ void segment_sum(float *y, const float *x, const int *offsets, int cols) {
    // y is (batch, cols), x is (total, cols), offsets is (batch + 1)
    const int first = offsets[blockIdx.x], last = offsets[blockIdx.x + 1];
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        float sum = 0.0f;
        for (int row = first; row < last; row++) {
            sum += x[static_cast<size_t>(row) * cols + col];
        }
        y[static_cast<size_t>(blockIdx.x) * cols + col] = sum;
    }
}
