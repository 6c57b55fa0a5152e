// A matrix product for each group of rows: a block 8 rows of a group and 32 columns, a thread an element.
//
// /// kernel
// op     = "grouped_gemm"
// axes   = { total = "1..65536", k = "0..1024", n = "1..1024", groups = "1..1024" }
// arrays = { a = "f32[total, k] -> a", b = "f32[groups, k, n] -> b", offsets = "i32[groups + 1] -> offsets", c = "f32[total, n] <- c" }
// launch = [{ entry = "grouped_gemm", grid = "ceil_div(n, 32), groups", block = "32, 8" }]
// ///

__global__ void grouped_gemm(float *c, const float *a, const float *b, const int *offsets, int k, int n) {
    // c is (total, n), a is (total, k), b is (groups, k, n), offsets is (groups + 1)
    const int group = blockIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    const int first = offsets[group], last = offsets[group + 1];
    const float *mine = b + static_cast<size_t>(group) * k * n;
    for (int row = first + threadIdx.y; row < last; row += 8) {
        if (col < n) {
            float sum = 0.0f;
            for (int i = 0; i < k; i++) {
                sum += a[static_cast<size_t>(row) * k + i] * mine[static_cast<size_t>(i) * n + col];
            }
            c[static_cast<size_t>(row) * n + col] = sum;
        }
    }
}
