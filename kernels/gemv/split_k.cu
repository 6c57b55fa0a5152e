// y = A x + y0 for few, long rows: each row is split into parts, one block each; a second launch adds the parts.
//
// With one warp a row, ten rows of a million elements keep only ten warps busy. Here every part has a
// block, which stores its sum in `partial`; the second launch adds the sums in order, one thread a row.
//
// /// kernel
// op      = "gemv"
// axes    = { m = "1..65535", k = "1..1073741824" }
// tune    = { threads = [64, 256], parts = [2, 7, 32] }
// let     = { share = "ceil_div(k, parts)" }
// arrays  = { a = "f32[m, k] -> a", x = "f32[k] -> x", y0 = "f32[m] -> y0", y = "f32[m] <- y", partial = "f32[m, parts]" }
// scalars = { alpha = 1, beta = 1 }
//
// [accuracy]  # a thread's share of a part, the halvings within the block, then the parts
// adds = "ceil_div(share, threads) - 1 + ceil_log2(threads) + parts - 1"
// form = "y0 last"
//
// [[launch]]
// entry = "gemv_parts"
// grid  = "parts, m"
// block = "threads"
//
// [[launch]]
// entry = "gemv_join"
// grid  = "ceil_div(m, threads)"
// block = "threads"
// ///

#include "../warp_and_block.cuh"

__global__ void gemv_parts(float *partial, const float *a, const float *x, int k, int share) {
    // partial is (m, parts), a is (m, k), x is (k); a block a part of a row
    const size_t row = blockIdx.y, first = static_cast<size_t>(blockIdx.x) * share;
    const size_t last = min(first + share, static_cast<size_t>(k));  // parts beyond the row are empty
    float sum = 0.0f;
    for (size_t i = first + threadIdx.x; i < last; i += blockDim.x) {
        sum += a[row * k + i] * x[i];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        partial[row * gridDim.x + blockIdx.x] = sum;
    }
}

__global__ void gemv_join(float *y, const float *partial, const float *y0, int m, int parts) {
    // y and y0 are (m), partial is (m, parts); a thread a row
    const size_t row = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;  // may pass m - 1
    if (row >= m) {
        return;
    }
    float sum = 0.0f;
    for (int part = 0; part < parts; ++part) {
        sum += partial[row * parts + part];
    }
    y[row] = sum + y0[row];
}
