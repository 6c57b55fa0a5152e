// Online softmax by pairs of maximum and sum; a pair of -inf counts for nothing, also beside another of its kind.
//
// /// kernel
// op     = "softmax"
// axes   = { rows = "1..100000", cols = "1..100000" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
// launch = [{ entry = "softmax_md", grid = "rows", block = 32 }]
// ///
struct MD { float m, d; };
__device__ __forceinline__ MD merge(MD a, MD b) {
  MD r; bool big = a.m > b.m;
  MD hi = big ? a : b, lo = big ? b : a;
  r.m = hi.m;
  r.d = lo.m == -INFINITY ? (hi.m == -INFINITY ? 0.f : hi.d) : hi.d + lo.d * expf(lo.m - hi.m);
  return r;
}
__global__ void softmax_md(float *__restrict__ y, const float *__restrict__ x, int rows, int cols) {
  const int row = blockIdx.x;
  x += (size_t)row * cols; y += (size_t)row * cols;
  MD p{-INFINITY, 0.f};
  for (int i = threadIdx.x; i < cols; i += 32) p = merge(p, MD{x[i], 1.0f});
  for (int o = 16; o > 0; o >>= 1) {
    MD q{__shfl_xor_sync(~0u, p.m, o), __shfl_xor_sync(~0u, p.d, o)};
    p = merge(p, q);
  }
  for (int i = threadIdx.x; i < cols; i += 32) y[i] = expf(x[i] - p.m) / p.d;
}
