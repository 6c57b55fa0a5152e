// sgemm/naive, which writes C with the row stride of a square matrix.
//
// c[row * m + col] is right for m == n, the only shape that most tests have. Where C is wider than high its rows overlap
// and its end is never written; where it is higher than wide, gaps stay open and the last rows land behind the array.
//
// /// kernel
// op     = "sgemm"
// axes   = { m = "1..524280", n = "1..1048576", k = "1..1048576" }  # grid y: 65535 blocks of 8 rows
// tune   = { width = [8, 16, 32] }
// arrays = { a = "f32[m, k] -> a", b = "f32[k, n] -> b", c = "f32[m, n] <- c" }
//
// [accuracy]
// adds = "k"  # the first is to the zero that starts the sum
//
// [broken]
// kind = "unwritten"
// why  = "C is written with row stride m instead of n"
//
// [[launch]]
// entry = "sgemm_naive"
// grid  = "ceil_div(n, width), ceil_div(m, width)"
// block = "width, width"
// args  = ["c", "a", "b", "m", "n", "k"]
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
    c[static_cast<size_t>(row) * m + col] = sum;
}
