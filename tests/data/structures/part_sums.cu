// The sums of groups of rows whose sizes are given: a block a group, a thread a column.
//
// /// kernel
// op     = "./part_sums.py"
// axes   = { total = "0..65536", cols = "1..1024", groups = "1..256" }
// arrays = { x = "f32[total, cols] -> x", sizes = "i32[groups] -> sizes", y = "f32[groups, cols] <- y" }
// launch = [{ entry = "part_sums", grid = "groups", block = 32 }]
// ///

__global__ void part_sums(float *y, const float *x, const int *sizes, int cols) {
    // y is (groups, cols), x is (total, cols), sizes is (groups)
    int first = 0;
    for (int group = 0; group < blockIdx.x; group++) {
        first += sizes[group];
    }
    for (int col = threadIdx.x; col < cols; col += blockDim.x) {
        float sum = 0.0f;
        for (int row = first; row < first + sizes[blockIdx.x]; row++) {
            sum += x[static_cast<size_t>(row) * cols + col];
        }
        y[static_cast<size_t>(blockIdx.x) * cols + col] = sum;
    }
}
