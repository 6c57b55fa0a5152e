// C = A B in row-major order, one thread an element of C, all reads from global memory.
//
// The starting point of matrix multiplication. A thread walks along a row of A and down a column of B;
// its neighbours in x take the next columns, so that the reads of B and the writes of C are coalesced.
// Every thread that needs an element of A or B reads it again: tiled reads them through shared memory.
//
// /// kernel
// op     = "sgemm"
// axes   = { m = "1..524280", n = "1..1048576", k = "1..1048576" }  # grid y: 65535 blocks of 8 rows
// tune   = { width = [8, 16, 32] }
// arrays = { a = "f32[m, k] -> a", b = "f32[k, n] -> b", c = "f32[m, n] <- c" }
// launch = [{ grid = "ceil_div(n, width), ceil_div(m, width)", block = "width, width" }]
//
// [accuracy]
// adds = "k - 1"  # the first product is added to 0
// ///

__global__ void sgemm_naive(float *c, const float *a, const float *b, int m, int n, int k) {
    // c is (m, n), a is (m, k), b is (k, n)
    const int col = blockIdx.x * blockDim.x + threadIdx.x;  // may pass n - 1
    const int row = blockIdx.y * blockDim.y + threadIdx.y;  // may pass m - 1
    if (row >= m || col >= n) {
        return;
    }

    const float *row_of_a = a + static_cast<size_t>(row) * k;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += row_of_a[i] * b[static_cast<size_t>(i) * n + col];
    }
    c[static_cast<size_t>(row) * n + col] = sum;
}
