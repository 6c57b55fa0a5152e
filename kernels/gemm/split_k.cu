// C = A B / 2 + 2 C0 + bias, with k split among blocks: a small product with a long k then keeps the whole GPU busy.
//
// The first launch stores each part's sum, one thread an element; the second adds the parts in
// order, so that the answer is always the same, and only then scales and adds C0 and bias, once.
//
// /// kernel
// op      = "gemm"
// axes    = { batch = "1..1024", m = "1..4096", n = "1..4096", k = "1..1048576" }
// tune    = { splits = [1, 3, 16], threads = [32, 128] }
// arrays  = { a = "f32[batch, m, k] -> a", b = "f32[batch, k, n] -> b", c0 = "f32[batch, m, n] -> c0", bias = "f32[n] -> bias", c = "f32[batch, m, n] <- c", parts = "f32[splits, batch, m, n]" }
// scalars = { alpha = 0.5, beta = 2 }
//
// [accuracy]
// form = "bias last"
// adds = "ceil_div(k, splits) - 1 + min(k, splits) - 1"  # parts without a product are 0, which is added exactly
//
// [[launch]]
// entry = "gemm_of_a_part"
// grid  = "ceil_div(batch * m * n, threads), splits"
// block = "threads"
//
// [[launch]]
// entry = "gemm_of_all_parts"
// grid  = "ceil_div(batch * m * n, threads)"
// block = "threads"
// ///

__global__ void gemm_of_a_part(float *parts, const float *a, const float *b, int batch, int m, int n, int k) {
    // parts is (splits, batch, m, n), a is (batch, m, k), b is (batch, k, n); a thread an element of a part
    const size_t count = static_cast<size_t>(batch) * m * n;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // may pass count - 1
    if (i >= count) {
        return;
    }
    const size_t col = i % n, row = i / n;  // row ranges [0, batch m)
    const int width = (k + gridDim.y - 1) / gridDim.y;
    const int first = blockIdx.y * width, last = min(first + width, k);  // an empty part where first >= k
    a += row * k;
    b += row / m * k * n + col;
    float sum = 0.0f;
    for (int step = first; step < last; ++step) {
        sum += a[step] * b[static_cast<size_t>(step) * n];
    }
    parts[blockIdx.y * count + i] = sum;
}

__global__ void gemm_of_all_parts(float *c, const float *parts, const float *c0, const float *bias, int batch, int m,
                                  int n, int splits) {
    // c and c0 are (batch, m, n), parts is (splits, batch, m, n), bias is (n); a thread an element
    const size_t count = static_cast<size_t>(batch) * m * n;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // may pass count - 1
    if (i >= count) {
        return;
    }
    float sum = 0.0f;
    for (int split = 0; split < splits; ++split) {
        sum += parts[split * count + i];
    }
    c[i] = (0.5f * sum + 2.0f * c0[i]) + bias[i % n];
}
